"""What runs return: a run, and runs side by side."""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterable, Iterator, Sequence, ValuesView
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sojourn.errors import SojournError

if TYPE_CHECKING:
    import polars as pl

RUN_FORMAT = "sojourn-run/1"


class Run:
    """One finished run.

    Parameters
    ----------
    text
        The record as the compiled part wrote it, JSON.
    """

    def __init__(self, *, text: str) -> None:
        self._text = text

    @property
    def text(self) -> str:
        """The record, JSON."""
        return self._text

    @cached_property
    def _record(self) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(self._text)
        return record

    @property
    def record(self) -> dict[str, Any]:
        """The whole record."""
        return self._record

    @property
    def summary(self) -> dict[str, Any]:
        """Goodput (Mbit/s), induced latency (ms), probe loss, fairness, and statistics of the round-trip time."""
        summary = self.record["summary"]
        assert isinstance(summary, dict)
        return summary

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.record["seed"])

    @property
    def voices(self) -> list[dict[str, Any]]:
        """What the record says of each voice stream."""
        return voices_in(self.record)

    @property
    def flows(self) -> pl.DataFrame:
        """One row for each flow, schema `sojourn.frames.FLOW_SCHEMA`."""
        from sojourn import frames

        return frames.flows(self.record)

    @property
    def series(self) -> pl.DataFrame:
        """All time series in long form, schema `sojourn.frames.SERIES_SCHEMA`."""
        from sojourn import frames

        return frames.series(self.record)

    @classmethod
    def parse(cls, text: str, source: str) -> Run:
        """Return the run in `text`; `source` names it in the error.

        Of a stored run, whose series are in a file beside it, only the record is looked at.

        Raises
        ------
        SojournError
            If it is not a run.
        """
        from sojourn import bounded, record_shape

        def refuse(why: str) -> NoReturn:
            message = f"{source} is not a run record: {why}"
            raise SojournError(message)

        plain = bounded.parse_json(text, refuse)
        if not isinstance(plain, dict):
            refuse("it is not a JSON object")
        _check_format(plain, source)
        try:
            record_shape.check_head(plain)
        except ValueError as error:
            refuse(str(error))
        if "stored" not in plain:
            record_shape.check_series(plain.get("series"), plain, source)
        run = Run(text=text)
        run.__dict__["_record"] = plain
        return run


class StoredRun(Run):
    """One finished run in a store: its summary is at hand, the rest is read when it is asked for, and let go again.

    Parameters
    ----------
    folder
        Its folder, named by the run's id.
    summary, seed
        As the record has them.
    voiced
        Whether it may have voice streams; without, its metrics need no more than the summary.
    """

    def __init__(self, *, folder: Path, summary: dict[str, Any], seed: int, voiced: bool = True) -> None:
        self.folder = folder
        self._summary = summary
        self._seed = seed
        self._voiced = voiced

    @property
    def id(self) -> str:
        """Its name in the store."""
        return self.folder.name

    @property
    def text(self) -> str:
        """The record, JSON."""
        return json.dumps(self.record, separators=(",", ":"))

    @property
    def record(self) -> dict[str, Any]:
        """The whole record; its series are read when they are asked for."""
        return read_head(self.folder).record

    @property
    def summary(self) -> dict[str, Any]:
        """As `Run.summary`."""
        return self._summary

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self._seed

    @property
    def voices(self) -> list[dict[str, Any]]:
        """As `Run.voices`."""
        return super().voices if self._voiced else []

    @property
    def series(self) -> pl.DataFrame:
        """All time series in long form, schema `sojourn.frames.SERIES_SCHEMA`."""
        from sojourn.series_file import read_series

        return read_series(self.folder, read_head(self.folder).stored)


@dataclass(frozen=True, kw_only=True)
class Head:
    """What `run.json` of a stored run holds: the record, and how to put its series back."""

    record: dict[str, Any]
    stored: dict[str, Any]


class _Record(dict[str, Any]):
    """A record whose series are read when they are asked for."""

    def __init__(self, head: dict[str, Any], folder: Path) -> None:
        super().__init__(head)
        self._folder = folder

    def __getitem__(self, key: str) -> Any:
        if key == "series":
            from sojourn.series_file import record_series

            return record_series(self._folder)
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if super().__contains__(key) else default

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        return ItemsView(self)

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        return ValuesView(self)

    def copy(self) -> dict[str, Any]:
        return {key: self[key] for key in self}

    def __eq__(self, other: object) -> bool:
        return self.copy() == other

    __hash__ = None


@lru_cache(maxsize=32)
def read_head(folder: Path) -> Head:
    """Return what `load_head` returns. The last few that were read are kept at hand."""
    return load_head(folder)


def load_head(folder: Path) -> Head:
    """Return what `run.json` of a stored run holds.

    Raises
    ------
    SojournError
        If the run is not whole.
    """
    from sojourn import bounded, record_shape

    def broken(why: str) -> NoReturn:
        message = f"run {folder} is not whole: {why}; move it away to have it run again"
        raise SojournError(message)

    try:
        size = (folder / "series.parquet").stat().st_size
        text = bounded.read_text(folder / "run.json")
    except OSError as error:
        broken(f"series.parquet: {error.strerror or error}")
    except SojournError as error:
        broken(str(error))
    plain = bounded.parse_json(text, lambda why: broken(f"run.json {why.removeprefix('it ')}"))
    if not isinstance(plain, dict) or "stored" not in plain:
        broken("run.json is not the record of a stored run")
    _check_format(plain, str(folder / "run.json"))
    stored = plain.pop("stored")
    try:
        record_shape.check_stored(stored)
        record_shape.check_head(plain)
    except ValueError as error:
        broken(f"of run.json {error}")
    if size != stored["bytes"]:
        broken(f"series.parquet has {size} bytes, but must have {stored['bytes']}")
    cost = plain.pop("cost", None)
    plain |= {"series": None, "cost": cost}
    return Head(record=_Record(plain, folder), stored=stored)


def _check_format(plain: dict[str, Any], source: str) -> None:
    from sojourn.shape import shown

    if plain.get("format") != RUN_FORMAT:
        message = f"{source} has format {shown(plain.get('format'))}, but must have {RUN_FORMAT!r}"
        raise SojournError(message)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The repeats of one discipline on one link.

    Attributes
    ----------
    link
        Rates, down before up, such as `"10/1"` (Mbit/s).
    qdisc
        The discipline as it was asked for.
    runs
        One for each seed, in order.
    """

    link: str
    qdisc: str
    runs: tuple[Run, ...]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several disciplines under the same experiment, repeated.

    Attributes
    ----------
    experiment
        Its name.
    cells
        One for each discipline (and link), in the order they were asked for.
    """

    experiment: str
    cells: tuple[Cell, ...]

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row for each run, schema `sojourn.frames.RUN_SCHEMA`."""
        from sojourn import frames

        return frames.runs(self.cells)

    @cached_property
    def summary(self) -> pl.DataFrame:
        """Mean, median and 95 % interval of each metric, schema `sojourn.stats.paired.SUMMARY_SCHEMA`."""
        from sojourn import stats

        return stats.summarise(self.runs)

    @cached_property
    def pairs(self) -> pl.DataFrame:
        """Paired differences of each two disciplines, schema `sojourn.stats.paired.PAIR_SCHEMA`."""
        from sojourn import stats

        return stats.compare_pairs(self.runs)

    def to_json(self) -> str:
        """Return the comparison as one JSON object, format `sojourn-compare/1`; the records are left out."""
        first = self.cells[0].runs[0].record
        body = {
            "format": "sojourn-compare/1",
            "experiment": self.experiment,
            "backend": first["backend"],
            "seeds": [run.seed for run in self.cells[0].runs],
            "disciplines": [self._discipline(cell) for cell in self.cells],
            "differences": self.pairs.drop("link").to_dicts(),
        }
        return json.dumps(body)

    def _discipline(self, cell: Cell) -> dict[str, Any]:
        import polars as pl

        rows = self.summary.filter((pl.col("qdisc") == cell.qdisc) & (pl.col("link") == cell.link))
        scenario = cell.runs[0].record["scenario"]
        return {
            "qdisc": cell.qdisc,
            "link": cell.link,
            "qdisc_up": scenario["qdisc_up"],
            "qdisc_down": scenario["qdisc_down"],
            "summary": {row.pop("metric"): row for row in rows.drop("link", "qdisc").to_dicts()},
            "runs": [{"seed": run.seed, "summary": run.summary} for run in cell.runs],
        }


def voices_in(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a record says of each voice stream."""
    return [probe for probe in record["probes"] if probe.get("kind") == "voip"]


def links(cells: Iterable[Cell]) -> list[str]:
    """Return the links of the cells, each once, in order of appearance."""
    return list(dict.fromkeys(cell.link for cell in cells))


def link_name(down: str, up: str) -> str:
    """Return how a link is called: `10/1` if both rates are in Mbit/s, else as they are spelled."""
    short = [rate.lower().removesuffix("mbit") for rate in (down, up)]
    return "/".join(short if all(part.replace(".", "").isdigit() for part in short) else (down, up))


def link_words(link: str) -> str:
    """Return a link's name with its unit."""
    return f"{link} Mbit/s" if set(link) <= set("0123456789./") else link


def gather(labels: Sequence[tuple[str, str]], records: Sequence[Run]) -> tuple[Cell, ...]:
    """Group runs into cells; `labels` holds the (link, qdisc) of each run."""
    grouped: dict[tuple[str, str], list[Run]] = {}
    for label, run in zip(labels, records, strict=True):
        grouped.setdefault(label, []).append(run)
    return tuple(Cell(link=link, qdisc=qdisc, runs=tuple(runs)) for (link, qdisc), runs in grouped.items())
