"""The repeats of one discipline on one link, and what links are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sojourn.store.run import Run


@dataclass(frozen=True, kw_only=True)
class DisciplineRuns:
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


def links(cells: Iterable[DisciplineRuns]) -> list[str]:
    """Return the links of the cells, each once, in order of appearance."""
    return list(dict.fromkeys(cell.link for cell in cells))


def link_name(down: str, up: str) -> str:
    """Return how a link is called: `10/1` if both rates are in Mbit/s, else as they are spelled."""
    short = [rate.lower().removesuffix("mbit") for rate in (down, up)]
    return "/".join(short if all(part.replace(".", "").isdigit() for part in short) else (down, up))


def label_of(up: str, down: str) -> str:
    """Return what the disciplines of both directions are called together."""
    return up if up == down else f"{up} (up), {down} (down)"


def link_words(link: str) -> str:
    """Return a link's name with its unit."""
    return f"{link} Mbit/s" if set(link) <= set("0123456789./") else link


def gather(labels: Sequence[tuple[str, str]], records: Sequence[Run]) -> tuple[DisciplineRuns, ...]:
    """Group runs into cells; `labels` holds the (link, qdisc) of each run."""
    grouped: dict[tuple[str, str], list[Run]] = {}
    for label, run in zip(labels, records, strict=True):
        grouped.setdefault(label, []).append(run)
    return tuple(DisciplineRuns(link=link, qdisc=qdisc, runs=tuple(runs)) for (link, qdisc), runs in grouped.items())
