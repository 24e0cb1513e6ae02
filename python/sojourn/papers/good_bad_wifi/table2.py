"""The cells of seed 000's Table 2: voice packets lost, beside one TCP flow up and beside RRUL.

A row of the table is a claim. Its numbers are met within a factor of 2, those up to 0.05 % within a factor of 10
(a few packets of all runs), and those that the paper shows as no loss exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sojourn.papers.good_bad_wifi.evidence import DISCIPLINES, VOIP, VOIP_RRUL, Evidence
from sojourn.papers.good_bad_wifi.voip import loss, lost
from sojourn.papers.kit.verdict import Check, Judgement, all_of, exact, within

#: The table's columns, 1, 10 and 100 Mbit/s.
COLUMNS = ("10/1", "10/10", "100/100")
#: Percent, by cross traffic and discipline; 0 stands for the paper's dash.
ROWS: dict[tuple[str, str], tuple[float, float, float]] = {
    (VOIP, "pfifo_fast"): (0.88, 0.1, 0.0),
    (VOIP, "ared"): (7.95, 0.45, 0.002),
    (VOIP, "pie"): (2.75, 0.04, 0.002),
    (VOIP, "codel"): (6.46, 0.02, 0.002),
    (VOIP, "sfq"): (0.0, 0.0, 0.0),
    (VOIP, "fq_codel"): (0.0, 0.0, 0.0),
    (VOIP, "fq_nocodel"): (0.0, 0.0, 0.0),
    (VOIP_RRUL, "pfifo_fast"): (8.54, 0.2, 0.032),
    (VOIP_RRUL, "ared"): (26.33, 0.61, 0.019),
    (VOIP_RRUL, "pie"): (14.03, 0.44, 0.016),
    (VOIP_RRUL, "codel"): (10.6, 0.19, 0.004),
    (VOIP_RRUL, "sfq"): (0.42, 0.0, 0.0),
    (VOIP_RRUL, "fq_codel"): (0.04, 0.0, 0.0),
    (VOIP_RRUL, "fq_nocodel"): (0.0, 0.0, 0.0),
}
#: Up to this a number is a few packets (percent).
FEW_PERCENT = 0.05
FACTOR, FACTOR_OF_FEW = 2.0, 10.0
SHORT_NAMES = {VOIP: "1s", VOIP_RRUL: "rr"}


def row_is_met(experiment: str, qdisc: str, evidence: Evidence) -> Judgement:
    """Judge a row."""
    checks: list[Check] = []
    for link, stated in zip(COLUMNS, ROWS[experiment, qdisc], strict=True):
        what = f"{link}: voice lost under {qdisc}"
        if stated == 0:
            number = lost(evidence, link, qdisc, experiment)
            checks.append(exact(f"{what}, where the paper has no loss,", number, "=", 0, "packets"))
            continue
        factor = FACTOR if stated > FEW_PERCENT else FACTOR_OF_FEW
        values = loss(evidence, link, qdisc, experiment)
        checks += within(f"{what}, {stated:g} % in the paper,", values, stated / factor, stated * factor, "percent")
    return all_of(checks, note="factor 2, or 10 up to 0.05 %; no loss exactly")


JUDGES: dict[str, Callable[[Evidence], Judgement]] = {
    f"gbw-t2-{short}-{qdisc}": partial(row_is_met, experiment, qdisc)
    for experiment, short in SHORT_NAMES.items()
    for qdisc in DISCIPLINES
}
