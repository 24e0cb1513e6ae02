"""The plan of the study of L4S: the cells of the claims, and what cells need that a back end lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sojourn import _native
from sojourn.cells import Planned, repeats
from sojourn.papers.l4s_pam2025.evidence import AXES, SENDERS, claimed, measured
from sojourn.scenario import Flow, Scenario, Tcp
from sojourn.study.cell import Cell
from sojourn.study.plan import Bed, runnable

CONTROL, PAIR, MANY = PARTS = ("control", "pair", "many")
#: Of the bottleneck.
RATE_MBIT = 100
#: By the base RTT, ms: the target or threshold of every discipline that has one. The notebook has 5 ms for 10 ms. Of
#: 2 ms it says nothing, but it leaves cells out whose buffer is shorter than the threshold, and with 2 ms there are
#: cells of half a BDP.
THRESHOLD_MS = {10.0: 5, 2.0: 1}

#: Classic senders whose marks are echoed one by one.
SHALLOW = frozenset({"bbr2_dctcp", "bbr3_low"})
#: Controls of kernels; only some kernels have Prague.
ON_KERNELS = frozenset({"prague", "cubic", "bbr"})
#: Where two classic flows of one kind are each other's control.
CONTROLLED = ("fifo", "codel", "codel_drop", "pie_drop", "fq_codel")


def qdisc(cell: Cell) -> str:
    """Return the bottleneck as `tc` spells it; of packets it holds those of the buffer, and one."""
    limit = round(cell.bdp * RATE_MBIT * 1000 * cell.base_ms / 8)
    packets = limit // 1500 + 1
    target = f"{THRESHOLD_MS[cell.base_ms]}ms"
    codel = f"limit {packets} target {target} interval 100ms"
    fq = f"fq limit {packets} flow_limit {packets} ce_threshold {target}"
    return {
        "fifo": f"bfifo limit {limit}",
        "fq": fq,
        "one_queue_fq": f"{fq} orphan_mask 0",
        "codel": f"codel {codel} ecn",
        "codel_drop": f"codel {codel} noecn",
        "pie_drop": f"pie limit {packets} target {target} noecn",
        "fq_codel": f"fq_codel {codel} ecn",
        "fq_codel_l4s": f"fq_codel {codel} ecn ce_threshold 1ms ce_threshold_selector 0x01/0x01",
        # The authors note that their buffer was not set here.
        "dualpi2": f"dualpi2 target {target}",
    }[cell.aqm]


def lacks(cell: Cell, backend: str = "sim") -> tuple[str, ...]:
    """Return the senders of a cell that a back end has not, each in words; nothing if it can be run."""
    known = _native.congestion_controls() if backend == "sim" else ON_KERNELS
    sides = dict.fromkeys((cell.l4s, cell.classic))
    return tuple(
        SENDERS[side].title
        for side in sides
        if SENDERS[side].control not in known or (side == "prague_fallback" and backend != "sim")
    )


def cells(parts: Iterable[str] = PARTS, *, others: bool = False) -> list[Cell]:
    """Return the cells of parts, also those that cannot be run: those that claims speak of, and pairs of ours.

    With `others` they are all cells that were measured.
    """
    control = [AXES(one, one, aqm) for aqm in CONTROLLED for one in ("cubic", "cubic_ecn")]
    stated = [cell for cell in measured() if others or cell in claimed()]
    return [cell for cell in (*control, *stated) if cell.part in parts]


@dataclass(frozen=True, slots=True, kw_only=True)
class L4sBed(Bed):
    """What all runs share; the window is from the start of all flows on, as the trials were."""

    parts: tuple[str, ...] = PARTS
    tcp: str = "linux-5.15"
    #: Time text: by how much packets may be late on either way.
    jitter: str = "0s"
    #: Of the simulator's Prague; a kernel has its own.
    prague_version: str = "0.7"

    def lacks(self, cell: Cell) -> tuple[str, ...]:
        """Return the senders of a cell that the back end has not, each in words."""
        return lacks(cell, self.backend)

    def cells(self) -> list[Cell]:
        """Return the cells of the parts, also those that cannot be run."""
        return cells(self.parts, others=self.profile.other_repeat > 0)

    def repeat(self, cell: Cell) -> int:
        """Return how often a cell is run."""
        return self.profile.other_repeat if cell.part != CONTROL and cell not in claimed() else self.profile.repeat

    def scenario(self, cell: Cell) -> Scenario:
        """Return the scenario of a cell that can be run, with the first seed."""
        sides = ((cell.l4s, cell.l4s_flows, "l4s"), (cell.classic, cell.classic_flows, "classic"))
        flows = tuple(
            Flow(
                name=f"{side}_{place}",
                direction="up",
                congestion_control=SENDERS[sender].control,
            )
            for sender, number, side in sides
            for place in range(1, number + 1)
        )
        return Scenario(
            experiment="l4s_pam2025",
            duration=self.profile.duration,
            lead="0s",
            up=f"{RATE_MBIT}mbit",
            down=f"{RATE_MBIT}mbit",
            rtt=f"{cell.base_ms:g}ms",
            jitter_up=self.jitter,
            jitter_down=self.jitter,
            qdisc_up=qdisc(cell),
            qdisc_down="pfifo limit 1000",
            # Linux's TCP hands several segments down at once although the bed's devices had their offloads off.
            tcp=Tcp(
                variant=self.tcp if self.backend == "sim" else None,
                gso=True,
                # Of the classic side: the L4S one has AccECN whatever this is.
                ecn=SENDERS[cell.classic].ecn or False,
                # Where a mark is echoed once, as DCTCP's receiver does, or BBRv3 is told that thresholds are low.
                ecn_low=True if cell.classic in SHALLOW else None,
                # The notebook tells BBRv2 to answer marks whatever the RTT is.
                bbr2_ecn_max_rtt="0s" if SENDERS[cell.classic].control == "bbr2" else None,
                prague_fallback=True if cell.l4s == "prague_fallback" else None,
                # The notebooks install L4STeam's testing build of Linux 5.15, whose Prague this is (lab/l4s.md).
                prague_version=self.prague_version,
            ),
            flows=flows,
            seed=self.seed,
        )


def plan(bed: L4sBed) -> Sequence[Planned[Cell]]:
    """Return all runs that can be made; raises `ParamError` if there are none."""
    return repeats((cell, bed.scenario(cell), bed.repeat(cell)) for cell in runnable(bed.cells(), bed.lacks, bed.parts))
