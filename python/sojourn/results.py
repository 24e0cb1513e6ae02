"""What runs return: a run, and runs side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sojourn.errors import SojournError

if TYPE_CHECKING:
    import polars as pl

RUN_FORMAT = "sojourn-run/1"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One finished run.

    Attributes
    ----------
    text
        The record as the compiled part wrote it, JSON.
    """

    text: str

    @cached_property
    def record(self) -> dict[str, Any]:
        """The whole record."""
        record = json.loads(self.text)
        assert isinstance(record, dict)
        return record

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

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row for each flow, schema `sojourn.frames.FLOW_SCHEMA`."""
        from sojourn import frames

        return frames.flows(self.record)

    @cached_property
    def series(self) -> pl.DataFrame:
        """All time series in long form, schema `sojourn.frames.SERIES_SCHEMA`."""
        from sojourn import frames

        return frames.series(self.record)

    @classmethod
    def parse(cls, text: str, source: str) -> Run:
        """Return the stored run in `text`; `source` names it in the error.

        Raises
        ------
        SojournError
            If it is not a run.
        """
        run = cls(text=text)
        try:
            found = run.record.get("format")
        except (ValueError, AssertionError) as error:
            message = f"{source} is not a run record: it is not a JSON object"
            raise SojournError(message) from error
        if found != RUN_FORMAT:
            message = f"{source} has format {found!r}, but must have {RUN_FORMAT!r}"
            raise SojournError(message)
        return run


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


def links(cells: Iterable[Cell]) -> list[str]:
    """Return the links of the cells, each once, in order of appearance."""
    return list(dict.fromkeys(cell.link for cell in cells))


def link_name(down: str, up: str) -> str:
    """Return how a link is called: `10/1` if both rates are in Mbit/s, else as they are spelled."""
    short = [rate.lower().removesuffix("mbit") for rate in (down, up)]
    return "/".join(short if all(part.replace(".", "").isdigit() for part in short) else (down, up))


def link_words(link: str) -> str:
    """Return a link's name with its unit."""
    return link if "bit" in link else f"{link} Mbit/s"


def gather(labels: Sequence[tuple[str, str]], records: Sequence[Run]) -> tuple[Cell, ...]:
    """Group runs into cells; `labels` holds the (link, qdisc) of each run."""
    grouped: dict[tuple[str, str], list[Run]] = {}
    for label, run in zip(labels, records, strict=True):
        grouped.setdefault(label, []).append(run)
    return tuple(Cell(link=link, qdisc=qdisc, runs=tuple(runs)) for (link, qdisc), runs in grouped.items())
