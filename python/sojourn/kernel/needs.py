"""What a bed and its load ask of a kernel, by the names that the kernel's modules have."""

from __future__ import annotations

#: Without these there is no bed: its links, its bottleneck, its delay.
ESSENTIAL = ("veth", "sch_tbf", "sch_netem")

#: Disciplines that can be put under the bottleneck, and what paths with different delays need.
OPTIONAL = (
    *("sch_prio", "cls_u32", "sch_fq_codel", "sch_codel", "sch_pie", "sch_sfq", "sch_red", "sch_cake", "sch_fq"),
    *("sch_fq_pie", "sch_htb", "sch_drr", "tcp_cubic", "tcp_bbr", "tcp_dctcp"),
)

ALL = ESSENTIAL + OPTIONAL


def without_essentials(lacks: tuple[str, ...]) -> tuple[str, ...]:
    """Return those that a kernel lacks and no bed can be without."""
    return tuple(name for name in lacks if name in ESSENTIAL)
