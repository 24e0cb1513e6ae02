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

from sojourn.errors import ParamError
from sojourn.record import FlowRecord, Record
from sojourn.stats import Interval, course, measure_transient
from sojourn.stats import transient as transients
from sojourn.store.run import Run, voices_in
from sojourn.study.quantities import QUANTITIES, WAYS, flows
from sojourn.validate import wifi_metrics
from sojourn.validate.bars import Factor, Side, Within
from sojourn.validate.loss import lost_share
from sojourn.validate.metric import Measure, Metric, each_run, metric

LATENCY = Within(share=0.10, least=1.0)
GOODPUT = Within(share=0.02)
VOICE_LOSS = Factor(factor=1.5)
FLOW_SHARE = Within(least=10.0)
PAGE_FETCH = Within(share=0.10)
#: Our own choice: runs that differ in their seed alone differ by about a tenth in the marks of a flow.
MARKS = Within(share=0.20, least=5.0)


def metrics_of(record: Record) -> tuple[Metric, ...]:
    """Return the metrics of a scenario, of which this is one record: the judged ones first."""
    if record.wifi is not None:
        return wifi_metrics.metrics_of(record)
    special = (*(_share(flow.name) for flow in _unequal_flows(record)), *(_TRANSIENT if _starts(record) else ()))
    marks = _MARKS if any(flow.ecn is not None for flow in record.flows) else ()
    return (*JUDGED, *special, *marks, *SHOWN)


def _voice_loss(runs: Sequence[Run]) -> Side | None:
    voices_of_runs = [voices_in(run.record) for run in runs]
    lost = [sum(voice.lost for voice in voices) for voices in voices_of_runs]
    return lost_share(lost, [sum(voice.sent for voice in voices) for voices in voices_of_runs])


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


def _marks(way: str) -> Callable[[Record], float | None]:
    """Return the marks of a direction in which flows with ECN send."""

    def value(record: Record) -> float | None:
        wanted = any(flow.ecn is not None for flow in flows(record, way))
        return QUANTITIES[f"marks_{way}"].read(record) if wanted else None

    return value


def _probe_loss(record: Record) -> float | None:
    summary = record.summary
    return None if (loss := summary.probe_loss) is None or not summary.rtt_ms.count else 100 * loss


JUDGED: tuple[Metric, ...] = (
    metric("latency", "induced_latency_ms", bar=LATENCY, digits=2),
    *(metric(f"goodput_{way}", f"goodput_{way}_mbit", bar=GOODPUT, digits=3) for way in WAYS),
    metric("voice_delay", "voip_delay_ms", title="voice delay", bar=LATENCY, digits=2),
    metric("voice_loss", "voip_loss", measure=_voice_loss, bar=VOICE_LOSS, digits=3),
    metric("page_fetch", "page_fetch_s", bar=PAGE_FETCH, digits=3),
)

_TRANSIENT: tuple[Metric, ...] = (
    Metric(name="settling_s", title="time to settle", unit="s", measure=_settling(lambda one: one.settling_s)),
    Metric(name="peak_ms", title="peak latency", unit="ms", measure=_settling(lambda one: one.peak_ms)),
    Metric(name="steady_ms", title="steady latency", unit="ms", measure=_settling(lambda one: one.steady_ms)),
)

_MARKS = tuple(metric(f"marks_{way}", measure=each_run(_marks(way)), bar=MARKS) for way in WAYS)

#: Of each direction.
_EACH_WAY = ("drops", "drop_gap_ms", "drop_gap_cv", "retransmissions", "timeouts", "cwnd", "queue")

SHOWN: tuple[Metric, ...] = (
    *(metric(f"{name}_{way}") for way in WAYS for name in _EACH_WAY),
    metric("probe_loss", measure=each_run(_probe_loss)),
)

#: All that a scenario without a cell may have, but the shares of its flows.
EVERY = (*JUDGED, *_TRANSIENT, *_MARKS, *SHOWN)
