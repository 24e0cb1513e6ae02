"""The quantities of a run: what each is, its unit, and how it is read from a record.

A user's study names them. `sojourn validate` and `sojourn kernel compare` take them from here as well, some under names
and titles of their own (`sojourn.validate.metrics`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from sojourn.errors import refused
from sojourn.record import FlowRecord, Record
from sojourn.schema import or_null, required
from sojourn.stats.mos import mos_of_stream
from sojourn.store.run import voices_in

WAYS = ("up", "down")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number of a run."""

    #: In words.
    title: str
    #: Of the number; empty for a number without one.
    unit: str
    #: From a record, and the words after the quantity's name, to the number; `None` if the run has none.
    read: Callable[..., float | None]
    #: Decimals in tables.
    digits: int = 1
    #: What follows the quantity's name; empty for nothing.
    argument: str = ""

    def heading(self, argument: str = "") -> str:
        """Return the title with its argument and its unit."""
        title = f"{self.title} {argument}".strip()
        return f"{title} ({self.unit})" if self.unit else title


def _summary(name: str, times: float = 1.0) -> Callable[[Record], float | None]:
    def read(record: Record) -> float | None:
        value = or_null(getattr(record.summary, name))
        return None if value is None else times * float(value)

    return read


def _rtt(name: str) -> Callable[[Record], float | None]:
    def read(record: Record) -> float | None:
        value = getattr(record.summary.rtt_ms, name)
        return None if value is None else float(value)

    return read


def flows(record: Record, way: str) -> list[FlowRecord]:
    """Return the flows of a direction."""
    return [flow for flow in record.flows if flow.direction == way]


def _goodput(way: str) -> Callable[[Record], float | None]:
    read = _summary(f"goodput_{way}_mbit")
    return lambda record: read(record) if flows(record, way) else None


def _drops(way: str) -> Callable[[Record], float | None]:
    return lambda record: float(sum(record.bottleneck[way].drops.values()))


def _gap(key: Literal["mean", "cv"]) -> Callable[[str], Callable[[Record], float | None]]:
    """Return what is the mean over the flows' gaps between drops; each gap counts the same."""

    def of_way(way: str) -> Callable[[Record], float | None]:
        def read(record: Record) -> float | None:
            gaps = [required(flow.drop_gaps_ms, "drop_gaps_ms") for flow in flows(record, way)]
            there = [(gap.count, value) for gap in gaps if (value := getattr(gap, key)) is not None]
            total = sum(count for count, _ in there)
            return sum(count * value for count, value in there) / total if total else None

        return read

    return of_way


def _of_flows(
    key: Literal["retransmissions", "timeouts", "mean_cwnd_segments"], what: Callable[[list[float]], float] = sum
) -> Callable[[str], Callable[[Record], float | None]]:
    """Return a function of what each flow has; none if one of them lacks it, which a kernel does not always tell."""

    def of_way(way: str) -> Callable[[Record], float | None]:
        def read(record: Record) -> float | None:
            values: list[float | None] = [getattr(flow, key) for flow in flows(record, way)]
            there = [float(value) for value in values if value is not None]
            return what(there) if there and len(there) == len(values) else None

        return read

    return of_way


def _backlog(way: str) -> Callable[[Record], float | None]:
    return lambda record: float(record.bottleneck[way].backlog_packets.mean)


def _flow(record: Record, name: str) -> float | None:
    return next((flow.goodput_mbit for flow in record.flows if flow.name == name), None)


def _probe(record: Record, name: str) -> float | None:
    probe = next((probe for probe in record.probes if probe.name == name), None)
    return None if probe is None or probe.rtt_ms is None else probe.rtt_ms.mean


def _voice_delay(record: Record) -> float | None:
    """Return the mean one-way delay above the path's own, over all voice packets that arrived."""
    delays = [(required(voice.delay_ms, "delay_ms"), voice.base_delay_ms or 0.0) for voice in voices_in(record)]
    arrived = sum(delay.count for delay, _ in delays)
    return sum(((d.mean or 0.0) - base) * d.count for d, base in delays) / arrived if arrived else None


def _voice_loss(record: Record) -> float | None:
    sent = sum(voice.sent for voice in voices_in(record))
    return 100 * sum(voice.lost for voice in voices_in(record)) / sent if sent else None


def _mos(record: Record) -> float | None:
    scores = [score for voice in voices_in(record) if (score := mos_of_stream(voice)) is not None]
    return fmean(scores) if scores else None


def _utilisation(way: str) -> Callable[[Record], float | None]:
    def read(record: Record) -> float | None:
        share = record.bottleneck[way].utilisation
        return None if share is None else 100 * float(share)

    return read


def _each_way(
    title: str, unit: str, read: Callable[[str], Callable[[Record], float | None]], digits: int = 1, name: str = ""
) -> dict[str, Quantity]:
    name = name or title
    return {f"{name}_{way}": Quantity(title=f"{title} {way}", unit=unit, read=read(way), digits=digits) for way in WAYS}


#: By name. A name may be followed by a word, such as `flow tcp_up_1`.
QUANTITIES: dict[str, Quantity] = {
    "latency": Quantity(title="induced latency", unit="ms", read=_summary("induced_latency_ms")),
    **{
        f"rtt_{name}": Quantity(title=f"round-trip time, {words}", unit="ms", read=_rtt(name))
        for name, words in (
            ("mean", "mean"),
            ("median", "median"),
            ("p95", "95th percentile"),
            ("p99", "99th percentile"),
        )
    },
    **_each_way("goodput", "Mbit/s", _goodput),
    **_each_way("utilisation", "%", _utilisation),
    **_each_way("drops", "packets", _drops),
    **_each_way("drop gap", "ms", _gap("mean"), 0, name="drop_gap_ms"),
    **_each_way("cv of gaps", "", _gap("cv"), 2, name="drop_gap_cv"),
    **_each_way("retransmissions", "segments", _of_flows("retransmissions")),
    **_each_way("time-outs", "", _of_flows("timeouts"), name="timeouts"),
    **_each_way("mean window", "segments", _of_flows("mean_cwnd_segments", fmean), name="cwnd"),
    **_each_way("mean queue", "packets", _backlog, name="queue"),
    **_each_way("marks", "packets", lambda way: lambda record: float(record.bottleneck[way].marks)),
    "jain_up": Quantity(title="Jain's index up", unit="", read=_summary("jain_up"), digits=3),
    "jain_down": Quantity(title="Jain's index down", unit="", read=_summary("jain_down"), digits=3),
    "mos": Quantity(title="score of the call (MOS, G.107)", unit="", read=_mos, digits=2),
    "voice_delay": Quantity(title="voice delay above the path's", unit="ms", read=_voice_delay),
    "voice_loss": Quantity(title="voice loss", unit="%", read=_voice_loss, digits=2),
    "probe_loss": Quantity(title="probe loss", unit="%", read=_summary("probe_loss", 100.0), digits=2),
    "page_fetch": Quantity(title="page fetch time", unit="s", read=_summary("page_fetch_s"), digits=2),
    "fct": Quantity(title="completion time of a file", unit="ms", read=_summary("fct_ms")),
    "flow": Quantity(title="goodput of", unit="Mbit/s", read=_flow, digits=2, argument="the name of a flow"),
    "probe": Quantity(title="mean round-trip time of", unit="ms", read=_probe, argument="the name of a probe"),
}


def quantity(text: str, where: str) -> tuple[Quantity, tuple[str, ...]]:
    """Return the quantity that a text names, and the word that follows its name; `where` it stands begins the sentence.

    Raises `ParamError` if there is none, or its argument is missing or too much.
    """
    name, *arguments = text.split() or [""]
    known = QUANTITIES.get(name)
    if known is None:
        raise refused(text, where, f"must be one of {', '.join(QUANTITIES)}")
    if len(arguments) != bool(known.argument) or "{" in text:
        rule = f"must be followed by {known.argument}" if known.argument else "stands alone"
        raise refused(text, where, f"{name} {rule}")
    return known, tuple(arguments)


def heading(text: str) -> str:
    """Return a quantity that was checked as the head of a column or an axis."""
    known, arguments = quantity(text, "of")
    return known.heading(*arguments)
