"""`sojourn reproduce good-bad-wifi`: "The Good, the Bad and the WiFi"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sojourn import tables
from sojourn.papers.good_bad_wifi.evidence import Evidence
from sojourn.papers.good_bad_wifi.judges import JUDGES
from sojourn.papers.good_bad_wifi.plan import Gathering, WiredBed, plan
from sojourn.store.cell import links
from sojourn.store.claims import JudgedClaim
from sojourn.store.index import Results, write_index
from sojourn.study.cell import Cell
from sojourn.study.claims import Claim
from sojourn.study.reproduction import Reproduction, Request, gallery

if TYPE_CHECKING:
    from sojourn.report import Report
    from sojourn.store.folder import ResultFolder


def reproduction(request: Request) -> Reproduction[Cell, Evidence]:
    """Return the paper as a request has it."""
    bed = WiredBed.of(request, whole=request.parts is None, spared=not request.on_kernel)
    gathering = Gathering(bed)
    fair = "fairness" in bed.parts
    return Reproduction(
        plan=plan(bed),
        observe=gathering.observe,
        evidence=gathering.evidence,
        judge=JUDGES.judge,
        beside=_with_other_pairs,
        exhibits=gallery("good_bad_wifi", bed.parts),
        facts={"TCP": f"{bed.tcp}, CUBIC"},
        paper=request.paper if fair else replace(request.paper, repeats="{repeat} of each cell", long=""),
        keep=_keep,
        begin=_begin,
    )


def _with_other_pairs(claims: list[Claim], evidence: Evidence, _judged: list[JudgedClaim]) -> dict[str, dict[str, str]]:
    from sojourn.papers.good_bad_wifi import pairs

    return pairs.in_other_pairs(evidence, claims)


def _keep(folder: ResultFolder, shown: Report, evidence: Evidence) -> None:
    from sojourn import report

    comparison = evidence.comparison
    if not comparison.cells:
        return
    folder.write_frame("runs.parquet", comparison.runs)
    folder.write("table.csv", comparison.summary.write_csv())
    parts = [
        f"## {link} Mbit/s (down/up)\n\n{tables.markdown(report.headers(), report.table_rows(comparison, link))}\n"
        for link in links(comparison.cells)
    ]
    folder.write("table.md", "\n".join(parts))
    results = Results(
        title=shown.title, comparison=comparison, command=shown.command, paper=shown.reference, claims=shown.claims
    )
    write_index(folder, results)


def _begin(evidence: Evidence) -> list[str]:
    from sojourn import report

    comparison = evidence.comparison
    return [
        f"{link} Mbit/s (down/up)\n{tables.text(report.headers(), report.table_rows(comparison, link))}"
        for link in links(comparison.cells)
    ]
