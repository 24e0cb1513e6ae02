"""A run as text: what was run, a table of what came out, and what it cost."""

from __future__ import annotations

from sojourn import tables
from sojourn.cli import traffic
from sojourn.record import FlusherRecord, Record
from sojourn.schema import required
from sojourn.store.cell import label_of
from sojourn.store.run import Run


def cost(record: Record) -> str:
    """Return one line that says what a run cost, and what made it."""
    of = record.cost
    if record.backend == "sim":
        return f"simulated {of.sim_s:g} s in {of.wall_s:.2f} s: {of.packets:,} packets, {of.events:,} events"
    kernel = required(record.kernel, "kernel")
    clock = "virtual" if kernel.virtual_time else "real"
    return f"Linux {kernel.release} in {clock} time ran {of.sim_s:g} s in {of.wall_s:.2f} s: {of.packets:,} packets"


def describe(run: Run) -> str:
    """Return the table of one run."""
    record, summary = run.record, run.summary
    rtt, ends = summary.rtt_ms, record.bottleneck
    rows = [
        _row("goodput (Mbit/s)", [summary.goodput_up_mbit, summary.goodput_down_mbit]),
        _row("fairness (Jain)", [summary.jain_up, summary.jain_down], 3),
        _row("bottleneck packets", [end.packets for end in ends.values()], 0),
        _row("drops", [sum(end.drops.values()) for end in ends.values()], 0),
        _row("backlog, mean (packets)", [end.backlog_packets.mean for end in ends.values()], 1),
        _row("sojourn time, mean (ms)", [end.sojourn_ms.mean for end in ends.values()]),
        _row("sojourn time, p95 (ms)", [end.sojourn_ms.p95 for end in ends.values()]),
    ]
    latency = [
        _row("induced latency, mean", [summary.induced_latency_ms]),
        *(_row(f"round-trip time, {name}", [getattr(rtt, name)]) for name in ("median", "p95", "p99", "max")),
    ]
    if rtt.count > 0 and summary.probe_loss is not None:
        echoes = (
            tables.text(["latency (ms)", ""], latency)
            + f"\n{rtt.count} samples; probe loss {100 * summary.probe_loss:.2f} %"
        )
    else:
        echoes = "no echo probes" if summary.probe_loss is None else "no echo came back"
    flows = [
        [
            flow.name,
            flow.congestion_control if flow.stack is None else _carried(flow.stack.name, flow.congestion_control),
            tables.number(flow.goodput_mbit),
            str(flow.retransmissions),
            tables.number(flow.timeouts, 0),
        ]
        for flow in record.flows
        if flow.kind in {"tcp", "stack"}
    ]
    failed = [f"flow {flow.name}: {flow.error}" for flow in record.flows if flow.error is not None]
    parts = [
        headline(record),
        tables.text(["", "up", "down"], rows),
        echoes,
        *traffic.describe(record),
        *([_flusher(record.flusher)] if record.flusher is not None else []),
        tables.text(["flow", "cc", "Mbit/s", "retransmitted", "timeouts"], flows, left=2) if flows else "no TCP flows",
        *(["\n".join(failed)] if failed else []),
    ]
    return "\n\n".join(parts)


def _carried(stack: str, control: str) -> str:
    """Return whose transport carried a flow, with the control if it was told one."""
    return stack if control == "none" else f"{stack} {control}"


def _flusher(flusher: FlusherRecord) -> str:
    """Return what a flusher did, as a table of its flows and a line of its sums."""
    rows = [[flow.name, "yes" if flow.seen else "no", str(flow.flushes), str(flow.packets)] for flow in flusher.flows]
    sums = (
        f"flusher at {flusher.at}, {flusher.mode}: {flusher.flushes} flushes, {flusher.packets:,} packets "
        f"({flusher.bytes:,} bytes), {flusher.refused} refused; {flusher.delivered:,} packets delivered, "
        f"{flusher.dropped:,} dropped"
    )
    return tables.text(["flow", "seen", "flushes", "packets"], rows) + f"\n{sums}"


def headline(record: Record, qdiscs: str | None = None) -> str:
    """Return one line that says what was run: with one seed, or with several disciplines."""
    scenario = record.scenario
    label = label_of(scenario["qdisc_up"], scenario["qdisc_down"]) if qdiscs is None else qdiscs
    parts = [
        f"{scenario['experiment']}: {label}",
        f"{scenario['down']} down / {scenario['up']} up",
        f"RTT {scenario['rtt']}",
        str(scenario["duration"]),
    ]
    return "; ".join([*parts, f"seed {record.seed}"] if qdiscs is None else parts)


def _row(name: str, values: list[float | None], digits: int = 2) -> list[str]:
    return [name, *(tables.number(value, digits) for value in values)]
