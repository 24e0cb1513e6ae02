"""The access point of a cell: hostapd, and what it is told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from sojourn.errors import SojournError

SSID = "sojourn"
CHANNEL = 36
CHANNEL_MHZ = 5180
#: What `vht_oper_centr_freq_seg0_idx` says of the 80 MHz from channel 36 on.
_CENTRE_80 = 42

#: Time units (1.024 ms) between beacons: ten times as long as usual, for they take airtime.
_BEACON_INTERVAL = 1000
_A_DAY_S = 86_400
#: Where Debian has it, which is not in everyone's path.
_PLACES = ("/usr/sbin", "/usr/local/sbin", "/sbin")


def hostapd() -> Path:
    """Return the program.

    Raises
    ------
    SojournError
        If it is not installed.
    """
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), *_PLACES))
    found = shutil.which("hostapd", path=path)
    if found is None:
        message = (
            "hostapd is not installed, but a cell on the linux back end needs it for its access point: "
            "install the Debian package hostapd"
        )
        raise SojournError(message)
    return Path(found).resolve()


def configuration(device: str, *, channel_mhz: int, vht: bool) -> str:
    """Return hostapd's configuration for the cell of a load plan: an open network, as wide as its widest link.

    EDCA parameters are not here: the radios are told them exactly, and hostapd knows them in coarser units.
    """
    wide = channel_mhz > 20
    ht = "[SHORT-GI-20]" + ("[HT40+][SHORT-GI-40]" if wide else "")
    lines = [
        f"interface={device}",
        "driver=nl80211",
        f"ssid={SSID}",
        "hw_mode=a",
        f"channel={CHANNEL}",
        f"beacon_int={_BEACON_INTERVAL}",
        "dtim_period=1",
        "wmm_enabled=1",
        "ieee80211n=1",
        f"ht_capab={ht}",
        f"ap_max_inactivity={_A_DAY_S}",
        "skip_inactivity_poll=1",
        "disassoc_low_ack=0",
        "logger_stdout=-1",
        "logger_stdout_level=2",
    ]
    if vht:
        lines += ["ieee80211ac=1", "vht_capab=[MAX-MPDU-11454][SHORT-GI-80]"]
        if channel_mhz == 80:
            lines += ["vht_oper_chwidth=1", f"vht_oper_centr_freq_seg0_idx={_CENTRE_80}"]
        else:
            lines += ["vht_oper_chwidth=0"]
    return "".join(f"{line}\n" for line in lines)
