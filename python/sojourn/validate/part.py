"""What one validation found: a value, which is written to a folder and read again for a document."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from msgspec import UNSET, Struct, to_builtins
from msgspec.structs import replace

from sojourn import _native, bounded, schema
from sojourn.errors import SojournError
from sojourn.record import Record
from sojourn.schema import Text, Words
from sojourn.store.folder import check_settled
from sojourn.validate import bars, wifi_metrics
from sojourn.validate.entry import DrawnScenario, Entry, Group, Ranks, Worst
from sojourn.validate.errors import Error, Quantile
from sojourn.validate.execute import KERNEL, LIVE, SIM, TITLES, Both
from sojourn.validate.judge import Row, finite

PART_FORMAT = "sojourn-validate/1"
#: Stands before the name of a kernel in the name of a part, where the command named one.
_ON = ", kernel "
#: The file of a part in its folder.
FILE = "part.json"

#: What the names of metrics that are counted together begin with.
_KINDS = (("goodput_", "goodput"), ("share_", "flow shares"), *wifi_metrics.KINDS)
#: From the worst on.
_ORDER: tuple[str, ...] = (bars.DIFFERS, bars.CANNOT_TELL, bars.AGREES)


class Part(Struct, kw_only=True):
    """What one validation found."""

    #: Such as `"tcp_1up reno"`.
    name: Words
    #: What makes it, without the folders of its results.
    command: Text
    #: What was run on what, as name and words.
    facts: dict[Text, Text]
    #: Of `validate.json`.
    entries: list[Entry]
    #: The canonical scenario of each cell, by name, with the first seed.
    scenarios: dict[Text, str]
    #: The names of the scenarios with the largest errors, the worst first, each with its metric and error.
    worst: list[Worst] = []
    #: The places of the kernel's runs among the simulator's, of drawn scenarios (`sojourn.validate.ranks`).
    ranks: list[Ranks] = []
    #: The errors of each discipline and control, of drawn scenarios (`sojourn.validate.groups`).
    groups: list[Group] = []

    @property
    def subject(self) -> str:
        """What was compared, whatever the kernel: the name without the kernel's."""
        return self.name.partition(_ON)[0]

    @property
    def judged(self) -> list[Entry]:
        """The entries with a verdict."""
        return [entry for entry in self.entries if entry.is_judged]

    @property
    def differs(self) -> bool:
        """Whether any entry differs."""
        return any(entry.verdict == bars.DIFFERS for entry in self.entries)

    @property
    def errors(self) -> list[Entry]:
        """The entries of single drawn scenarios that have an error."""
        return [entry for entry in self.entries if entry.is_error]

    @property
    def is_drawn(self) -> bool:
        """Whether it is of drawn scenarios."""
        return any(entry.is_quantile for entry in self.entries)

    def scenario(self, name: str) -> DrawnScenario:
        """Return what is shown of a drawn scenario."""
        where = f"scenarios.{name}"
        return schema.convert(bounded.parse_json(self.scenarios[name], _no_scenario(where)), DrawnScenario, where)

    def counts(self) -> dict[str, Counts]:
        """Return how many cells have which verdict, for each kind of metric.

        Goodput is one kind, both directions of a cell together, and so are the shares of all its flows; a cell has the
        worst verdict of them.
        """
        found: dict[str, dict[str, list[Entry]]] = {}
        for entry in self.judged:
            title = next((title for start, title in _KINDS if entry.metric.startswith(start)), entry.title)
            found.setdefault(title, {}).setdefault(entry.scenario, []).append(entry)
        return {title: Counts.of(cells.values()) for title, cells in found.items()}

    def to_json(self) -> str:
        """Return the part as JSON, format `sojourn-validate/1`."""
        return in_json({"format": PART_FORMAT, **to_builtins(self)}) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many cells of a metric have which verdict."""

    #: All.
    cells: int
    #: Point estimates within the bar.
    agrees: int
    #: Of these, with the whole interval of the difference within it.
    surely: int
    #: The others.
    differs: int
    cannot_tell: int

    @classmethod
    def of(cls, cells: Iterable[Sequence[Entry]]) -> Counts:
        """Count cells, each by the worst verdict of its entries."""
        cells = list(cells)
        verdicts = [min((entry.verdict for entry in entries), key=_ORDER.index) for entries in cells]
        return cls(
            cells=len(cells),
            agrees=verdicts.count(bars.AGREES),
            surely=sum(all(entry.surely for entry in entries) for entries in cells),
            differs=verdicts.count(bars.DIFFERS),
            cannot_tell=verdicts.count(bars.CANNOT_TELL),
        )


def in_json(plain: Any) -> str:
    """Return what holds entries as JSON."""
    return json.dumps(to_builtins(plain), indent=1, allow_nan=False)


def named(subject: str, kernel: str | None) -> str:
    """Return the name of a part: what is compared, and the kernel if the command named one."""
    return subject if kernel is None else f"{subject}{_ON}{kernel}"


def grid_entries(rows: Sequence[Row]) -> list[Entry]:
    """Return the entries of a grid."""
    return [row.entry() for row in rows]


def drawn_entries(
    name: str, rows: Sequence[Row], errors: Mapping[str, Sequence[Error]], found: Sequence[Quantile]
) -> list[Entry]:
    """Return the entries of drawn scenarios: quantiles first, which are judged, then each metric of each scenario."""
    by_row = {id(error.row): error.value for of_metric in errors.values() for error in of_metric}
    each = []
    for row in rows:
        value = by_row.get(id(row))
        each.append(
            replace(row.entry(), verdict=bars.NOT_JUDGED, surely=False, reason="", relative_error=finite(value))
        )
    return [_quantile_entry(name, quantile) for quantile in found] + each


def versions(ran: Sequence[Both]) -> dict[str, str]:
    """Return which code and which kernel made the runs, as name and words."""
    kernels = {_release(both.kernel[0].record) for both in ran}
    facts = {
        "simulator": f"{_native.__version__}, build {_native.__build__[:12]}",
        "kernel": ", ".join(sorted(kernels)),
    }
    if any(LIVE in both.pair for both in ran):
        facts["live"] = f"disciplines of build {_native.__build__[:12]} in user space, in real time"
    return facts


def cost(ran: Sequence[Both]) -> dict[str, str]:
    """Return what the runs cost, in wall time of one core, as name and words."""
    facts = {}
    titles = [TITLES[name] for name in (ran[0].pair if ran else (SIM, KERNEL))]
    for name, runs in (
        (f"cost, {titles[1]}", [run for both in ran for run in both.kernel]),
        (f"cost, {titles[0]}", [run for both in ran for run in both.sim]),
    ):
        costs = [run.record.cost for run in runs]
        wall, minutes = sum(one.wall_s for one in costs), sum(one.sim_s for one in costs) / 60
        if minutes:
            facts[name] = f"{wall:.0f} s for {len(costs)} runs: {wall / minutes:.3g} s of a core for a minute"
    return facts


def load_all(folder: Path) -> list[Part]:
    """Read the parts of a command: that of its folder, or those of the folders in it, by their names.

    Raises `SojournError` if there is none, or one cannot be read.
    """
    inner = [] if (folder / FILE).is_file() else sorted(folder.glob(f"*/{FILE}"))
    return [load(path.parent) for path in inner] or [load(folder)]


def load(folder: Path) -> Part:
    """Read the part of a folder; raises `SojournError` if it holds none, or it cannot be read."""
    path = folder / FILE
    if not path.is_file():
        message = f"{folder} holds no validation: {FILE} is not there"
        raise SojournError(message)
    check_settled(folder)
    plain = bounded.read_json(path)
    if not isinstance(plain, dict) or plain.pop("format", None) != PART_FORMAT:
        message = f"{path} has not the format {PART_FORMAT!r}"
        raise SojournError(message)
    try:
        part = schema.convert(plain, Part)
        _check(part)
    except schema.Misfit as error:
        message = f"{path} cannot be read: {error}"
        raise SojournError(message) from error
    return part


def _check(part: Part) -> None:
    """Raise `Misfit` unless the values of a part fit each other."""
    for place, entry in enumerate(part.entries):
        # The sides that are compared; one without a value says so.
        for side in entry.sides:
            if getattr(entry, side) is UNSET:
                message = f"entries[{place}].{side} is missing"
                raise schema.Misfit(message)
        if entry.is_error:
            _check_among(entry.scenario, part.scenarios, f"entries[{place}]")
    for place, one in enumerate(part.worst):
        _check_among(one.scenario, part.scenarios, f"worst[{place}]")
    for name in part.scenarios:
        part.scenario(name)


def _check_among(name: str, names: Collection[str], where: str) -> None:
    if name not in names:
        message = f"{where}.scenario is {bounded.shown(name)}, which is not among scenarios"
        raise schema.Misfit(message)


def _no_scenario(where: str) -> bounded.Refuse:
    def refuse(why: str) -> NoReturn:
        message = f"{where} is no scenario: {why}"
        raise schema.Misfit(message)

    return refuse


def _quantile_entry(name: str, one: Quantile) -> Entry:
    return Entry(
        scenario=f"{name}: {one.n} scenarios",
        metric=f"{one.metric} {one.name} error",
        sim=None,
        linux=None,
        live=None,
        ratio=None,
        verdict=one.judged.verdict,
        title=f"{one.title}, {one.name} of the relative errors",
        unit="",
        digits=4,
        bar=one.judged.bar,
        bar_is="below",
        surely=one.judged.surely,
        reason=one.judged.reason,
        value=finite(one.value),
        low=finite(one.low),
        high=finite(one.high),
        itself=finite(one.itself),
    )


def _release(record: Record) -> str:
    kernel = record.kernel
    return f"none (back end {record.backend})" if kernel is None else kernel.release or kernel.version
