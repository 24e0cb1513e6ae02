"""Section 7 of "The Good, the Bad and the WiFi" with other devices: what starves a direction, and what hangs on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

from msgspec import structs

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.devices import COMPARED, EVEN, JUDGED, MECHANISMS, UNEVEN, UNSTATED, Pair
from sojourn.papers.good_bad_wifi.evidence import DISCIPLINES, FIFO, Evidence, induced_latency
from sojourn.papers.good_bad_wifi.judges import JUDGES
from sojourn.papers.good_bad_wifi.observation import known
from sojourn.papers.good_bad_wifi.plan import WIFI_PART
from sojourn.papers.good_bad_wifi.section7 import FACTOR, FAST_LINK, TABLE_3, WIFI_VOIP_RRUL, in_pair, of_pair
from sojourn.report.table import Table
from sojourn.stats import mean_interval
from sojourn.study.cell import Observation
from sojourn.study.claims import Claim
from sojourn.study.exhibits import recorded
from sojourn.tables import number

TO_COMPARE = (
    "Where one side sends aggregates and the other does not, both contend alike, and a turn is up to 32 frames of one "
    "and a single frame of the other. The laptop's frames are mostly acknowledgements of the downloads; its queue "
    "fills with those, and its uploads and the voice stream share what is left. A card without aggregates is enough "
    "for that; on the other side it starves the downloads."
)


def mechanisms(evidence: Evidence) -> Table | None:
    """Return goodput, latency and loss with each pair of `MECHANISMS`, if they were run."""
    if not _run(evidence):
        return None
    places = [(quantity, qdisc) for quantity in (DOWN, UP) for qdisc in COMPARED[:1]]
    places += [(quantity, qdisc) for quantity in (LATENCY, LOST) for qdisc in COMPARED]
    rows, records = [], []
    for pair in MECHANISMS:
        shown = [pair.name, pair.says]
        for quantity, qdisc in places:
            values = _each(evidence, pair, qdisc, quantity)
            records.append(_record(pair, qdisc, quantity, values))
            shown.append(number(fmean(values), quantity.digits) if values else "no data")
        rows.append(tuple(shown))
    return Table(
        name="wifi-pairs",
        headers=("pair", "devices", *(f"{quantity.words}, {qdisc}" for quantity, qdisc in places)),
        rows=tuple(rows),
        records=tuple(records),
        note="Means of the runs: goodput (Mbit/s), induced latency (ms), share of the voice packets that were lost "
        "(per cent). Every pair is the first with what is said of it changed.",
        left=2,
    )


def unstated(evidence: Evidence) -> Table | None:
    """Return starvation, least latency and loss with the uneven pair at other rates and losses, if they were run."""
    if not _run(evidence):
        return None
    rows: list[tuple[str, ...]] = []
    records = []
    for pair in (UNEVEN, *UNSTATED):
        each = {
            quantity: {qdisc: _each(evidence, pair, qdisc, quantity) for qdisc in DISCIPLINES}
            for quantity in (DOWN, UP, LATENCY, LOST)
        }
        records += [_record(pair, qdisc, what, values) for what, by in each.items() for qdisc, values in by.items()]
        means = {what: {q: fmean(v) for q, v in by.items() if v} for what, by in each.items()}
        shares = [means[UP][q] / down for q, down in means[DOWN].items() if down > 0]
        shown = [pair.name, "as assumed" if pair is UNEVEN else pair.says]
        shown.append(f"{100 * min(shares):.0f} to {100 * max(shares):.0f}" if shares else "no data")
        shown.append(number(min(means[LATENCY].values()), 0) if means[LATENCY] else "no data")
        for qdisc, (_, stated) in TABLE_3.items():
            lost = means[LOST].get(qdisc)
            near = lost is not None and stated / FACTOR < lost < stated * FACTOR
            shown.append("no data" if lost is None else number(lost) + ("" if near else " (!)"))
        rows.append(tuple(shown))
    rows.append(("", "the paper", "almost nothing", "100", *(f"{stated:g}" for _, stated in TABLE_3.values())))
    return Table(
        name="wifi-unstated",
        headers=("pair", "devices", "up / down", "least latency", *(f"lost, {qdisc}" for qdisc in TABLE_3)),
        rows=tuple(rows),
        records=tuple(records),
        note="Of the means of the runs with RRUL and voice: goodput up over goodput down, from the least to the most "
        "of the seven disciplines (per cent); the least induced latency of any of them (ms); share of the voice "
        f"packets that were lost (per cent), (!) if not within a factor of {FACTOR:g} of the paper's.",
        left=2,
    )


def in_other_pairs(evidence: Evidence, claims: list[Claim]) -> dict[str, dict[str, str]]:
    """Return what becomes of the claims of section 7 with each other pair of `JUDGED` that there are runs of."""
    bare = [structs.replace(claim, why="") for claim in claims if claim.part == WIFI_PART]
    if not bare or not _run(evidence):
        return {}
    judged = {pair.name: JUDGES.judge(bare, of_pair(evidence, pair.name)) for pair in JUDGED[1:]}
    return {name: {claim.id: claim.verdict for claim in claims} for name, claims in judged.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quantity:
    """What is told of a run, and with how many decimals."""

    words: str
    of: Callable[[Observation], float]
    digits: int


DOWN = _Quantity(words="down", of=lambda run: run.goodput_down, digits=1)
UP = _Quantity(words="up", of=lambda run: run.goodput_up, digits=1)
LATENCY = _Quantity(words="latency", of=induced_latency, digits=0)
LOST = _Quantity(words="voice lost", of=lambda run: known(run.voice, run, "voice flow").loss_percent, digits=2)


def _run(evidence: Evidence) -> bool:
    return bool(_each(evidence, EVEN, FIFO, DOWN))


def _each(evidence: Evidence, pair: Pair, qdisc: str, quantity: _Quantity) -> list[float]:
    """Return a quantity of each repeat; nothing if there are none, or they do not tell it."""
    name = WIFI_VOIP_RRUL if pair is UNEVEN else in_pair(pair.name, WIFI_VOIP_RRUL)
    try:
        return evidence.numbers(FAST_LINK, qdisc, quantity.of, name)
    except SojournError:
        return []


def _record(pair: Pair, qdisc: str, quantity: _Quantity, values: list[float]) -> dict[str, str | float | int | None]:
    named = {"pair": pair.name, "qdisc": qdisc, "quantity": quantity.words}
    return named | recorded(mean_interval(values) if values else None)
