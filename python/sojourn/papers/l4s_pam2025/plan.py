"""The plan of the study of L4S: the cells of the claims, and what cells need that the simulator lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sojourn import _native
from sojourn.errors import ParamError
from sojourn.papers.kit import execute
from sojourn.papers.kit.execute import Means
from sojourn.papers.kit.paper import Profile
from sojourn.papers.l4s_pam2025.evidence import BASE_MS, Cell, Evidence, Observation, measured, observe
from sojourn.scenario import Flow, Scenario, Tcp
from sojourn.store.run import Run

CONTROL, PAIR, MANY = PARTS = ("control", "pair", "many")
#: Bytes of a bandwidth-delay product: 100 Mbit/s for the base RTT.
BDP_BYTES = round(100_000_000 * BASE_MS / 8000)

#: Of each sender its congestion control and its ECN.
ECN, NO_ECN, ACCURATE_ECN = "ECN", "no ECN", "accurate ECN feedback"
CONTROLS = {
    "prague": ("prague", ACCURATE_ECN),
    "prague_fallback": ("prague", ACCURATE_ECN),
    "cubic": ("cubic", NO_ECN),
    "cubic_ecn": ("cubic", ECN),
    "bbr3": ("bbr3", NO_ECN),
    "bbr3_ecn": ("bbr3", ECN),
}
#: What a sender needs that has no congestion control here.
LACKING = {"prague": "TCP Prague", "bbr3": "BBRv3"}
#: Where two classic flows of one kind are each other's control.
CONTROLLED = ("fifo", "codel", "codel_drop", "pie_drop", "fq_codel")

Planned = execute.Planned[Cell]


def qdisc(cell: Cell) -> str:
    """Return the bottleneck as `tc` spells it; of packets it holds those of the buffer, and one."""
    limit = round(cell.bdp * BDP_BYTES)
    packets = limit // 1500 + 1
    codel = f"limit {packets} target 5ms interval 100ms"
    fq = f"fq limit {packets} flow_limit {packets} ce_threshold 5ms"
    return {
        "fifo": f"bfifo limit {limit}",
        "fq": fq,
        "one_queue_fq": f"{fq} orphan_mask 0",
        "codel": f"codel {codel} ecn",
        "codel_drop": f"codel {codel} noecn",
        "pie_drop": f"pie limit {packets} target 5ms noecn",
        "fq_codel": f"fq_codel {codel} ecn",
        "fq_codel_l4s": f"fq_codel {codel} ecn ce_threshold 1ms ce_threshold_selector 0x01/0x01",
        # The authors note that their buffer was not set here.
        "dualpi2": "dualpi2 target 5ms",
    }[cell.aqm]


def lacks(cell: Cell) -> tuple[str, ...]:
    """Return what a cell needs that the simulator has not, each thing in words; nothing if it can be run."""
    sides = [CONTROLS[side] for side in (cell.l4s, cell.classic)]
    known = _native.congestion_controls()
    return tuple(LACKING[control] for control, _ in sides if control not in known)


def cells(parts: Iterable[str] = PARTS) -> list[Cell]:
    """Return the cells of parts, also those that cannot be run: all that were measured, and pairs of ours."""
    control = [Cell(one, one, aqm) for aqm in CONTROLLED for one in ("cubic", "cubic_ecn")]
    return [cell for cell in (*control, *measured()) if cell.part in parts]


def missing(planned: Iterable[Cell]) -> list[str]:
    """Return a sentence for each thing that keeps cells from being run, the most needed first."""
    planned = list(planned)
    needs = Counter(thing for cell in planned for thing in lacks(cell))
    return [f"{count} of {len(planned)} cells need {thing}." for thing, count in needs.most_common()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bed:
    """What all runs share.

    Attributes
    ----------
    profile
        How much is run: `repeat` of each cell, from the start of all flows on, as the trials were.
    parts
        Of the plan.
    seed
        Of the first repeat.
    """

    profile: Profile
    parts: tuple[str, ...] = PARTS
    seed: int = 1

    def scenario(self, cell: Cell) -> Scenario:
        """Return the scenario of a cell that can be run, with the first seed."""
        sides = ((cell.l4s, cell.l4s_flows, "l4s"), (cell.classic, cell.classic_flows, "classic"))
        flows = tuple(
            Flow(name=f"{side}_{place}", direction="up", congestion_control=CONTROLS[sender][0])
            for sender, number, side in sides
            for place in range(1, number + 1)
        )
        return Scenario(
            experiment="l4s_pam2025",
            duration=self.profile.duration,
            lead="0s",
            up="100mbit",
            down="100mbit",
            rtt=f"{BASE_MS:g}ms",
            qdisc_up=qdisc(cell),
            qdisc_down="pfifo limit 1000",
            # Prague has accurate feedback of itself, whatever the others have.
            tcp=Tcp(
                ecn=CONTROLS[cell.classic][1] == ECN,
                prague_fallback=True if cell.l4s == "prague_fallback" else None,
            ),
            flows=flows,
            seed=self.seed,
        )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of the plan."""

    evidence: Evidence
    runs: int


def plan(bed: Bed) -> Sequence[Planned]:
    """Return all runs that can be made.

    Raises
    ------
    ParamError
        If there are none.
    """
    planned = cells(bed.parts)
    there = [cell for cell in planned if not lacks(cell)]
    if not there:
        most = missing(planned)[0].rstrip(".")
        message = f"only is {','.join(bed.parts)!r}, but nothing of it can be run yet: {most}"
        raise ParamError(message)
    return execute.repeats((cell, bed.scenario(cell), bed.profile.repeat) for cell in there)


def reproduce(bed: Bed, means: Means) -> Outcome:
    """Run the plan; see `sojourn.papers.kit.execute.execute`."""
    observations: dict[Cell, list[Observation]] = {}

    def take(cell: Cell, run: Run) -> None:
        observations.setdefault(cell, []).append(observe(run, cell))

    runs = execute.execute(plan(bed), take, means)
    found = {cell: tuple(each) for cell, each in observations.items()}
    return Outcome(evidence=Evidence(cells=found, lacks=lacks), runs=len(runs))
