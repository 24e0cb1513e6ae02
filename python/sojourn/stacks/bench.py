"""The cells in which stacks are checked and compared: where their windows, losses and delays show."""

from __future__ import annotations

from dataclasses import replace

from sojourn.scenario import Flow, Probe, Scenario

#: Length of a cell's window.
DURATION = "20s"
#: What is compared: latency, goodput, losses and windows.
METRICS = ("induced_latency_ms", "rtt_p99_ms", "goodput_up_mbit", "drops_up", "retransmissions_up", "cwnd_up")

_FLOW = Flow(name="stack", direction="up", kind=None)
_BASE = Scenario(
    experiment="stacks",
    up="20mbit",
    down="20mbit",
    rtt="50ms",
    duration=DURATION,
    probes=(Probe(name="ping", kind="icmp", interval="50ms"),),
)


def cells(stack: str, control: str | None = None) -> list[tuple[str, Scenario]]:
    """Return the cells of a stack by name, each with its first seed.

    - `stack`: its name.
    - `control`: its congestion control; `None` for its own default.
    """
    flow = replace(_FLOW, stack=stack, congestion_control=control)
    bursts = replace(flow, write="300kb", write_interval="1s")
    base = replace(_BASE, flows=(flow,))
    beside = (flow, Flow(name="tcp", direction="up"))
    return [
        ("fq_codel", replace(base, qdisc_up="fq_codel")),
        ("pfifo 100", replace(base, qdisc_up="pfifo limit 100")),
        ("pfifo 1000", replace(base, qdisc_up="pfifo limit 1000")),
        ("1 % loss", replace(base, qdisc_up="pfifo limit 1000", loss_up=0.01)),
        ("long link", replace(base, qdisc_up="pfifo limit 1000", rtt="600ms")),
        (
            "limited by its application",
            replace(base, qdisc_up="pfifo limit 1000", flows=(replace(flow, rate="3mbit"),)),
        ),
        ("bursts after idle times", replace(base, qdisc_up="pfifo limit 1000", flows=(bursts,))),
        ("beside CUBIC", replace(base, qdisc_up="pfifo limit 100", flows=beside)),
    ]


def hard_cells(stack: str, control: str | None = None) -> list[tuple[str, Scenario]]:
    """Return those of `cells`, and those in which a stack may fail altogether."""
    flow = replace(_FLOW, stack=stack, congestion_control=control)
    base = replace(_BASE, flows=(flow,))
    return [
        *cells(stack, control),
        ("handshake behind 50 % loss", replace(base, qdisc_up="pfifo limit 1000", loss_up=0.5, loss_down=0.5)),
        ("64 kbit/s", replace(base, up="64kbit", qdisc_up="pfifo limit 50")),
        ("no ECN", replace(base, qdisc_up="fq_codel", flows=(replace(flow, ecn=False),))),
    ]
