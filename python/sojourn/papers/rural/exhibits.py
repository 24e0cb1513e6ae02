"""What the figures and tables of the rural study need besides `exhibits.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn.papers.rural.evidence import CODEL, DEFAULT, DROPTAIL, FQ_CODEL, NONE, SFQ, Evidence
from sojourn.papers.rural.quantities import QUANTITIES, VOCABULARY
from sojourn.study.cell import Cell, Observation
from sojourn.study.evidence import BySeed
from sojourn.study.exhibits import Gallery
from sojourn.study.rules import Variables

_WORDS = {DROPTAIL: "DropTail", CODEL: "CoDel", FQ_CODEL: "FQ-CoDel", SFQ: "SFQ"}
_ENDS = {NONE: "", DEFAULT: " default"}


def _round_trip(evidence: Evidence, cell: Cell, of: str) -> BySeed:
    """Return the round-trip time of the path with what is added to it, ms."""
    return {seed: cell.rtt + wait for seed, wait in evidence.by_seed(cell, QUANTITIES[of]).items()}


def _both(run: Observation) -> tuple[float, float] | None:
    """Return the file completion times of two downloads, s; `None` without one of them."""
    first, second = run.file_fct_s
    return None if first is None or second is None else (first, second)


def _variables(evidence: Any) -> Variables:
    """Return what the satellite path is, its cells, and how they look."""
    assert isinstance(evidence, Evidence)
    services = {_WORDS[cell.scheme] + _ENDS.get(cell.setting, " rural"): cell for cell in evidence.services()}
    looks = {
        label: ("pfifo" if one.scheme == DROPTAIL else one.scheme, one.setting == DEFAULT)
        for label, one in services.items()
    }
    return {
        "base": evidence.satellite.rtt_ms,
        "satellite": evidence.satellite.words(),
        "services": [{"label": label, **cell.settings} for label, cell in services.items()],
        "looks": looks,
    }


def _labels(cell: Cell) -> Mapping[str, str]:
    return {
        "experiment": cell.experiment,
        "scheme": cell.scheme,
        "target/interval": "-" if cell.setting.target == 0 else f"{cell.setting.target}/{cell.setting.interval}",
        "load": cell.load,
        "rtt_ms": f"{cell.rtt}" + (f", {cell.other_rtt}" if cell.other_rtt else ""),
    }


GALLERY = Gallery(
    paper="rural",
    vocabulary=VOCABULARY,
    quantities={
        "files": lambda run: run.files,
        "syn_dropped": lambda run: 100 * run.syn_dropped / max(run.syn_offered, 1),
        "monitored_fct": lambda run, mine: both[int(mine)] if (both := _both(run)) else None,
        "fct_ratio": lambda run, mine: both[int(mine)] / both[1 - int(mine)] if (both := _both(run)) else None,
    },
    series={"round_trip": _round_trip},
    variables=_variables,
    labels=_labels,
)
