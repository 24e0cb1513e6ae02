"""What the figures and tables of the rural study need besides `exhibits.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn.papers.kit.exhibits import Gallery
from sojourn.papers.rural.evidence import CODEL, DEFAULT, DROPTAIL, FQ_CODEL, NONE, SFQ, Cell, Evidence
from sojourn.papers.rural.quantities import VOCABULARY

_WORDS = {DROPTAIL: "DropTail", CODEL: "CoDel", FQ_CODEL: "FQ-CoDel", SFQ: "SFQ"}
_ENDS = {NONE: "", DEFAULT: " default"}


def _variables(evidence: Any) -> dict[str, Any]:
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
        "services": [{"label": label, **cell._asdict()} for label, cell in services.items()],
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


GALLERY = Gallery(paper="rural", vocabulary=VOCABULARY, variables=_variables, labels=_labels)
