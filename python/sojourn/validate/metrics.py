"""What is compared: the one table of metrics, with units and bars.

A metric is measured on all runs of one scenario and one back end together; most are a number of each run, averaged. One
that does not apply (goodput down without a flow down) has no value on either side and no row.

The bars are those the project set itself: mean induced latency within 10 % or 1 ms, whichever is larger (the same for
the one-way delay of voice); goodput of each direction within 2 %; loss of voice packets within a factor of 1.5; each
flow's share among flows of different round-trip times within 10 % of the total; page fetch times within 10 %; of flows
with ECN, the packets that the bottleneck marked within 20 % or 5 packets. What has no bar is shown and not judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Literal

from sojourn.errors import ParamError
from sojourn.record import FlowRecord, Record
from sojourn.schema import required
from sojourn.stats import Interval, course, measure_transient
from sojourn.stats import transient as transients
from sojourn.store.run import Run, voices_in
from sojourn.validate import wifi_metrics
from sojourn.validate.bars import Factor, Side, Within
from sojourn.validate.loss import lost_share
from sojourn.validate.metric import Measure, Metric, each_run

LATENCY = Within(share=0.10, least=1.0)
GOODPUT = Within(share=0.02)
VOICE_LOSS = Factor(factor=1.5)
FLOW_SHARE = Within(least=10.0)
PAGE_FETCH = Within(share=0.10)
#: Our own choice: runs that differ in their seed alone differ by about a tenth in the marks of a flow.
MARKS = Within(share=0.20, least=5.0)

DIRECTIONS = ("up", "down")

#: What each flow of a record has, and what of it a kernel does not always tell.
Counted = Literal["retransmissions", "timeouts", "mean_cwnd_segments"]


def metrics_of(record: Record) -> tuple[Metric, ...]:
    """Return the metrics of a scenario, of which this is one record: the judged ones first."""
    if record.wifi is not None:
        return wifi_metrics.metrics_of(record)
    special = (*(_share(flow.name) for flow in _unequal_flows(record)), *(_TRANSIENT if _starts(record) else ()))
    marks = _MARKS if any(flow.ecn is not None for flow in record.flows) else ()
    return (*JUDGED, *special, *marks, *SHOWN)


def _latency(record: Record) -> float | None:
    summary = record.summary
    return summary.induced_latency_ms


def _goodput(direction: str) -> Callable[[Record], float | None]:
    def value(record: Record) -> float | None:
        summary = record.summary
        goodput = summary.goodput_up_mbit if direction == "up" else summary.goodput_down_mbit
        return goodput if _flows(record, direction) else None

    return value


def _voice_delay(record: Record) -> float | None:
    """Return the mean one-way delay above the path's own, over all voice packets that arrived."""
    voices = [(required(one.delay_ms, "delay_ms"), one.base_delay_ms or 0.0) for one in voices_in(record)]
    arrived = sum(delay.count for delay, _ in voices)
    if not arrived:
        return None
    excess = sum(((delay.mean or 0.0) - base) * delay.count for delay, base in voices)
    return float(excess / arrived)


def _voice_loss(runs: Sequence[Run]) -> Side | None:
    voices_of_runs = [voices_in(run.record) for run in runs]
    lost = [sum(voice.lost for voice in voices) for voices in voices_of_runs]
    return lost_share(lost, [sum(voice.sent for voice in voices) for voices in voices_of_runs])


def _page_fetch(record: Record) -> float | None:
    value = record.summary.page_fetch_s
    return None if value is None else float(value)


def _unequal_flows(record: Record) -> list[FlowRecord]:
    """Return the flows of a scenario with one direction if they differ in base round-trip time or control."""
    flows = record.flows
    unequal = len({(flow.base_rtt_ms, flow.congestion_control) for flow in flows}) > 1
    return flows if unequal and len({flow.direction for flow in flows}) == 1 else []


def _share(name: str) -> Metric:
    def value(record: Record) -> float | None:
        total = sum(flow.goodput_mbit for flow in record.flows)
        mine = sum(flow.goodput_mbit for flow in record.flows if flow.name == name)
        return 100 * mine / total if total else None

    return Metric(
        name=f"share_{name}",
        title=f"share of {name}",
        unit="% of the total",
        measure=each_run(value),
        bar=FLOW_SHARE,
    )


def _starts(record: Record) -> bool:
    return bool(record.experiment == "transient")


def _settling(pick: Callable[[transients.Transient], Interval]) -> Measure:
    def measure(runs: Sequence[Run]) -> Side | None:
        records = [run.record for run in runs]
        end = min(end_s(record) for record in records)
        found = course([samples(record) for record in records], end_s=end)
        steady = transients.STEADY_S if end >= transients.STEADY_S[1] else (end / 2, end)
        try:
            numbers = measure_transient(found, window_s=min(transients.WINDOW_S, end), steady_s=steady)
        except ParamError:  # no probe came back in one of the windows
            return None
        return Side(interval=pick(numbers))

    return measure


def samples(record: Record) -> transients.Samples:
    """Return the latencies of a record's probes, as `sojourn.stats.course` takes them."""
    return {name: (probe.t_s, probe.rtt_ms) for name, probe in record.series.rtt.items()}


def end_s(record: Record) -> float:
    """Return the last multiple of the transient's bins before the end of the measured window."""
    times = record.series.t_s
    return math.floor(times[-1] / transients.BIN_S + 1e-6) * transients.BIN_S if times else 0.0


def _flows(record: Record, direction: str) -> list[FlowRecord]:
    return [flow for flow in record.flows if flow.direction == direction]


def _drops(direction: str) -> Callable[[Record], float | None]:
    return lambda record: float(sum(record.bottleneck[direction].drops.values()))


def _marks(direction: str) -> Callable[[Record], float | None]:
    """Return the marks of a direction in which flows with ECN send."""

    def value(record: Record) -> float | None:
        wanted = any(flow.ecn is not None for flow in _flows(record, direction))
        return float(record.bottleneck[direction].marks) if wanted else None

    return value


def _gap(direction: str, key: Literal["mean", "cv"]) -> Callable[[Record], float | None]:
    """Return what is the mean over the flows' gaps between drops; each gap counts the same."""

    def value(record: Record) -> float | None:
        gaps = [required(flow.drop_gaps_ms, "drop_gaps_ms") for flow in _flows(record, direction)]
        there = [(gap.count, getattr(gap, key)) for gap in gaps]
        total = sum(count for count, value in there if value is not None)
        return sum(count * value for count, value in there if value is not None) / total if total else None

    return value


def _all(record: Record, direction: str, key: Counted, what: Callable[[list[float]], float]) -> float | None:
    """Return a function of what each flow has; none if one of them lacks it, which a kernel does not always tell."""
    values: list[float | None] = [getattr(flow, key) for flow in _flows(record, direction)]
    there = [float(value) for value in values if value is not None]
    return what(there) if there and len(there) == len(values) else None


def _total(direction: str, key: Counted) -> Callable[[Record], float | None]:

    def value(record: Record) -> float | None:
        return _all(record, direction, key, sum)

    return value


def _mean_cwnd(direction: str) -> Callable[[Record], float | None]:
    def value(record: Record) -> float | None:
        return _all(record, direction, "mean_cwnd_segments", fmean)

    return value


def _backlog(direction: str) -> Callable[[Record], float | None]:
    return lambda record: float(record.bottleneck[direction].backlog_packets.mean)


def _probe_loss(record: Record) -> float | None:
    summary = record.summary
    return None if (loss := summary.probe_loss) is None or not summary.rtt_ms.count else 100 * loss


JUDGED: tuple[Metric, ...] = (
    Metric(name="induced_latency_ms", title="induced latency", unit="ms", measure=each_run(_latency), bar=LATENCY),
    Metric(
        name="goodput_up_mbit",
        title="goodput up",
        unit="Mbit/s",
        measure=each_run(_goodput("up")),
        bar=GOODPUT,
        digits=3,
    ),
    Metric(
        name="goodput_down_mbit",
        title="goodput down",
        unit="Mbit/s",
        measure=each_run(_goodput("down")),
        bar=GOODPUT,
        digits=3,
    ),
    Metric(name="voip_delay_ms", title="voice delay", unit="ms", measure=each_run(_voice_delay), bar=LATENCY),
    Metric(name="voip_loss", title="voice loss", unit="%", measure=_voice_loss, bar=VOICE_LOSS, digits=3),
    Metric(
        name="page_fetch_s", title="page fetch time", unit="s", measure=each_run(_page_fetch), bar=PAGE_FETCH, digits=3
    ),
)

_TRANSIENT: tuple[Metric, ...] = (
    Metric(name="settling_s", title="time to settle", unit="s", measure=_settling(lambda one: one.settling_s)),
    Metric(name="peak_ms", title="peak latency", unit="ms", measure=_settling(lambda one: one.peak_ms)),
    Metric(name="steady_ms", title="steady latency", unit="ms", measure=_settling(lambda one: one.steady_ms)),
)

_MARKS: tuple[Metric, ...] = tuple(
    Metric(
        name=f"marks_{way}", title=f"marks {way}", unit="packets", measure=each_run(_marks(way)), bar=MARKS, digits=1
    )
    for way in DIRECTIONS
)

#: Of each direction: name, title, unit, value, decimals.
_EACH_WAY: tuple[tuple[str, str, str, Callable[[str], Callable[[Record], float | None]], int], ...] = (
    ("drops", "drops", "packets", _drops, 1),
    ("drop_gap_ms", "drop gap", "ms", lambda way: _gap(way, "mean"), 0),
    ("drop_gap_cv", "cv of gaps", "", lambda way: _gap(way, "cv"), 2),
    ("retransmissions", "retransmissions", "segments", lambda way: _total(way, "retransmissions"), 1),
    ("timeouts", "time-outs", "", lambda way: _total(way, "timeouts"), 1),
    ("cwnd", "mean window", "segments", _mean_cwnd, 1),
    ("queue", "mean queue", "packets", _backlog, 1),
)

SHOWN: tuple[Metric, ...] = (
    *(
        Metric(name=f"{name}_{way}", title=f"{title} {way}", unit=unit, measure=each_run(value(way)), digits=digits)
        for way in DIRECTIONS
        for name, title, unit, value, digits in _EACH_WAY
    ),
    Metric(name="probe_loss", title="probe loss", unit="%", measure=each_run(_probe_loss)),
)

#: All that a scenario without a cell may have, but the shares of its flows.
EVERY = (*JUDGED, *_TRANSIENT, *_MARKS, *SHOWN)
