"""The report of a comparison of two kernels or builds, for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn import tables
from sojourn.regress import verdict
from sojourn.regress.pair import Pair, Row
from sojourn.stats import Interval


def terminal(pair: Pair) -> str:
    """Return the table, what it counts, and how to read it."""
    return f"{_head(pair)}\n\n{tables.text(_headers(pair), _rows(pair), left=2)}\n\n{_note(pair)}"


def markdown(pair: Pair, figures: Sequence[str]) -> str:
    """Return the report; `figures` are the names of the files in `figures/`, without their endings."""
    pictures = "".join(f"\n![{name}](figures/{name}.svg)\n" for name in figures)
    return (
        f"# {pair.experiment}: {pair.labels[0]} and {pair.labels[1]}\n\n{_head(pair)}\n\n"
        f"{tables.markdown(_headers(pair), _rows(pair), left=2)}\n\n{_note(pair)}\n{pictures}\n"
        f"    {pair.command}\n"
    )


def _head(pair: Pair) -> str:
    runs = len(pair.seeds)
    seeds = f"seeds {pair.seeds[0]} to {pair.seeds[-1]}" if runs > 1 else f"seed {pair.seeds[0]}"
    names = " and ".join(
        f"{name} ({version})" if name != version else name
        for name, version in zip(pair.names, pair.versions, strict=True)
    )
    return f"{pair.experiment} on the {pair.kind.noun}s {names}, {seeds} on each"


def _headers(pair: Pair) -> tuple[str, ...]:
    return ("scenario", "metric", *pair.labels, "difference [95 %]", "verdict")


def _rows(pair: Pair) -> list[list[str]]:
    return [_row(row) for row in pair.rows]


def _row(row: Row) -> list[str]:
    digits = row.quantity.digits
    first, second = row.means()
    return [
        row.cell,
        row.quantity.heading,
        *("-" if one is None else tables.number(one.value, digits) for one in (first, second)),
        _interval(row.verdict.difference, digits),
        row.verdict.verdict,
    ]


def _interval(found: Interval | None, digits: int) -> str:
    return "-" if found is None else tables.interval(found.value, found.low, found.high, digits)


def _note(pair: Pair) -> str:
    counts = {name: sum(row.verdict.verdict == name for row in pair.rows) for name in verdict.VERDICTS}
    counted = ", ".join(f"{name}: {number}" for name, number in counts.items() if number)
    rule = (
        "no threshold was given, so any difference counts"
        if pair.threshold is None
        else f"a difference counts beyond {pair.threshold.text} of the first {pair.kind.noun}'s mean"
        if pair.threshold.share
        else f"a difference counts beyond {pair.threshold.text} in the metric's unit"
    )
    reasons = dict.fromkeys(row.verdict.reason for row in pair.rows if row.verdict.reason)
    because = "".join(f"\nCannot tell: {reason}." for reason in reasons)
    return (
        f"Of {len(pair.rows)} rows, {counted}. The difference is the second {pair.kind.noun}'s value less the first's, "
        f"seed by seed; {rule}.\n"
        f"A row differs if its interval at {100 * pair.level:.4g} % says so, at which {len(pair.rows)} rows together "
        f"have a false one in 5 % of cases.{because}"
    )
