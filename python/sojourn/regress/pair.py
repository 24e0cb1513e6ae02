"""Two kernels, or two builds of a stack, under the same scenarios with the same seeds: what `compare` finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.bounds import Plain
from sojourn.cells import InWorld, repeats
from sojourn.kernel.cache import LINUX
from sojourn.record import Record
from sojourn.regress import quantities, verdict
from sojourn.regress.threshold import Threshold
from sojourn.regress.verdict import PairedDifference
from sojourn.scenario import Scenario
from sojourn.schema import required
from sojourn.stats import Interval, mean_interval
from sojourn.store.run import Run
from sojourn.validate.metric import Metric

#: Characters of a side's name in a table or a figure.
LONGEST_LABEL = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What is compared: kernels, or builds of stacks."""

    #: What one of them is called.
    noun: str
    #: The format of the comparison as JSON, and what it calls the version of one.
    format: str
    version_key: str
    #: From the name of one to the world of its runs (`sojourn.backends.named`), and from a record to its version.
    world: Callable[[str], str]
    version: Callable[[Record], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One quantity of one scenario on both sides."""

    #: The name of the scenario.
    cell: str
    #: What is compared.
    quantity: Metric
    #: Its value in each run; `None` where a run has none.
    first: tuple[float | None, ...]
    second: tuple[float | None, ...]
    #: What these came to.
    verdict: PairedDifference

    def means(self) -> tuple[Interval | None, Interval | None]:
        """Return the mean of each side with its interval of 95 %."""
        return _mean(self.first), _mean(self.second)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """What a comparison found."""

    #: What was compared.
    kind: Kind
    #: Its name.
    experiment: str
    #: What makes the comparison again.
    command: str
    #: Their names, as they were asked for.
    names: tuple[str, str]
    #: Of a kernel what `uname -r` says.
    versions: tuple[str, str]
    #: The same for both.
    seeds: tuple[int, ...]
    #: How large a difference must be; `None` for any.
    threshold: Threshold | None
    #: Of each scenario, by its name, the runs on each side, one for each seed.
    runs: Mapping[str, tuple[Sequence[Run], Sequence[Run]]]
    #: What became of them.
    rows: tuple[Row, ...]

    @property
    def labels(self) -> tuple[str, str]:
        """What the sides are called in tables and figures: short, and never the same."""
        one, other = (_short(name) for name in self.names)
        return (one, other) if one != other else (f"A: {one}", f"B: {other}")

    @property
    def differs(self) -> bool:
        """Whether a row differs."""
        return any(row.verdict.verdict == verdict.DIFFERS for row in self.rows)

    @property
    def level(self) -> float:
        """The level of the interval that has to leave out zero before a row differs."""
        return 1 - 0.05 / max(len(self.rows), 1)

    def to_json(self) -> str:
        """Return all but the records as one JSON object of the kind's format."""
        plain = {
            "format": self.kind.format,
            "experiment": self.experiment,
            "command": self.command,
            f"{self.kind.noun}s": [
                {"name": name, self.kind.version_key: version}
                for name, version in zip(self.names, self.versions, strict=True)
            ],
            "seeds": list(self.seeds),
            "threshold": None if self.threshold is None else self.threshold.text,
            "level": self.level,
            "rows": [_plain(row) for row in self.rows],
        }
        return json.dumps(plain, indent=1, allow_nan=False)


def compare(
    kind: Kind,
    names: tuple[str, str],
    scenarios: Sequence[tuple[str, Scenario]],
    *,
    repeat: int,
    metrics: list[str],
    threshold: Threshold | None,
    run: InWorld,
    command: str,
) -> Pair:
    """Run all scenarios on both sides, and judge what differs.

    Raises `ParamError` if there is no such side or quantity, or a scenario is refused, and `SojournError` if a run
    fails.

    - `names`: as the kind's `world` takes them.
    - `scenarios`: each with its name and its first seed.
    - `repeat`: runs of each on each side.
    - `metrics`: names of quantities; empty for those that `sojourn validate` judges.
    - `threshold`: how large a difference must be; `None` for any.
    - `command`: what makes the comparison again.
    """
    plan = repeats((name, scenario, repeat) for name, scenario in scenarios)
    made = [run(plan, kind.world(name), f"{kind.noun} {name}") for name in names]
    runs = {name: (made[0][name], made[1][name]) for name, _ in scenarios}
    values = [(name, *one) for name, (first, second) in runs.items() for one in _values(first, second, metrics)]
    rows = tuple(
        Row(
            cell=name,
            quantity=quantity,
            first=first,
            second=second,
            verdict=verdict.judge(first, second, rows=len(values), threshold=threshold),
        )
        for name, quantity, first, second in values
    )
    one, other = (each[scenarios[0][0]][0].record for each in made)
    return Pair(
        kind=kind,
        experiment=one.experiment,
        command=command,
        names=names,
        versions=(kind.version(one), kind.version(other)),
        seeds=tuple(each.seed for each in made[0][scenarios[0][0]]),
        threshold=threshold,
        runs=runs,
        rows=rows,
    )


def release(record: Record) -> str:
    """Return what `uname -r` said in the kernel of a record."""
    return required(record.kernel, "kernel").release


KERNELS = Kind(
    noun="kernel",
    format="sojourn-kernel-compare/1",
    version_key="release",
    world=lambda name: f"linux:{name}",
    version=release,
)


def _short(name: str) -> str:
    """Return a side's name as one word of a table; of a path the folder, if its file is called `linux`."""
    path = Path(name)
    if "/" in name:
        name = path.parent.name if path.name == LINUX and path.parent.name else path.name
    return name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 3]}..."


def _values(
    first: Sequence[Run], second: Sequence[Run], metrics: list[str]
) -> list[tuple[Metric, tuple[float | None, ...], tuple[float | None, ...]]]:
    """Return the values of each quantity on both sides; one that no run has is left out unless it was asked for."""
    wanted = quantities.chosen(metrics, first[0]) if metrics else quantities.judged(first[0])
    sides = [zip(*(quantities.values(wanted, run) for run in runs), strict=True) for runs in (first, second)]
    return [
        (one, values, others)
        for one, values, others in zip(wanted, *sides, strict=True)
        if metrics or any(value is not None for value in (*values, *others))
    ]


def _mean(values: Sequence[float | None]) -> Interval | None:
    there = [value for value in values if value is not None]
    return mean_interval(there) if there else None


def _plain(row: Row) -> Mapping[str, Plain]:
    first, second = row.means()
    judged = row.verdict
    return {
        "scenario": row.cell,
        "metric": row.quantity.name,
        "title": row.quantity.title,
        "unit": row.quantity.unit,
        "first": interval_plain(first),
        "second": interval_plain(second),
        "difference": interval_plain(judged.difference),
        "surely": interval_plain(judged.surely),
        "room": judged.room,
        "verdict": judged.verdict,
        "reason": judged.reason,
        "values": {"first": list(row.first), "second": list(row.second)},
    }


def interval_plain(interval: Interval | None) -> dict[str, float | int | None] | None:
    """Return an interval as JSON has it; `None` for none."""
    if interval is None:
        return None
    return {"mean": interval.value, "low": interval.low, "high": interval.high, "n": interval.n}
