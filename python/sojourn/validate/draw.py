"""Scenarios drawn by a seed: links, paths, loads and disciplines that nobody chose.

A row of numbers, uniform in [0, 1), is drawn for each scenario from numpy's `Generator(PCG64(seed))`, row by row,
whatever the scenario needs of them. So scenario k is a function of the seed and k alone: a larger `--count` begins with
the scenarios of a smaller one. What a number means (u is the number of that column) in the populations `random` and
`trust`:

| column | what                            | how                                                                  |
|--------|---------------------------------|----------------------------------------------------------------------|
| 0      | rate down                       | 1 to 200 Mbit/s, log-uniform, in whole kbit/s                        |
| 1      | rate up                         | the same                                                             |
| 2      | symmetric                       | u < 0.3: up is as fast as down                                       |
| 3      | base RTT                        | 5 to 500 ms (`trust`: 300), log-uniform, in tenths of a millisecond  |
| 4, 5   | flows up, flows down            | 1 to 32, log-uniform: the whole part of 33^u                         |
| 6      | congestion control              | one of the population's, uniform                                     |
| 7      | discipline                      | one of the population's, or of those that are named, uniform; for    |
|        |                                 | both directions                                                      |
| 8      | limit                           | see `sojourn.validate.drawn_qdisc`, also for the next six            |
| 9, 10  | target, interval                |                                                                      |
| 11, 12 | number of queues, quantum       | a power of two from 16 to 1024; 300, 1514 or 3028 bytes              |
| 13, 14 | RED's probability; RED adaptive | 0.01 to 0.2, log-uniform; u < 0.5 (the current kernel does nothing   |
|        |                                 | about it)                                                            |
| 15     | ECN, of `trust`                 | u < 0.25: on, in the hosts and in the discipline; else off           |
| 16, 17 | second control, of `trust`      | u < 0.3: every second flow of each direction has another control,    |
|        |                                 | which column 17 picks, uniform                                       |

Where the discipline isolates hosts (`HOST_KINDS`), each side has 1 to `MOST_HOSTS` hosts, and each flow is of one of
them. These numbers are drawn from a generator of their own, `Generator(PCG64([seed, 1]))`: the numbers of clients and
servers, then the client and the server of each flow, all uniform.

The load is bulk TCP in both directions for the whole run, an ICMP echo each 200 ms and UDP questions and answers. A run
lasts so long that the two bottlenecks carry `MOST_PACKETS` full frames at most, up to 60 s but never less than 10 s,
which is 20 round trips of the longest path. (At 200 Mbit/s both ways that is 330,000.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sojourn.errors import refused
from sojourn.experiments import rrul
from sojourn.scenario import Direction, Flow, Scenario, Tcp
from sojourn.store.cell import link_name
from sojourn.validate import drawn_qdisc, uniform
from sojourn.validate.disciplines import Discipline
from sojourn.validate.drawn_qdisc import FRAME, Draw
from sojourn.validate.grid import PlannedCell
from sojourn.validate.uniform import between, one_of

MOST_PACKETS = 300_000
LONGEST_S, SHORTEST_S = 60, 10
#: Disciplines that look at hosts, and most hosts on each side of their scenarios.
HOST_KINDS = frozenset({"cake"})
MOST_HOSTS = 3
#: Two numbers of hosts, and two hosts for each of at most 64 flows.
_HOST_COLUMNS = 2 + 2 * 64
_SHARE_SYMMETRIC = 0.3
_SHARE_ECN = 0.25
_SHARE_MIXED = 0.3


@dataclass(frozen=True, kw_only=True)
class Population:
    """What scenarios are drawn from."""

    #: What the command calls it.
    name: str
    #: Disciplines, of `drawn_qdisc.KINDS`. A kind more makes other scenarios of the same seed.
    kinds: tuple[str, ...]
    #: Congestion controls; the same holds.
    controls: tuple[str, ...]
    #: Of the path.
    longest_rtt_ms: float
    #: Numbers of a row.
    columns: int

    def only(self, names: Sequence[str]) -> Population:
        """Return those scenarios whose discipline and control are among `names`; without any of a sort, all of it.

        Raises `ParamError` if a name is neither a discipline nor a control of the population.
        """
        for name in names:
            if name not in {*self.kinds, *self.controls}:
                known = ", ".join((*self.kinds, *self.controls))
                raise refused(name, "only", f"must be one or several of {known}, separated by commas")
        return replace(
            self,
            kinds=tuple(kind for kind in self.kinds if kind in names) or self.kinds,
            controls=tuple(control for control in self.controls if control in names) or self.controls,
        )


RANDOM = Population(
    name="random",
    kinds=("pfifo", "bfifo", "pfifo_fast", "red", "pie", "codel", "sfq", "fq_codel"),
    controls=("cubic", "reno"),
    longest_rtt_ms=500,
    columns=15,
)
TRUST = Population(
    name="trust",
    kinds=drawn_qdisc.KINDS,
    controls=("cubic", "reno", "bbr", "dctcp"),
    longest_rtt_ms=300,
    columns=18,
)


def draw(
    population: Population, count: int, seed: int, disciplines: Sequence[Discipline] | None = None
) -> tuple[PlannedCell, ...]:
    """Return so many scenarios, named `POPULATION SEED.NUMBER`, numbers from 1.

    With `disciplines` these take the place of the drawn ones, with the words that they have; all else is as without.
    Raises `ParamError` if `count` is out of range.
    """
    rows = enumerate(uniform.rows(count, seed, columns=population.columns), 1)
    hosts = uniform.rows(count, [seed, 1], columns=_HOST_COLUMNS)
    cells = (_cell(population, row, f"{population.name} {seed}.{number}", disciplines) for number, row in rows)
    return tuple(_with_hosts(cell, row) for cell, row in zip(cells, hosts, strict=True))


def _with_hosts(cell: PlannedCell, row: list[float]) -> PlannedCell:
    """Return the scenario with hosts that `row` says, if its discipline looks at them."""
    scenario = cell.scenario
    if (scenario.qdisc_up or "").partition(" ")[0] not in HOST_KINDS:
        return cell
    clients, servers = (1 + int(MOST_HOSTS * u) for u in row[:2])
    flows = tuple(
        replace(flow, client=1 + int(clients * client), server=1 + int(servers * server))
        for flow, client, server in zip(scenario.flows, row[2::2], row[3::2], strict=False)
    )
    return replace(cell, scenario=replace(scenario, flows=flows))


def _cell(population: Population, row: list[float], name: str, disciplines: Sequence[Discipline] | None) -> PlannedCell:
    down = round(between(row[0], 1_000, 200_000))
    up = down if row[2] < _SHARE_SYMMETRIC else round(between(row[1], 1_000, 200_000))
    rtt_ms = round(between(row[3], 5, population.longest_rtt_ms), 1)
    first = second = one_of(row[6], population.controls)
    ecn = False
    if len(row) > RANDOM.columns:
        ecn = row[15] < _SHARE_ECN
        second = one_of(row[17], population.controls) if row[16] < _SHARE_MIXED else first
    drawn = Draw.of(one_of(row[7], population.kinds), rtt_ms, row[8:15], ecn=ecn)
    named = None if disciplines is None else one_of(row[7], disciplines)
    counts: dict[Direction, int] = {"up": int(33 ** row[4]), "down": int(33 ** row[5])}
    scenario = Scenario(
        experiment=name.replace(" ", "-"),
        duration=f"{duration_s(up + down)}s",
        up=f"{up}kbit",
        down=f"{down}kbit",
        rtt=f"{rtt_ms}ms",
        qdisc_up=drawn.text(up) if named is None else named.at(1000 * up),
        qdisc_down=drawn.text(down) if named is None else named.at(1000 * down),
        flows=tuple(
            Flow(name=f"tcp_{way}_{number}", direction=way, congestion_control=first if number % 2 else second)
            for way, count in counts.items()
            for number in range(1, count + 1)
        ),
        probes=rrul.probes(),
        tcp=Tcp(ecn=True) if ecn else None,
        seed=1,
    )
    scenario.normalized()
    link = link_name(f"{down / 1000:g}mbit", f"{up / 1000:g}mbit")
    return PlannedCell(name=name, link=link, qdisc=drawn.kind if named is None else named.name, scenario=scenario)


def duration_s(kbit_per_s: int) -> int:
    """Return how long a scenario runs whose bottlenecks have this rate together."""
    packets_per_s = kbit_per_s * 1000 / 8 / FRAME
    return min(max(int(MOST_PACKETS / packets_per_s), SHORTEST_S), LONGEST_S)
