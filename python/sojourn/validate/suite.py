"""What is validated: one experiment's grid, drawn scenarios, or the whole set of both."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict

from sojourn.bounds import check_repeat
from sojourn.cells import InWorld
from sojourn.errors import ParamError, refused
from sojourn.experiments import BUILT_IN, find
from sojourn.schema import required
from sojourn.store.cell import link_words
from sojourn.validate import bbr_sets, draw, grid, wifi_sets
from sojourn.validate.disciplines import named_disciplines, table_1
from sojourn.validate.entry import Worst
from sojourn.validate.errors import errors_of, most_of_itself, quantiles, worst
from sojourn.validate.execute import KERNEL, TITLES, Both, Pair, Repeats, pairs_of, run_pairs
from sojourn.validate.grid import LINKS, PlannedCell
from sojourn.validate.groups import groups_of
from sojourn.validate.itself import errors_of_itself
from sojourn.validate.judge import Row, finite, judge_all
from sojourn.validate.part import Part, cost, drawn_entries, grid_entries, named, versions
from sojourn.validate.populations import POPULATIONS
from sojourn.validate.ranks import ranks_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RANDOM, ALL = draw.RANDOM.name, "all"
#: All validations of cells.
WIFI = "wifi"
#: The time to settle is measured against the level from 30 to 60 s.
DURATIONS = {"transient": "60s"}
DEFAULT_SEED = 1
#: Kernel runs cost minutes and simulated ones a moment; but the interval of the difference is that of the fewer.
DEFAULT_REPEATS = Repeats(sim=10, kernel=4)

#: The whole set: experiment and congestion control.
WHOLE = (
    ("rrul", None),
    ("tcp_1up", "cubic"),
    ("tcp_1up", "reno"),
    ("voip", None),
    ("rtt_fairness", None),
    ("web", None),
)

#: Sets of cells of their own.
_SETS = (*wifi_sets.SETS, *bbr_sets.SETS)


class GridOptions(Struct, frozen=True, kw_only=True):
    """Options of a grid, of those of `sojourn.api.build`, in the order of its command; `None` leaves the default."""

    rtt: str | None = None
    cc: str | None = None
    duration: str | None = None
    page: str | None = None
    flows_up: int | None = None
    flows_down: int | None = None


@dataclass(frozen=True, kw_only=True)
class Request:
    """What was asked for; `None` leaves the default."""

    #: A built-in name, the path of a TOML file, or one of `POPULATIONS`.
    experiment: str
    #: As `grid.read_links` reads them.
    links: str | None = None
    #: tc texts or presets.
    qdiscs: Sequence[str] | None = None
    options: GridOptions = field(default_factory=GridOptions)
    #: Of the first run of each cell; of a population, of the draw.
    seed: int | None = None
    #: Of scenarios, of a population.
    count: int | None = None
    #: Disciplines and controls, of a population: nothing else is drawn.
    only: tuple[str, ...] = ()
    #: Runs of each cell.
    repeats: Repeats = DEFAULT_REPEATS
    #: The back ends that the simulator is compared with: the first; and with it the next.
    real: tuple[str, ...] = (KERNEL,)
    #: The kernel of the runs on the kernel, by its name; `None` for the best of this machine.
    kernel: str | None = None

    @property
    def name(self) -> str:
        """What it is called: the experiment, and the congestion control and the kernel if they were named."""
        return named(self._subject, self.kernel)

    @property
    def _subject(self) -> str:
        if self.experiment == wifi_sets.DRAWN:
            return f"{wifi_sets.DRAWN}, seed {DEFAULT_SEED if self.seed is None else self.seed}"
        if self.experiment in _SETS:
            return self.experiment
        if self.experiment in POPULATIONS:
            seed = f"{self.experiment}, seed {DEFAULT_SEED if self.seed is None else self.seed}"
            return f"{seed}, only {' '.join(self.only)}" if self.only else seed
        return " ".join(filter(None, (find(self.experiment).name, self.options.cc)))

    @property
    def command(self) -> str:
        """The command, without the folders of its results."""
        words = ["sojourn", "validate", self.experiment]
        words += [] if self.links is None else ["--links", self.links]
        words += [word for text in self.qdiscs or () for word in ("--qdisc", text)]
        words += ["--only", ",".join(self.only)] if self.only else []
        words += [] if self.real == (KERNEL,) else [word for name in self.real for word in ("--backend", name)]
        words += [] if self.kernel is None else ["--kernel", self.kernel]
        options = asdict(self.options) | {"count": self.count, "seed": self.seed}
        for name, value, default in (
            ("repeat", self.repeats.kernel, DEFAULT_REPEATS.kernel),
            ("sim_repeat", self.repeats.sim, DEFAULT_REPEATS.sim),
        ):
            options[name] = None if value == default else value
        for name, value in options.items():
            words += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
        return shlex.join(words)


def whole(request: Request) -> tuple[Request, ...]:
    """Return what the whole set consists of; links, disciplines and duration are those of the grids.

    Raises `ParamError` if an option was given that its experiments set themselves.
    """
    for name, value in asdict(request.options).items():
        if value is not None and name != "duration":
            raise refused(value, f"{name.replace('_', '-')}", f"the experiments of {ALL} set it themselves")
    if request.experiment == WIFI:
        return tuple(replace(request, experiment=name, count=_count_of(request, name)) for name in wifi_sets.SETS)
    grids = tuple(
        replace(
            request,
            experiment=experiment,
            options=GridOptions(cc=cc, duration=request.options.duration),
            count=None,
            only=(),
        )
        for experiment, cc in WHOLE
    )
    drawn = replace(request, experiment=RANDOM, links=None, qdiscs=None, options=GridOptions(), only=())
    return (*grids, drawn)


def _count_of(request: Request, name: str) -> int | None:
    return request.count if name == wifi_sets.DRAWN else None


def cells_of(request: Request) -> tuple[PlannedCell, ...]:
    """Return the cells of a grid or the drawn scenarios; all are checked.

    Raises `ParamError` if a value is refused.
    """
    for field_name, number in (("repeat", request.repeats.kernel), ("sim-repeat", request.repeats.sim)):
        check_repeat(number, field_name)
    if request.experiment in POPULATIONS:
        return _drawn_cells(request)
    if request.only:
        raise refused(",".join(request.only), "only", f"{request.experiment} has no parts: leave it out")
    if request.experiment in _SETS:
        return _cells_of_a_set(request)
    if request.count is not None:
        drawn = " and ".join(POPULATIONS)
        message = (
            f"count is {request.count}, but only {drawn} draw scenarios; {request.experiment} has links x disciplines"
        )
        raise ParamError(message)
    if request.experiment not in BUILT_IN and not request.experiment.endswith(".toml"):
        known = ", ".join((*BUILT_IN, *POPULATIONS, ALL, *_SETS, WIFI))
        raise refused(request.experiment, "experiment", f"must be one of {known} or the path of a TOML file")
    options = {name: value for name, value in asdict(request.options).items() if value is not None}
    if request.experiment in DURATIONS:
        options.setdefault("duration", DURATIONS[request.experiment])
    return grid.cells(
        request.experiment,
        grid.read_links(",".join(LINKS) if request.links is None else request.links),
        table_1() if request.qdiscs is None else named_disciplines(request.qdiscs),
        seed=DEFAULT_SEED if request.seed is None else request.seed,
        **options,
    )


def validate(request: Request, run: InWorld, *, figures: bool) -> list[tuple[Part, dict[str, Figure]]]:
    """Run what was asked for on all back ends, and judge it: a part and its figures for each pair of them.

    Raises `ParamError` if a value is refused.

    - `figures`: whether they are drawn.
    """
    cells = cells_of(request)
    ran = run_pairs(cells, request.repeats, run, request.real, request.kernel)
    return [_judged(request, cells, pair, both, figures=figures) for pair, both in ran.items()]


def part_names(request: Request) -> tuple[str, ...]:
    """Return the names of the parts of one validation, one for each pair of back ends."""
    return tuple(_part_name(request, pair) for pair in pairs_of(request.real))


def _part_name(request: Request, pair: Pair) -> str:
    return request.name if request.real == (KERNEL,) else f"{request.name}, {TITLES[pair[0]]} and {TITLES[pair[1]]}"


def _judged(
    request: Request, cells: Sequence[PlannedCell], pair: Pair, ran: Sequence[Both], *, figures: bool
) -> tuple[Part, dict[str, Figure]]:
    name = _part_name(request, pair)
    rows = judge_all(ran)
    drawn = _figures(request, ran, rows) if figures else {}
    scenarios = {cell.name: cell.scenario.normalized() for cell in cells}
    facts = _facts(request, ran) | versions(ran) | cost(ran)
    if request.experiment in POPULATIONS:
        bars = POPULATIONS[request.experiment].bars
        found, itself = errors_of(rows, bars), errors_of_itself(ran, bars)
        part = Part(
            name=name,
            command=request.command,
            facts=facts,
            entries=drawn_entries(name, rows, found, quantiles(found, bars, itself)),
            scenarios=scenarios,
            worst=[
                Worst(
                    scenario=error.row.cell.name,
                    metric=error.row.metric.name,
                    title=error.row.metric.title,
                    error=finite(error.value),
                    itself=finite(most_of_itself(error, itself)),
                )
                for error in worst(found, bars.worst, itself)
            ],
            ranks=ranks_of(ran),
            groups=groups_of(found, itself),
        )
        return part, drawn
    part = Part(name=name, command=request.command, facts=facts, entries=grid_entries(rows), scenarios=scenarios)
    return part, drawn


def _figures(request: Request, ran: Sequence[Both], rows: Sequence[Row]) -> dict[str, Figure]:
    from sojourn.validate.exhibits import cells_figure, grid_figures, scatter_figure

    if request.experiment not in {*wifi_sets.SETS, *POPULATIONS}:
        return grid_figures(ran, request.name)
    scatter = scatter_figure(rows, f"{request.name}: means of each scenario; shaded: within 10 %")
    if request.experiment in POPULATIONS:
        return {"scatter": scatter}
    return {
        "rtt_cdf": cells_figure(ran, request.name, drawn=request.experiment == wifi_sets.DRAWN),
        "scatter": scatter,
    }


def _drawn_cells(request: Request) -> tuple[PlannedCell, ...]:
    options = {"links": request.links, **asdict(request.options)}
    for name, value in options.items():
        if value is not None:
            raise refused(value, f"{name.replace('_', '-')}", f"{request.experiment} draws it")
    judged = POPULATIONS[request.experiment]
    return draw.draw(
        judged.population.only(request.only),
        judged.count if request.count is None else request.count,
        DEFAULT_SEED if request.seed is None else request.seed,
        None if request.qdiscs is None else named_disciplines(request.qdiscs),
    )


def _stations(ran: Sequence[Both]) -> str:
    numbers = [len(required(both.kernel[0].record.wifi, "wifi").stations) for both in ran]
    return f"{min(numbers)} to {max(numbers)}" if min(numbers) < max(numbers) else str(numbers[0])


def _cells_of_a_set(request: Request) -> tuple[PlannedCell, ...]:
    options = {"links": request.links, "qdisc": request.qdiscs, **asdict(request.options), "duration": None}
    if request.experiment != wifi_sets.DRAWN:
        options["count"] = request.count
    for name, value in options.items():
        if value is not None:
            raise refused(value, f"{name.replace('_', '-')}", f"{request.experiment} has cells of its own")
    seed = DEFAULT_SEED if request.seed is None else request.seed
    duration = request.options.duration
    if request.experiment in bbr_sets.SETS:
        return bbr_sets.cells_of(request.experiment, seed=seed, duration=duration)
    return wifi_sets.cells_of(request.experiment, count=request.count, seed=seed, duration=duration)


def _facts(request: Request, ran: Sequence[Both]) -> dict[str, str]:
    cells = [both.cell for both in ran]
    durations = list(dict.fromkeys(str(both.kernel[0].record.scenario["duration"]) for both in ran))
    real = ", ".join(TITLES[name] for name in request.real)
    first = 1 if request.experiment in {*POPULATIONS, wifi_sets.DRAWN} or request.seed is None else request.seed
    if request.experiment in wifi_sets.SETS:
        what = {"cells": str(len(cells)), "stations": _stations(ran)}
    elif request.experiment in bbr_sets.SETS:
        what = {"cells": str(len(cells))}
    elif request.experiment in POPULATIONS:
        what = {"scenarios": str(len(cells))}
    else:
        what = {
            "links (down/up)": ", ".join(dict.fromkeys(link_words(cell.link) for cell in cells)),
            "disciplines": ", ".join(dict.fromkeys(cell.qdisc for cell in cells)),
        }
    return {
        **what,
        "measured window": durations[0] if len(durations) == 1 else f"{durations[0]} and others",
        "runs of a cell": f"{real} {request.repeats.kernel}, simulator {request.repeats.sim}; seeds from {first} on",
    }
