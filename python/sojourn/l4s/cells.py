"""The cells of the atlas: flows of two senders through one bottleneck, and the scenario of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sojourn import _native
from sojourn.errors import refused
from sojourn.scenario import Flow, Scenario, Tcp
from sojourn.study.cell import Axes, Cell

#: Bytes that a packet takes of a buffer that counts bytes, as `tc` users divide.
PACKET_BYTES = 1500
#: No buffer is smaller, packets: a start of ten segments fits.
FEWEST_PACKETS = 10
#: The largest window that TCP can announce with a scale of 8 (RFC 7323), so that no receiver limits a flow before that.
RECEIVE_WINDOW = f"{65535 * 256}b"


@dataclass(frozen=True, slots=True)
class Sender:
    """A congestion control with its ECN."""

    #: In words.
    title: str
    #: As `sojourn list cc` names it.
    control: str
    #: As the key `ecn` of a flow has it: `False`, `True` (RFC 3168) or `"accecn"` (RFC 9768).
    ecn: bool | Literal["accecn"] = False
    #: Whether it must be told that marks come at a shallow threshold, as the key `ecn_low` of TCP tells it.
    ecn_low: bool = False


SENDERS = {
    "prague": Sender("Prague", "prague", "accecn"),
    "bbr3": Sender("BBRv3", "bbr3"),
    "bbr3-ecn": Sender("BBRv3 with ECN", "bbr3", "accecn", ecn_low=True),
    "bbr2-l4s": Sender("L4S-compatible BBRv2", "bbr2-l4s", "accecn"),
    "bbr2": Sender("BBRv2", "bbr2"),
    "cubic": Sender("CUBIC", "cubic"),
    "cubic-ecn": Sender("CUBIC with ECN", "cubic", True),
    "reno": Sender("Reno", "reno"),
    "bbr": Sender("BBRv1", "bbr"),
}

#: Bottlenecks, as `tc` spells them: {packets} and {bytes} are the buffer's. DualPI2 and CAKE keep limits of their own.
BOTTLENECKS = {
    "fifo": "bfifo limit {bytes}",
    "codel": "codel limit {packets} ecn",
    "fq_codel": "fq_codel limit {packets} ecn",
    "fq_codel_l4s": "fq_codel limit {packets} ecn ce_threshold 1ms ce_threshold_selector 0x01/0x01",
    "cake": "cake unlimited",
    "dualpi2": "dualpi2",
}
#: Whether the buffer is what the cell says.
BUFFERED = frozenset({"fifo", "codel", "fq_codel", "fq_codel_l4s"})

#: The version of Prague that a scenario has which names none.
PRAGUE_VERSION = "0.6"


#: Two senders, keys of `SENDERS`, of which the first is L4S's in most maps. The bottleneck, a key of `BOTTLENECKS`,
#: and its rate. The base round-trip times of both sides. The multiples of time at which the link serves in bursts, 0
#: for all the time. The buffer in products of the rate and the longer RTT, where the bottleneck has no limit of its
#: own. How many flows each side has. A cell also has its `pair`, as the command line names it.
CELLS = Axes(
    "l4s",
    "classic",
    "bottleneck",
    rate_mbit=100.0,
    l4s_rtt_ms=20.0,
    classic_rtt_ms=20.0,
    interval_ms=0.0,
    buffer_bdp=2.0,
    l4s_flows=1,
    classic_flows=1,
    derived={"pair": lambda cell: f"{cell.l4s}/{cell.classic}"},
)


def qdisc(cell: Cell) -> str:
    """Return the discipline of a cell as `tc` spells it."""
    size = cell.buffer_bdp * cell.rate_mbit * 1e3 * max(cell.l4s_rtt_ms, cell.classic_rtt_ms) / 8
    packets = max(FEWEST_PACKETS, round(size / PACKET_BYTES))
    return BOTTLENECKS[cell.bottleneck].format(packets=packets, bytes=packets * PACKET_BYTES)


def scenario(cell: Cell, *, duration: str, seed: int) -> Scenario:
    """Return the scenario of a cell: all flows upload, from the start of the measured window on."""
    sides = (
        ("l4s", SENDERS[cell.l4s], cell.l4s_flows, cell.l4s_rtt_ms),
        ("classic", SENDERS[cell.classic], cell.classic_flows, cell.classic_rtt_ms),
    )
    flows = tuple(
        Flow(
            name=f"{side}_{number}",
            direction="up",
            congestion_control=sender.control,
            ecn=sender.ecn,
            rtt=f"{rtt_ms:g}ms",
        )
        for side, sender, flows, rtt_ms in sides
        for number in range(1, flows + 1)
    )
    tcp = Tcp(receive_window=RECEIVE_WINDOW)
    if any(sender.ecn_low for _, sender, _, _ in sides):
        # Each flow says itself which ECN it has.
        tcp = replace(tcp, ecn="accecn", ecn_low=True)
    return Scenario(
        experiment="l4s_map",
        duration=duration,
        lead="0s",
        up=f"{cell.rate_mbit:g}mbit",
        # Acknowledgements meet no queue.
        down=f"{2 * cell.rate_mbit:g}mbit",
        rtt=f"{max(cell.l4s_rtt_ms, cell.classic_rtt_ms):g}ms",
        qdisc_up=qdisc(cell),
        qdisc_down="pfifo limit 10000",
        service_interval_up=f"{cell.interval_ms:g}ms",
        tcp=tcp,
        flows=flows,
        seed=seed,
    )


def read_pair(text: str) -> tuple[str, str]:
    """Read `"prague/cubic"`; raises `ParamError` if it is not two senders, or the simulator lacks a control of them."""
    parts = tuple(part.strip() for part in text.split("/"))
    known = _native.congestion_controls()
    there = [name for name, sender in SENDERS.items() if sender.control in known]
    if len(parts) != 2 or not set(parts) <= set(there):
        raise refused(text, "pair", f"must be two of {', '.join(there)} with a slash between, such as prague/cubic")
    return parts[0], parts[1]
