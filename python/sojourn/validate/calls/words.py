"""The results for people."""

from __future__ import annotations

from collections.abc import Sequence

from sojourn import tables
from sojourn.validate.calls import shares
from sojourn.validate.calls.compare import Result


def terminal(results: Sequence[Result], averages: Sequence[shares.Result] = ()) -> str:
    """Return a table with a line for each discipline, and below it the first difference of each.

    - `averages`: of disciplines that draw random numbers: a table of its own.
    """
    head = ["discipline", "sequences", "agree", "packets", "dropped", "marked", "largest difference, ns"]
    rows = []
    for result in results:
        plain = result.to_plain()
        rows.append(
            [
                result.text,
                *(str(plain[name]) for name in ("sequences", "agree", "packets", "dropped", "marked", "apart_ns")),
            ]
        )
    parts = ["\n".join([tables.text(head, rows), *_differences(results)])] if results else []
    if averages:
        parts.append(_of_averages(averages))
    return "\n\n".join(parts)


def _of_averages(averages: Sequence[shares.Result]) -> str:
    head = ["discipline", "mean of a sequence", "kernel", "simulator", "difference", "verdict"]
    rows = []
    for result in averages:
        for share in result.shares:
            low, high = share.difference.low, share.difference.high
            ends = "" if low is None or high is None else f" ({low:.3g} to {high:.3g})"
            rows.append(
                [
                    result.text,
                    share.name,
                    f"{share.kernel:.2f}",
                    f"{share.simulator:.2f}",
                    f"{share.difference.value:.3g}{ends}",
                    share.verdict,
                ]
            )
    return tables.text(head, rows)


def _differences(results: Sequence[Result]) -> list[str]:
    lines = []
    for result in results:
        if result.first is not None:
            number, difference = result.first
            lines.append(f"{result.text}: sequence {number}: {difference}")
    return lines
