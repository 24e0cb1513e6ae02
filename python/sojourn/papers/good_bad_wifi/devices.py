"""The Wi-Fi link of seed 000 section 7: a laptop and an access point on the two sides of a wall.

Stated: 802.11n on an empty channel at 5 GHz; an Ubiquiti Nanostation M5 with OpenWrt 14.07 and ath9k; a laptop with an
Intel WiFi Link 5100, iwlwifi and Linux 3.14.4; the discipline under test at both ends of the link and at the
bottleneck.

From card, driver and kernel follows what the paper does not say: the laptop sends no aggregates. The 5100 is one of the
cards of iwldvm, for which iwlwifi has transmit A-MPDUs off unless asked for (module parameter `11n_disable=8`) since
commit 205e2210 ("iwlwifi: disable TX AMPDU by default for iwldvm", v3.13-10103, also in the stable kernels of spring
2014); it receives them, and ath9k sends them. That is the pair `UNEVEN`. `EVEN` is the same with aggregates both ways.

Not stated, and assumed: 57.8 Mbit/s both ways ("nominally has the same bandwidth in both directions"), 20 MHz and a
short guard interval, of two streams from the access point (MCS 11) and of one from the laptop, whose card sends no more
(MCS 5); a tenth of the frames is lost on the air; hostapd's contention parameters; drivers that hold 123 and 256
frames. The other pairs vary these, one at a time and together.

Settled after results: the fades of `SHORT_FADES` and `LONG_FADES`. Footnote 4 speaks of "a small number of delay
spikes", laid to retransmissions; that the link fades, and how, is not stated. Fades of 60 ms, one in 25 s, in which
every frame is lost, were set beforehand: their share of time is that of the voice packets that Table 3 misses beside
one stream. Those of 600 ms were set by one claim: they lose the 0.34 % of Table 3's pfifo_fast beside one stream (0.35
here, standard error 0.07, in 100 runs of 60 s; 500 ms lose 0.23, 700 ms 0.52). No other claim was looked at for it.

Deviation: iwlwifi stops the stack's queue at 224 of its 256 places and wakes it at 191 (`high_mark`, `low_mark`); here
the driver takes a frame as soon as it has a place. 224 instead of 256 take a tenth off fq_codel's latency.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
from msgspec import Struct, structs

from sojourn import schema
from sojourn._native import expand_qdisc
from sojourn.scenario import Scenario
from sojourn.scenario_keys import Edca, Station, Wifi
from sojourn.study.claims import stored

#: Frames in a driver with hardly any room: one aggregate.
SHALLOW_FRAMES = 32


class Pair(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An access point and a laptop."""

    #: In the names of cells (`sojourn.papers.good_bad_wifi.section7.in_pair`) and in tables.
    name: str
    #: How it differs from what is assumed, in words.
    says: str
    #: What access point and laptop send at.
    down: str = "ht mcs 11 20mhz sgi"
    up: str = "ht mcs 5 20mhz sgi"
    #: Probability that a frame is lost on the air.
    error_down: float = 0.1
    error_up: float = 0.1
    #: Mean length of a fade of the link, in which every frame is lost, and mean time between fades; `None`: none.
    fade: str | None = None
    fade_gap: str | None = None
    #: That their drivers hold. Source: ath9k, `ATH_MAX_QDEPTH`; iwlwifi.
    point_frames: int = 123
    laptop_frames: int = 256
    #: Frames in an aggregate that each sends at most; `None`: the default of the bed, 32.
    point_aggregate: int | None = None
    laptop_aggregate: int | None = None
    #: How they contend; `None`: as hostapd has it.
    edca: Edca | None = None

    def shallow(self) -> Pair:
        """Return the pair with drivers that hold one aggregate only."""
        return structs.replace(self, point_frames=SHALLOW_FRAMES, laptop_frames=SHALLOW_FRAMES)


def _pairs() -> dict[str, Pair]:
    """Return the pairs of `devices.toml` by name."""
    found: dict[str, Pair] = {}
    for one in stored("good_bad_wifi", "devices", dict)["pairs"]:
        like = msgspec.to_builtins(found[one.pop("like")]) if "like" in one else {}
        found[one["name"]] = schema.convert(like | one, Pair)
    return found


PAIRS = _pairs()
EVEN, UNEVEN, STRONG_POINT, STRONG_LAPTOP = (
    PAIRS[name] for name in ("even", "uneven", "strong point", "strong laptop")
)
#: The most that both devices can do.
FASTEST = PAIRS["uneven, 300"]
#: The paper's pair, behind a wall that now and then lets nothing through.
SHORT_FADES, LONG_FADES = PAIRS["uneven, short fades"], PAIRS["uneven, long fades"]
#: `UNEVEN` with other values of what the paper leaves out.
UNSTATED = tuple(pair for name, pair in PAIRS.items() if name.startswith("uneven, "))
#: What could starve a direction, `UNEVEN` among it.
MECHANISMS = tuple(pair for pair in PAIRS.values() if pair not in UNSTATED)

#: The pairs that every claim is judged with; the first is the paper's.
JUDGED = (UNEVEN, FASTEST, SHORT_FADES, LONG_FADES, EVEN)

#: Disciplines by which mechanisms are compared.
COMPARED = ("pfifo_fast", "pie", "fq_codel")


def over_wifi(scenario: Scenario, pair: Pair = UNEVEN) -> Scenario:
    """Return a scenario of the wired bed with the Wi-Fi link before the bottleneck.

    - `scenario`: of the wired bed; the ends of the link have the disciplines of its bottleneck, with the same
      parameters.
    """
    assert scenario.qdisc_up is not None
    assert scenario.qdisc_down is not None
    assert scenario.up is not None
    assert scenario.down is not None
    laptop = Station(
        name="laptop",
        rate=pair.down,
        rate_up=pair.up,
        error=pair.error_down,
        error_up=pair.error_up,
        fade=pair.fade,
        fade_gap=pair.fade_gap,
        qdisc=expand_qdisc(scenario.qdisc_up, _bps(scenario.up)),
        driver_frames=pair.laptop_frames,
        aggregate_frames=pair.laptop_aggregate,
    )
    cell = Wifi(
        scheme="fifo",
        qdisc=expand_qdisc(scenario.qdisc_down, _bps(scenario.down)),
        driver_frames=pair.point_frames,
        aggregate_frames=pair.point_aggregate,
        edca=pair.edca,
        stations=(laptop,),
    )
    return replace(scenario, wifi=cell)


def _bps(rate: str) -> int:
    return int(rate.removesuffix("mbit")) * 1_000_000
