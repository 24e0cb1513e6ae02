"""The Wi-Fi link of seed 000 section 7: a laptop and an access point on the two sides of a wall.

Stated: 802.11n on an empty channel at 5 GHz, an Ubiquiti Nanostation M5 with ath9k and a laptop with an Intel WiFi Link
5100 and iwlwifi; the discipline under test at both ends of the link and at the bottleneck. Not stated, and assumed
here: 57.8 Mbit/s both ways, 20 MHz and a short guard interval, of two streams from the access point (MCS 11) and of one
from the laptop, whose card sends no more (MCS 5); a tenth of the frames is lost on the air; hostapd's contention
parameters; drivers that hold 123 and 256 frames.
"""

from __future__ import annotations

from dataclasses import replace

from sojourn._native import expand_qdisc
from sojourn.scenario import Scenario
from sojourn.scenario_wifi import Access, Categories, Edca, Station, Wifi

#: What the access point and the laptop send at.
DOWN, UP = "ht mcs 11 20mhz sgi", "ht mcs 5 20mhz sgi"
ERROR = 0.1
POINT_FRAMES, LAPTOP_FRAMES = 123, 256
#: Drivers with hardly any room: one aggregate.
SHALLOW_FRAMES = 32

#: A device that takes the medium first, and the rate and the losses of a weak one.
_FIRST = Categories(be=Access(aifsn=1, cw_min=3, cw_max=7))
_WEAK_DOWN, _WEAK_UP, _WEAK_ERROR = "ht mcs 1 20mhz sgi", "ht mcs 1 20mhz sgi", 0.33


def over_wifi(scenario: Scenario, *, shallow: bool = False, strong: str | None = None) -> Scenario:
    """Return a scenario of the wired bed with the Wi-Fi link before the bottleneck.

    Parameters
    ----------
    scenario
        Of the wired bed; the ends of the link have the disciplines of its bottleneck, with the same parameters.
    shallow
        Whether the drivers hold one aggregate only.
    strong
        `"point"` or `"laptop"`: which of the two is far stronger than the other; `None` for neither.
    """
    assert scenario.qdisc_up is not None
    assert scenario.qdisc_down is not None
    assert scenario.up is not None
    assert scenario.down is not None
    up = expand_qdisc(scenario.qdisc_up, _bps(scenario.up))
    down = expand_qdisc(scenario.qdisc_down, _bps(scenario.down))
    laptop = Station(
        name="laptop",
        rate=_WEAK_DOWN if strong == "laptop" else DOWN,
        rate_up=_WEAK_UP if strong == "point" else UP,
        error=_WEAK_ERROR if strong == "laptop" else ERROR,
        error_up=_WEAK_ERROR if strong == "point" else ERROR,
        qdisc=up,
        driver_frames=SHALLOW_FRAMES if shallow else LAPTOP_FRAMES,
    )
    edca = {"point": Edca(ap=_FIRST), "laptop": Edca(station=_FIRST)}.get(strong or "")
    cell = Wifi(
        scheme="fifo",
        qdisc=down,
        driver_frames=SHALLOW_FRAMES if shallow else POINT_FRAMES,
        edca=edca,
        stations=(laptop,),
    )
    return replace(scenario, wifi=cell)


def _bps(rate: str) -> int:
    return int(rate.removesuffix("mbit")) * 1_000_000
