"""The Wi-Fi driver under the real mac80211: an access point and a station in a guest, against arithmetic by hand."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from sojourn.errors import SojournError
from sojourn.kernel import boot, find
from tests import optional

PROGRAMS = ("hostapd", "wpa_supplicant", "iw", "ip", "ping")

#: An access point and `$N` stations that are associated; `$R` is the driver's folder, `$S` mac80211's of station 1.
CELL = """\
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t debugfs debugfs /sys/kernel/debug
for x in /run /tmp; do mount -t tmpfs tmpfs $x; done
R=/sys/kernel/debug/sojourn_radio
S='/sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations/02:00:00:00:01:00'
cat >/tmp/ap <<X
interface=wlan0
ssid=t
hw_mode=a
channel=36
ieee80211n=1
wmm_enabled=1
disassoc_low_ack=0
X
cat >/tmp/sta <<X
network={
 ssid="t"
 key_mgmt=NONE
 scan_freq=5180
}
X
for i in $(seq 0 $N); do
  ip netns add s$i; iw phy phy$i set netns name s$i; ip -n s$i addr add 10.0.0.$((i + 1))/24 dev wlan$i
done
ip netns exec s0 hostapd -B /tmp/ap >/dev/null
for i in $(seq $N); do ip netns exec s$i wpa_supplicant -B -D nl80211 -i wlan$i -c /tmp/sta >/dev/null; done
sleep 2
for i in $(seq $N); do ip netns exec s0 ping -q -c 2 10.0.0.$((i + 1)) | grep received; done
"""

#: What is counted from now on.
COUNT = "echo reset >$R/stats; echo reset >$S/airtime\n"

TELL = """\
while read line; do echo "stats $line"; done <$R/stats
while read line; do echo "airtime $line"; done <$S/airtime
"""


@pytest.fixture(scope="module")
def linux() -> Path:
    """A kernel with radios."""
    for name in PROGRAMS:
        if shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
            optional.lacking(name).skip()
    try:
        found = find.find(wifi=True)
    except SojournError as error:
        optional.RADIO_KERNEL.skip(error)
    assert found.path is not None
    return found.path


def output_of(linux: Path, work: Path, script: str, *arguments: str, seed: int = 1, stations: int = 1) -> list[str]:
    """Return what a cell's script printed."""
    radios = f"sojourn_radio.radios={stations + 1}"
    line = (*boot.arguments(seed), radios, f"sojourn_radio.seed={seed}", *arguments)
    return boot.boot(linux, f"N={stations}\n{CELL}{script}", work, line, patience_s=300.0)


def counted(lines: list[str], pair: str) -> dict[str, int]:
    """Return the columns of one sender, receiver and access category."""
    rows = [line.split()[1:] for line in lines if line.startswith("stats ")]
    (row,) = [row for row in rows if row[:3] == pair.split()]
    return dict(zip(rows[0][3:], map(int, row[3:]), strict=True))


def test_single_frames_take_the_time_of_the_standard_and_mac80211_is_charged_it(linux: Path, tmp_path: Path) -> None:
    ping = "ip netns exec s0 ping -q -i 0.01 -c 50 -s 1472 10.0.0.2 | grep received\n"
    lines = output_of(linux, tmp_path / "work", COUNT + ping + TELL)
    assert any(line.startswith("50 packets transmitted, 50 received") for line in lines)
    # An MPDU of 1538 bytes at HT MCS 7, short guard interval: 36 us, then (16 + 12304 + 6) / 260 = 47.4, so 48 symbols
    # of 3.6 us, rounded up to 176 us. SIFS 16 us, and an Ack at 24 Mbit/s: 20 + 2 x 4 us.
    exchange = 36 + 176 + 16 + 28
    for pair in ("0 1 2", "1 0 2"):
        row = counted(lines, pair)
        assert (row["bursts"], row["mpdus"], row["delivered"], row["bytes"]) == (50, 50, 50, 50 * 1538)
        assert row["airtime_us"] == 50 * exchange
        # From the pull to the end: AIFS of 43 us and a backoff at most, since each came to an idle medium.
        assert 50 * exchange <= row["wait_us_sum"] <= 50 * (exchange + 43 + 16 * 9)
    assert f"airtime RX: {50 * exchange} us" in lines
    assert f"airtime TX: {50 * exchange} us" in lines


def test_a_frame_is_sent_as_often_as_may_be_and_each_transmission_is_lost_by_itself(
    linux: Path, tmp_path: Path
) -> None:
    lose_half = "echo '0 1 ht 0 1 20 lgi 2147483648' >$R/links\n"
    ping = "ip netns exec s0 ping -q -i 0.01 -c 400 10.0.0.2 >/dev/null\n"
    lines = output_of(linux, tmp_path / "work", lose_half + COUNT + ping + TELL, "sojourn_radio.retries=3")
    row = counted(lines, "0 1 2")
    assert row["delivered"] + row["dropped"] == 400
    assert row["mpdus"] == row["delivered"] + row["retried"] + row["dropped"]
    # A frame is given up with chance 1/8; five standard deviations.
    assert abs(row["dropped"] - 50) < 5 * math.sqrt(400 / 8 * 7 / 8)
    # It is sent 1 + 1/2 + 1/4 times on average, a variance of 11/16.
    assert abs(row["mpdus"] - 700) < 5 * math.sqrt(400 * 11 / 16)
    assert counted(lines, "1 0 2")["retried"] == 0


def test_a_run_repeats_and_another_seed_is_another_run(linux: Path, tmp_path: Path) -> None:
    lossy = "echo '* * ht 3 1 20 sgi 1000000000' >$R/links\n"
    ping = "ip netns exec s0 ping -q -A -c 100 10.0.0.2 | tail -1\n"
    first, again, other = (
        output_of(linux, tmp_path / name, lossy + COUNT + ping + TELL, seed=seed)
        for name, seed in (("first", 1), ("again", 1), ("other", 2))
    )
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    "line",
    [
        "0 2 ht 7 1 20 sgi 0",
        "0 1 ht 7 2 20 sgi 0",
        "0 1 ht 32 5 20 sgi 0",
        "0 1 vht 9 1 20 sgi 0",
        "0 1 legacy 13 1 20 lgi 0",
        "0 1 ht 7 1 160 sgi 0",
        "0 1 ht 7 1 20 sgi 4294967296",
        "0 1 ht 7 1 20 sgi",
        "0 1 ht 7 1 20 sgi 0 0",
    ],
)
def test_a_link_that_the_standard_does_not_have_is_refused_and_nothing_changes(
    linux: Path, tmp_path: Path, line: str
) -> None:
    script = (
        f"cat $R/links >/tmp/before; echo '{line}' >$R/links && echo taken; cmp /tmp/before $R/links && echo same\n"
    )
    mounts = "mount -t sysfs sysfs /sys; mount -t debugfs debugfs /sys/kernel/debug; mount -t tmpfs tmpfs /tmp\n"
    where = "R=/sys/kernel/debug/sojourn_radio\n"
    words = (*boot.arguments(1), "sojourn_radio.radios=2")
    lines = boot.boot(linux, mounts + where + script, tmp_path / "work", words, patience_s=300.0)
    assert "taken" not in lines
    assert "same" in lines
