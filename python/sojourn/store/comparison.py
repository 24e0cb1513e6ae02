"""Several disciplines side by side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from sojourn.bounds import Plain
from sojourn.store.cell import DisciplineRuns

if TYPE_CHECKING:
    from sojourn.frame_library import pl


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
    cells: tuple[DisciplineRuns, ...]

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row for each run, schema `sojourn.store.metrics.RUN_SCHEMA`."""
        from sojourn.store import metrics

        return metrics.runs(self.cells)

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
            "backend": first.backend,
            "seeds": [run.seed for run in self.cells[0].runs],
            "disciplines": [self._discipline(cell) for cell in self.cells],
            "differences": self.pairs.drop("link").to_dicts(),
        }
        return json.dumps(body)

    def _discipline(self, cell: DisciplineRuns) -> Mapping[str, Plain]:
        from sojourn.frame_library import pl

        rows = self.summary.filter((pl.col("qdisc") == cell.qdisc) & (pl.col("link") == cell.link))
        scenario = cell.runs[0].record.scenario
        return {
            "qdisc": cell.qdisc,
            "link": cell.link,
            "qdisc_up": scenario["qdisc_up"],
            "qdisc_down": scenario["qdisc_down"],
            "summary": {row.pop("metric"): row for row in rows.drop("link", "qdisc").to_dicts()},
            "runs": [{"seed": run.seed, "summary": msgspec.to_builtins(run.summary)} for run in cell.runs],
        }
