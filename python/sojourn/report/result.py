"""What came of results, in a sentence or two with their numbers: a report begins with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sojourn.report.exhibit import Exhibit, verdicts
from sojourn.stats import Interval
from sojourn.store.cell import link_words
from sojourn.store.claims import JudgedClaim

if TYPE_CHECKING:
    from sojourn.store.comparison import Comparison

_VERDICTS = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "cannot tell": ("cannot be told",) * 2}


def shown(found: Interval, unit: str = "") -> str:
    """Return a mean with its interval and its unit, with three digits."""
    ends = "" if found.low is None or found.high is None else f" [{_short(found.low)}, {_short(found.high)}]"
    return f"{_short(found.value)}{ends}{f' {unit}' if unit else ''}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def extremes(*quantities: tuple[str, Mapping[str, Interval], str]) -> str:
    """Return in a sentence where a quantity is least and where it is most, and what others are in the same places.

    - `quantities`: each as the sentence names it, its values by what they are of, and its unit. The first that has
      values is looked at; without any, there is no sentence.
    """
    there = [quantity for quantity in quantities if quantity[1]]
    if not there:
        return ""
    (what, found, unit), *others = there
    places = [choose(found, key=lambda name: found[name].value) for choose in (min, max)]
    if len(found) == 1:
        places.pop()
    values = [shown(found[place], unit) for place in places]
    sentence = f"The {what} is " + (
        f"{values[0]} with {places[0]}"
        if len(places) == 1
        else f"least with {places[0]}, {values[0]}, and most with {places[1]}, {values[1]}"
    )
    for also, beside, its_unit in others:
        numbers = [_short(beside[place].value) if place in beside else "-" for place in places]
        sentence += f"; the {also} {'there ' if len(places) > 1 else ''}is {' and '.join(numbers)} {its_unit}".rstrip()
    return f"{sentence}."


def intervals(rows: Iterable[Mapping[str, object]], name: str) -> dict[str, Interval]:
    """Return the intervals of rows with `n`, `mean`, `low` and `high`, by one of their keys; none without a mean."""
    return {
        str(row[name]): Interval(value=row["mean"], low=row["low"], high=row["high"], n=row["n"])  # type: ignore[arg-type]
        for row in rows
        if row["mean"] is not None
    }


def of_comparison(comparison: Comparison) -> str:
    """Return which disciplines induce least and most latency on the first link, and what they carry."""
    link = comparison.cells[0].link
    rows = [row for row in comparison.summary.to_dicts() if row["link"] == link]
    metrics = {"induced latency": ("induced_latency_ms", "ms"), "goodput down": ("goodput_down_mbit", "Mbit/s")}
    metrics["goodput up"] = ("goodput_up_mbit", "Mbit/s")
    sentence = extremes(
        *(
            (what, intervals((row for row in rows if row["metric"] == metric), "qdisc"), unit)
            for what, (metric, unit) in metrics.items()
        )
    )
    several = len({cell.link for cell in comparison.cells}) > 1
    return f"{link_words(link)}: {sentence[0].lower()}{sentence[1:]}" if several and sentence else sentence


def of_claims(claims: Sequence[JudgedClaim], exhibits: Sequence[Exhibit]) -> str:
    """Return how many claims have which verdict, and what became of one about the first figure."""
    counts = [(word, count) for word, count in verdicts(claims) if word in _VERDICTS]
    words = [f"{count} {_VERDICTS[word][count != 1]}" for word, count in counts]
    number = sum(count for _, count in counts)
    sentence = f"Of {number} claims {', '.join(words[:-1])} and {words[-1]}." if number != 1 else ""
    figured = next((one.among(claims) for one in exhibits if one.figures), [])
    valued = [one for one in (*figured, *claims) if one.value is not None and not one.by_construction]
    if not valued:
        return sentence
    first = next((one for one in valued if one.verdict != "cannot tell"), valued[0])
    says = first.says.strip().rstrip(".")
    return f"{sentence} \u201c{says}\u201d {_VERDICTS[first.verdict][0]}: {first.numbers}.".strip()


def of_records(axes: Sequence[str], exhibit: Exhibit) -> str:
    """Return where the first quantity of a table is least and most; its rows are cells with values on axes."""
    records = [] if exhibit.table is None else exhibit.table.records
    what = next((str(row["quantity"]) for row in records), "")
    rows = [row | {"cell": ", ".join(str(row[axis]) for axis in axes), "n": row["runs"]} for row in map(dict, records)]
    return extremes((what, intervals((row for row in rows if row["quantity"] == what), "cell"), ""))
