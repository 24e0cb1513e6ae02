"""What a kernel must keep before any run uses it: it boots, its time is virtual, its chance is a seed's."""

from __future__ import annotations

import re
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sojourn.errors import SojournError
from sojourn.kernel import boot

#: How long the guest sleeps, seconds of its own time; this machine's clock may show a hundredth of it.
SLEEP_S = 3000

_SCRIPT = f"""\
mount -t proc proc /proc
echo "release $(uname -r)"
echo "uuid $(cat /proc/sys/kernel/random/uuid)"
read before rest </proc/uptime
sleep {SLEEP_S}
read after rest </proc/uptime
echo "slept $before $after"
"""

#: Radios that a kernel with the Wi-Fi driver is asked for when it is checked.
RADIOS = 3

_WIFI_SCRIPT = """\
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
cd /sys/class/ieee80211
for phy in *; do read address <$phy/macaddress; echo "radio $phy $address"; done
cd /sys/kernel/debug/sojourn_radio
echo '0 * vht 9 2 80 sgi 429496729' >links
while read link; do echo "link $link"; done <links
while read line; do echo "stats $line"; done <stats
"""


class CheckError(SojournError):
    """The kernel was built, but does not keep what it must."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What was measured.

    Attributes
    ----------
    release
        What `uname -r` said.
    uuids
        The first name that the kernel drew at random, by seed.
    boot_s
        Wall time of one boot and its checks.
    radios
        Addresses of the radios, in order; none for a kernel without the Wi-Fi driver.
    """

    release: str
    uuids: dict[str, str]
    boot_s: float
    radios: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return it for kernel.json."""
        return asdict(self)


def verify(linux: Path, work: Path, *, wifi: bool = False) -> Verified:
    """Boot a kernel three times, twice with one seed and once with another, and judge what it says.

    A deeper check (which disciplines can be added, which congestion controls there are) belongs to the program that
    runs in the guest; it would be called here with the same folder.

    Parameters
    ----------
    linux
        The kernel.
    work
        An empty folder for what the boots need.
    wifi
        It must have the Wi-Fi driver, too.

    Raises
    ------
    CheckError
        If it does not boot, does not sleep in virtual time, draws random numbers that are not a function of the
        seed, or has not the radios that it is asked for.
    """
    began = time.monotonic()
    first = _boot(linux, work / "first", 1)
    boot_s = time.monotonic() - began
    again = _boot(linux, work / "again", 1)
    other = _boot(linux, work / "other", 2)
    if first != again:
        message = f"{linux} is not deterministic: two boots with one seed gave {first[1]} and {again[1]}"
        raise CheckError(message)
    if first[1] == other[1]:
        message = f"{linux} does not heed its seed: boots with seeds 1 and 2 both gave {first[1]}"
        raise CheckError(message)
    radios = _radios(linux, work) if wifi else []
    return Verified(release=first[0], uuids={"1": first[1], "2": other[1]}, boot_s=round(boot_s, 2), radios=radios)


def _radios(linux: Path, work: Path) -> list[str]:
    """Return the addresses of the radios of a kernel with the Wi-Fi driver, after two boots that said the same."""
    line = (*boot.arguments(1), f"sojourn_radio.radios={RADIOS}", "sojourn_radio.seed=1")
    try:
        first, again = (boot.boot(linux, _WIFI_SCRIPT, work / name, line) for name in ("radios", "radios-again"))
    except SojournError as error:
        message = f"the kernel does not boot with radios: {error}"
        raise CheckError(message) from error
    if first != again:
        message = f"{linux} is not deterministic: two boots with {RADIOS} radios said {first} and {again}"
        raise CheckError(message)
    radios = [line.split()[2] for line in first if re.fullmatch(r"radio phy\d+ [0-9a-f:]{17}", line)]
    if len(set(radios)) != RADIOS:
        message = f"{linux} has no Wi-Fi driver: it was asked for {RADIOS} radios, and said {'; '.join(first)!r}"
        raise CheckError(message)
    links = [line for line in first if re.fullmatch(r"link 0 \d+ vht 9 2 80 sgi 429496729", line)]
    if len(links) != RADIOS - 1:
        message = f"{linux} has another Wi-Fi driver: a link was set, and it said {'; '.join(first)!r}"
        raise CheckError(message)
    return radios


def _boot(linux: Path, work: Path, seed: int) -> tuple[str, str]:
    """Return the release and the name that were printed."""
    try:
        lines = boot.boot(linux, _SCRIPT, work, boot.arguments(seed))
    except SojournError as error:
        message = f"the kernel does not boot: {error}"
        raise CheckError(message) from error
    printed = dict(line.split(" ", 1) for line in lines if " " in line)
    release, uuid, slept = (printed.get(key, "") for key in ("release", "uuid", "slept"))
    if not release or not re.fullmatch(r"[0-9a-f-]{36}", uuid):
        message = f"{linux} boots, but its first program cannot run: {'; '.join(lines[-3:]) or 'it said nothing'}"
        raise CheckError(message)
    times = [float(one) for one in slept.split() if re.fullmatch(r"\d+\.\d+", one)]
    if len(times) != 2 or not SLEEP_S <= times[1] - times[0] <= SLEEP_S + 1:
        message = f"{linux} does not keep virtual time: it was to sleep {SLEEP_S} s, and its uptimes were {slept!r}"
        raise CheckError(message)
    return release, uuid
