"""The cells of the atlas: flows of two senders through one bottleneck, and the scenario of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from sojourn import _native
from sojourn.errors import ParamError
from sojourn.scenario import Flow, Scenario, Tcp

#: Bytes that a packet takes of a buffer that counts bytes, as `tc` users divide.
PACKET_BYTES = 1500
#: No buffer is smaller, packets: a start of ten segments fits.
FEWEST_PACKETS = 10
#: The largest window that TCP can announce with a scale of 8 (RFC 7323), so that no receiver limits a flow before that.
RECEIVE_WINDOW = f"{65535 * 256}b"


@dataclass(frozen=True, slots=True)
class Sender:
    """A congestion control with its ECN.

    Attributes
    ----------
    title
        In words.
    control
        As `sojourn list cc` names it.
    ecn
        As the key `ecn` of a flow has it: `False`, `True` (RFC 3168) or `"accecn"` (RFC 9768).
    ecn_low
        Whether it must be told that marks come at a shallow threshold, as the key `ecn_low` of TCP tells it.
    """

    title: str
    control: str
    ecn: bool | Literal["accecn"] = False
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


class Cell(NamedTuple):
    """Flows of one sender beside flows of another.

    Attributes
    ----------
    l4s, classic
        The two senders, keys of `SENDERS`. The first is L4S's in most maps.
    bottleneck
        A key of `BOTTLENECKS`.
    rate_mbit
        Of the bottleneck.
    l4s_rtt_ms, classic_rtt_ms
        Base round-trip time of each side.
    interval_ms
        The link serves in bursts, at multiples of this; 0 for all the time.
    buffer_bdp
        The buffer in products of the rate and the longer RTT, where the bottleneck has no limit of its own.
    l4s_flows, classic_flows
        How many flows each side has.
    """

    l4s: str
    classic: str
    bottleneck: str
    rate_mbit: float = 100.0
    l4s_rtt_ms: float = 20.0
    classic_rtt_ms: float = 20.0
    interval_ms: float = 0.0
    buffer_bdp: float = 2.0
    l4s_flows: int = 1
    classic_flows: int = 1

    @property
    def pair(self) -> str:
        """The senders, as the command line names them."""
        return f"{self.l4s}/{self.classic}"

    def qdisc(self) -> str:
        """Return the discipline as `tc` spells it."""
        size = self.buffer_bdp * self.rate_mbit * 1e3 * max(self.l4s_rtt_ms, self.classic_rtt_ms) / 8
        packets = max(FEWEST_PACKETS, round(size / PACKET_BYTES))
        return BOTTLENECKS[self.bottleneck].format(packets=packets, bytes=packets * PACKET_BYTES)

    def scenario(self, *, duration: str, seed: int) -> Scenario:
        """Return the scenario of the cell: all flows upload, from the start of the measured window on."""
        sides = (
            ("l4s", SENDERS[self.l4s], self.l4s_flows, self.l4s_rtt_ms),
            ("classic", SENDERS[self.classic], self.classic_flows, self.classic_rtt_ms),
        )
        flows = tuple(
            Flow(
                name=f"{side}_{place}",
                direction="up",
                congestion_control=sender.control,
                ecn=sender.ecn,
                rtt=f"{rtt_ms:g}ms",
            )
            for side, sender, number, rtt_ms in sides
            for place in range(1, number + 1)
        )
        rtt_ms = max(self.l4s_rtt_ms, self.classic_rtt_ms)
        tcp = Tcp(receive_window=RECEIVE_WINDOW)
        if any(sender.ecn_low for _, sender, _, _ in sides):
            # Each flow says itself which ECN it has.
            tcp = replace(tcp, ecn="accecn", ecn_low=True)
        return Scenario(
            experiment="l4s_map",
            duration=duration,
            lead="0s",
            up=f"{self.rate_mbit:g}mbit",
            # Acknowledgements meet no queue.
            down=f"{2 * self.rate_mbit:g}mbit",
            rtt=f"{rtt_ms:g}ms",
            qdisc_up=self.qdisc(),
            qdisc_down="pfifo limit 10000",
            service_interval_up=f"{self.interval_ms:g}ms",
            tcp=tcp,
            flows=flows,
            seed=seed,
        )


def read_pair(text: str) -> tuple[str, str]:
    """Read `"prague/cubic"`.

    Raises
    ------
    ParamError
        If it is not two senders, or the simulator lacks a control of them.
    """
    parts = tuple(part.strip() for part in text.split("/"))
    known = _native.congestion_controls()
    there = [name for name, sender in SENDERS.items() if sender.control in known]
    if len(parts) != 2 or not set(parts) <= set(there):
        message = f"pair is {text!r}, but must be two of {', '.join(there)} with a slash between, such as prague/cubic"
        raise ParamError(message)
    return parts[0], parts[1]
