"""A map of CoDel's parameters: the best target and interval on links of many rates and RTTs.

On each link a grid of targets and intervals is run, with the same seeds for all. Of a grid, the best setting is the
one with the least queueing delay among those that carry at least 95 % of what any of the grid carries, and complete
files in at most 1.1 times the shortest time. It is then run with fresh seeds, beside the default setting, the rural
one and the rule of thumb, and only those numbers are in the map.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean

from sojourn import tables
from sojourn.errors import refused
from sojourn.stats import Interval, mean_interval
from sojourn.study.evidence import differences
from sojourn.tune.bench import Bench, Scored, Seeds, Tick
from sojourn.tune.link import Link, read_link
from sojourn.tune.rule import rule
from sojourn.tune.space import Setting, Space, space

FORMAT = "sojourn-tune-map/1"
QDISCS = ("codel", "fq_codel")

RATES = ("250kbit", "500kbit", "1mbit", "2mbit", "5mbit", "10mbit", "25mbit", "100mbit")
RTTS_MS = (10.0, 30.0, 100.0, 300.0, 600.0)
#: Targets are powers of two from about a third of a packet time on, up to the RTT or four packet times.
TARGETS_MS = tuple(2.0**power for power in range(10))
#: Intervals are 25 ms times a power of two, from an eighth of the RTT to six times that.
INTERVALS_MS = tuple(25.0 * 2**power for power in range(8))

ENOUGH_UTILISATION = 0.95
ENOUGH_FCT = 1.1
#: Below this utilisation, of the best of the grid, the link is not filled by the load, and nothing is said about it.
FILLED = 0.6
#: On fast links runs are shorter than `sojourn tune` makes them: no more packets than this, but 120 RTTs and 30 s.
MOST_PACKETS = 100_000
FEWEST_RTTS = 120
FEWEST_S = 30.0

DEFAULT_CC = "cubic"
SEARCH_SEEDS = 2
FRESH_SEEDS = 6
#: What settings are compared by, with fresh seeds.
METRICS = ("utilisation", "delay", "fct")
_TIMES = ("target", "interval")


@dataclass(frozen=True, kw_only=True)
class MapCell:
    """A cell of the map: a discipline on a link; times are in ms."""

    qdisc: str
    rate: str
    rtt_ms: float
    #: Whether the load fills the link. If not, nothing is said of the cell.
    filled: bool
    #: The best setting: target and interval, by name.
    best: Mapping[str, float]
    #: The least and the largest of those that are nearly as good, by name.
    near: Mapping[str, tuple[float, float]]
    #: Target and interval by the rule of thumb.
    rule: Mapping[str, float]
    #: Means of `METRICS` with fresh seeds, by setting: best, default, rural and rule.
    means: Mapping[str, Mapping[str, float]]
    #: The rule's value less the best setting's, by metric.
    gaps: Mapping[str, Interval]

    def row(self) -> dict[str, tables.Value]:
        """Return what `map.csv` and `map.json` hold of the cell."""
        row: dict[str, tables.Value] = {
            "qdisc": self.qdisc,
            "rate": self.rate,
            "rtt_ms": self.rtt_ms,
            "filled": self.filled,
        }
        row |= {f"{name}_ms": self.best[name] for name in _TIMES}
        for name, (low, high) in self.near.items():
            row |= {f"{name}_from_ms": low, f"{name}_to_ms": high}
        row |= {f"rule_{name}_ms": self.rule[name] for name in _TIMES}
        for setting, means in self.means.items():
            row |= {f"{setting}_{metric}": mean for metric, mean in means.items()}
        for metric, gap in self.gaps.items():
            row |= {f"rule_less_best_{metric}_{end}": _short(getattr(gap, end)) for end in ("low", "high")}
        return row


def draw_map(
    bench: Bench, *, qdiscs: Sequence[str], rates: Sequence[str], rtts_ms: Sequence[float], seed: int, tick: Tick
) -> list[MapCell]:
    """Return the cells, discipline by discipline, rate by rate.

    What the bench is besides its link is that of all cells. Raises `ParamError` if a scenario is refused, and
    `SojournError` if a run fails.
    """
    seeds = seeds_of(seed)
    cells = []
    for qdisc, rate, rtt in product(qdiscs, rates, rtts_ms):
        here = replace(bench, link=link_of(rate, rtt))
        cells.append(_cell(here, space(qdisc, here.link, "up", (), bench.backend.name), rate, seeds, tick))
    return cells


def seeds_of(seed: int) -> Seeds:
    """Return the seeds of a map."""
    return Seeds.of(seed, search=SEARCH_SEEDS, choice=0, fresh=FRESH_SEEDS)


def runs(qdiscs: Sequence[str], rates: Sequence[str], rtts_ms: Sequence[float]) -> int:
    """Return how many runs a map takes at most."""
    grids = sum(len(grid(link_of(rate, rtt))) + 2 for rate in rates for rtt in rtts_ms)
    return len(qdiscs) * (grids * SEARCH_SEEDS + 4 * len(rates) * len(rtts_ms) * FRESH_SEEDS)


def read_axes(rates: str | None, rtts: str | None) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Read the rates and RTTs of a map: texts with commas between them.

    Raises `ParamError` if one is refused, or is there twice.
    """
    found_rates = RATES if rates is None else tuple(part.strip() for part in rates.split(","))
    spelled = [read_link(up=rate, down=rate, rtt="100ms", direction="up").up for rate in found_rates]
    found_rtts: tuple[float, ...] = RTTS_MS
    if rtts is not None:
        found_rtts = tuple(
            read_link(up="1mbit", down="1mbit", rtt=part.strip(), direction="up").rtts_ms[0] for part in rtts.split(",")
        )
    for name, text, values in (("map-rates", rates, spelled), ("map-rtts", rtts, found_rtts)):
        if len(set(values)) != len(values):
            raise refused(text, name, "each value must be there once")
    return tuple(spelled), found_rtts


def link_of(rate: str, rtt_ms: float) -> Link:
    """Return the link of a cell."""
    link = read_link(up=rate, down=rate, rtt=f"{rtt_ms:g}ms", direction="up")
    most = MOST_PACKETS * link.packet_ms("up") / 1e3
    length = max(min(link.duration_s, most), FEWEST_RTTS * rtt_ms / 1e3, FEWEST_S)
    return Link(up=link.up, down=link.down, rtts_ms=link.rtts_ms, limit=link.limit, duration_s=math.ceil(length))


def grid(link: Link) -> list[tuple[float, float]]:
    """Return the (target, interval) pairs that are tried on a link, in ms."""
    packet, rtt = link.packet_ms("up"), link.rtts_ms[-1]
    targets = [one for one in TARGETS_MS if packet / 3 <= one <= max(rtt, 4 * packet, 8.0)]
    intervals = [one for one in INTERVALS_MS if rtt / 8 <= one <= max(6 * rtt, 100.0)]
    return [(target, interval) for target in targets for interval in intervals]


def _cell(bench: Bench, found: Space, rate: str, seeds: Seeds, tick: Tick) -> MapCell:
    """Search a cell: the grid with the seeds of the search, then the best and the known settings with fresh ones."""
    rtt = bench.link.rtts_ms[0]
    references = found.references()
    common = dict(references["default"].values)
    settings = [("", _setting(found, common, target, interval)) for target, interval in grid(bench.link)]
    tried = bench.run([*settings, *references.items()], seeds.search, tick)
    best, near = choose(tried)
    target, interval = (float(f"{value:.3g}") for value in rule(bench.link.packet_ms("up"), rtt))
    known = {
        "best": best.setting,
        "default": references["default"],
        "rural": references["rural"],
        "rule": _setting(found, common, target, interval),
    }
    checked = dict(zip(known, bench.run([*known.items()], seeds.fresh, tick), strict=True))
    samples = {name: {metric: one.samples[metric][0] for metric in METRICS} for name, one in checked.items()}
    return MapCell(
        qdisc=found.qdisc,
        rate=rate,
        rtt_ms=rtt,
        filled=max(one.worst("utilisation") for one in tried) >= FILLED,
        best=checked["best"].setting.values,
        near=near,
        rule=checked["rule"].setting.values,
        means={
            name: {metric: float(f"{fmean(values):.5g}") for metric, values in of_metric.items()}
            for name, of_metric in samples.items()
        },
        gaps={
            metric: mean_interval(differences(samples["rule"][metric], samples["best"][metric])) for metric in METRICS
        },
    )


def choose(tried: Sequence[Scored]) -> tuple[Scored, dict[str, tuple[float, float]]]:
    """Return the best setting, and the ranges of those that are nearly as good."""
    most = max(one.worst("utilisation") for one in tried)
    quickest = min(one.worst("fct") for one in tried)
    full = [one for one in tried if one.worst("utilisation") >= ENOUGH_UTILISATION * most]
    good = [one for one in full if one.worst("fct") <= ENOUGH_FCT * quickest] or full
    best = min(good, key=lambda one: one.worst("delay"))
    near = [one.setting.values for one in good if one.worst("delay") <= 1.25 * best.worst("delay")]
    ranges = {name: (min(values[name] for values in near), max(values[name] for values in near)) for name in _TIMES}
    return best, ranges


def _setting(found: Space, common: dict[str, float], target: float, interval: float) -> Setting:
    return found.fixed_setting(common | {"target": target, "interval": interval})


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
