"""What the figures and tables of `exhibits.toml` are drawn of: measured numbers, and the runs of pairs of devices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sojourn.frame_library import pl
from sojourn.papers.good_bad_wifi import pairs, tables
from sojourn.papers.good_bad_wifi.evidence import Evidence
from sojourn.papers.good_bad_wifi.judges import JUDGES
from sojourn.papers.good_bad_wifi.measured import Measured
from sojourn.report.table import Table
from sojourn.study.exhibits import Gallery


@dataclass(frozen=True, kw_only=True)
class Material:
    """What there is to show.

    Attributes
    ----------
    measured, over_wifi
        The numbers of the wired links and of section 7.
    evidence
        All runs.
    """

    measured: Measured = field(default_factory=Measured)
    over_wifi: Measured = field(default_factory=Measured)
    evidence: Evidence = field(default_factory=lambda: Evidence(cells={}))


def _wired(material: Material, name: str, page: str = "") -> Any:
    found = getattr(material.measured, name)
    return found.get(page, {}) if page else found


def _over_wifi(material: Material, name: str, page: str = "") -> Any:
    return _wired(Material(measured=material.over_wifi), name, page)


def _rrul(material: Material, link: str) -> pl.DataFrame:
    return material.measured.rrul.filter(pl.col("link") == link)


def _table(make: Callable[[Any], Table | None], whose: str, name: str, material: Material) -> Table | None:
    return make(getattr(getattr(material, whose), name))


GALLERY = Gallery(
    paper="good_bad_wifi",
    vocabulary=JUDGES.vocabulary,
    functions={
        "wired": _wired,
        "over_wifi": _over_wifi,
        "rrul": _rrul,
        "table1": lambda _: tables.table1(),
        "table2": partial(_table, tables.table2, "measured", "voip_loss"),
        "scores": partial(_table, tables.mos_table, "measured", "voip_mos"),
        "transients": partial(_table, tables.transient_table, "measured", "transient"),
        "table3": partial(_table, tables.table3, "over_wifi", "voip_loss"),
        "mechanisms": lambda material: pairs.mechanisms(material.evidence),
        "to_compare": lambda _: (pairs.TO_COMPARE,),
        "unstated": lambda material: pairs.unstated(material.evidence),
    },
)
