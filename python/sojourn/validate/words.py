"""The report of one validation in Markdown, and the tables that the document shares with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from sojourn import tables
from sojourn.store.cell import link_words
from sojourn.validate import errors, groups, ranks, wifi_words
from sojourn.validate.entry import DrawnScenario, Entry
from sojourn.validate.execute import TITLES
from sojourn.validate.part import Counts, Part
from sojourn.validate.populations import of_part

#: How values become means and intervals, and what the three verdicts mean.
VERDICTS = """\
A value is the mean over the runs, with its 95 % interval. A value *agrees* if the two means differ by no more than the
bar. It *differs* if the whole 95 % interval of the difference is outside the bar. In all other cases one *cannot tell*.
"Surely" counts the values whose whole interval is within the bar."""

#: What a verdict means; the same words in every report.
RULES = f"""\
{VERDICTS}

These are the bars:

- Mean latency is that of the probes, or of the voice call in one direction. The delay of the empty path is subtracted.
  The bar is 10 % of the kernel's latency or 1 ms, whichever is larger.
- The goodput of each direction has a bar of 2 %.
- Voice loss has a bar of a factor of 1.5. It also agrees if both losses are below what the packets resolve.
- Each flow's share has a bar of 10 % of the total, where the round-trip times differ.
- The page fetch time has a bar of 10 %.

The intervals are bootstrap intervals. Below six runs they are Student's. The interval of a loss is never narrower than
Poisson's. The interval of a difference combines both intervals (MOVER: Zou and Donner 2008)."""

_DRAWN_RULES = """\
The relative error is |simulator - kernel| / kernel, of the means over the runs. For latency the divisor is at least
{least_ms:g} ms; for marks it is at least {least_marks:g} packets. Marks have no bar here.
{bars}
Each error includes the noise of the means. "Of itself" is what the simulator's errors are if some of its own runs, as
many as the kernel has, take the place of the kernel's. An error as large as that is not the model's. Links, paths,
loads and disciplines are drawn as `sojourn.validate.draw` says."""

#: Most characters of a table's cell.
_LONGEST_CELL = 280


def report(part: Part, figures: Sequence[str]) -> str:
    """Return the report of one validation."""
    blocks = [
        f"# Validation: {part.name}",
        f"Made by\n\n    {part.command}",
        tables.markdown(("", ""), list(part.facts.items()), left=2),
        *([] if part.is_drawn else [counts_table([part])]),
        rules(part),
        *body(part, level=2),
        *not_judged(part, level=2),
    ]
    if figures:
        blocks.append("## Figures")
        blocks += [f"![{name}](figures/{name}.png)" for name in figures]
    return "\n\n".join(blocks) + "\n"


def rules(part: Part) -> str:
    """Return what a verdict means in a part."""
    if wifi_words.is_cells(part):
        return f"{wifi_words.RULES}\n\n{VERDICTS}"
    if not part.is_drawn:
        return RULES
    bars_of = of_part(part.name).bars
    return _DRAWN_RULES.format(least_ms=bars_of.least_ms, least_marks=errors.LEAST_MARKS, bars=bars_of.words)


def counts_table(parts: Iterable[Part], *, markdown: bool = True) -> str:
    """Return how many cells of which metric have which verdict."""
    heads = ("", "metric", "cells", "within the bar", "surely", "differs", "cannot tell")
    rows = [
        [part.name, title, *map(str, (one.cells, one.agrees, one.surely, one.differs, one.cannot_tell))]
        for part in parts
        for title, one in part.counts().items()
    ]
    return (tables.markdown if markdown else tables.text)(heads, rows, left=2)


def quantiles_table(part: Part) -> str:
    """Return the quantiles of the relative errors of drawn scenarios."""
    return tables.markdown(_QUANTILE_HEADS, [quantile_cells(entry) for entry in quantiles(part)])


def body(part: Part, *, level: int, most_rows: float = math.inf) -> list[str]:
    """Return the judged tables of a part, with headings of a level.

    Of more drawn scenarios than `most_rows` there is no table of each.
    """
    if wifi_words.is_cells(part):
        return wifi_words.body(part, level)
    return _drawn(part, level, most_rows) if part.is_drawn else _grid(part, level)


def terminal(part: Part) -> str:
    """Return what the command prints: the judged cells and the counts."""
    blocks = []
    entries = [entry for entry in part.judged if not entry.is_quantile]
    if wifi_words.is_cells(part):
        blocks.append(wifi_words.table(part, markdown=False))
    elif entries:
        rows = [[entry.scenario, entry.title, *judged_cells(entry)] for entry in entries]
        blocks.append(tables.text(["scenario", "metric", *_judged_heads(entries)], rows, left=2))
    if part.is_drawn:
        rows = [quantile_cells(entry) for entry in quantiles(part)]
        blocks += [tables.text(_QUANTILE_HEADS, rows), _worst(part, tables.text)]
    else:
        blocks.append(counts_table([part], markdown=False))
    return "\n\n".join(blocks)


def judged_cells(entry: Entry) -> list[str]:
    """Return kernel, simulator, ratio, difference, bar and verdict of an entry."""
    *sides, gap = (_interval(entry, name) for name in (*entry.sides, "difference"))
    verdict = entry.verdict + (f" ({entry.reason})" if entry.reason else "")
    return [*sides, tables.number(entry.number("ratio"), 3), gap, _bar(entry), verdict]


def _interval(entry: Entry, name: str) -> str:
    value, low, high = (entry.number(f"{name}{end}") for end in ("", "_low", "_high"))
    return tables.interval(value, low, high, entry.digits)


def quantile_cells(entry: Entry) -> list[str]:
    """Return what, value, the same of the simulator against itself, bar and verdict of a quantile."""
    numbers = [entry.number(key) for key in ("value", "low", "high", "itself")]
    value, low, high, itself = (None if number is None else 100 * number for number in numbers)
    bar = f"below {100 * (entry.bar or 0.0):g}"
    return [entry.title, tables.interval(value, low, high, 1), tables.number(itself, 1), bar, entry.verdict]


def not_judged(part: Part, *, level: int) -> list[str]:
    """Return the tables of what is shown only: means, kernel / simulator, a table for each direction."""
    shown = [entry for entry in part.entries if not entry.is_judged and entry.bar_is is None]
    if not shown or wifi_words.is_cells(part):
        return []
    means = " / ".join(TITLES[side] for side in shown[0].sides)
    blocks = [f"{'#' * level} {part.name}: not judged", f"Means over the runs, {means}."]
    for way in ("up", "down", ""):
        of_way = [entry for entry in shown if _direction(entry) == way]
        if of_way:
            blocks.append(_means(of_way))
    return blocks


#: `tables.text` or `tables.markdown`.
Table = Callable[..., str]

_QUANTILE_HEADS = ("relative error", "% [95 % interval]", "of itself, %", "bar", "verdict")


def _grid(part: Part, level: int) -> list[str]:
    blocks = []
    by_metric: dict[str, list[Entry]] = {}
    for entry in part.judged:
        by_metric.setdefault(entry.metric, []).append(entry)
    for entries in by_metric.values():
        first = entries[0]
        counted = Counts.of([entry] for entry in entries)
        blocks.append(f"{'#' * level} {part.name}: {first.title}, {first.unit}")
        blocks.append(f"{counted.agrees} of {counted.cells} within the bar, {counted.surely} surely.")
        rows = [[link_words(entry.link), entry.qdisc, *judged_cells(entry)] for entry in entries]
        blocks.append(tables.markdown(["link", "qdisc", *_judged_heads(entries)], rows, left=2))
    return blocks


def quantiles(part: Part) -> list[Entry]:
    """Return the judged quantiles of drawn scenarios."""
    return [entry for entry in part.judged if entry.is_quantile]


def _drawn(part: Part, level: int, most_rows: float) -> list[str]:
    blocks = [
        f"{'#' * level} {part.name}: errors",
        quantiles_table(part),
        *_ranks(part, level),
        *groups.blocks(part, level),
    ]
    if len(part.scenarios) <= most_rows:
        blocks += [f"{'#' * level} {part.name}: every scenario", "Means, kernel / simulator.", _scenarios_table(part)]
    return [
        *blocks,
        f"{'#' * level} {part.name}: the worst {len(part.worst)}",
        _worst_scenarios(part),
        "The same seed draws the same scenarios. `part.json` in the folder of the results has each of them whole,\n"
        "under `scenarios`.",
    ]


def _ranks(part: Part, level: int) -> list[str]:
    if not part.ranks:
        return []
    runs = len(part.ranks[0].counts) - 1
    heads = ["scenarios by place", "below all", *map(str, range(1, runs)), "above all", "p"]
    return [
        f"{'#' * level} {part.name}: the kernel's run among the simulator's",
        f"Each scenario's first run on the kernel is put among its {runs} simulated runs, by value. If it is like\n"
        "one more run of the simulator, each place is as likely. p is the probability of counts that are at least as\n"
        "uneven (χ² test). A model's error makes the counts uneven; the noise of single runs does not.",
        tables.markdown(heads, [ranks.cells(one) for one in part.ranks]),
    ]


def _scenarios_table(part: Part) -> str:
    by_scenario: dict[str, dict[str, Entry]] = {}
    for entry in part.errors:
        by_scenario.setdefault(entry.scenario, {})[entry.metric] = entry
    titles = {entry.metric: f"{entry.title}, {entry.unit}" for entry in part.errors}
    heads = ["scenario", "link", "RTT", "flows up, down", "qdisc up"]
    heads += [word for title in titles.values() for word in (title, "error")]
    table = []
    for name, entries in by_scenario.items():
        cells = [name, *_what(part.scenario(name))]
        for metric in titles:
            cells += _pair(entries.get(metric))
        table.append(cells)
    return tables.markdown(heads, table, left=5)


def _what(scenario: DrawnScenario) -> list[str]:
    each = [str(sum(flow.direction == way for flow in scenario.flows)) for way in ("up", "down")]
    return [
        f"{scenario.down} / {scenario.up}",
        scenario.rtt,
        f"{', '.join(each)} {'+'.join(scenario.controls) or '-'}",
        _shortened(scenario.qdisc_up),
    ]


def _shortened(text: str) -> str:
    """Return a text that a table's cell can hold: the middle of a long one is left out."""
    half = _LONGEST_CELL // 2 - 3
    return text if len(text) <= _LONGEST_CELL else f"{text[:half]} ... {text[-half:]}"


def _pair(entry: Entry | None) -> list[str]:
    if entry is None:
        return ["-", "-"]
    error = entry.number("relative_error")
    return [_both_means(entry), "-" if error is None else _per_cent(error)]


def _both_means(entry: Entry) -> str:
    return " / ".join(tables.number(entry.number(side), entry.digits) for side in entry.sides)


def _judged_heads(entries: Sequence[Entry]) -> list[str]:
    return [*(TITLES[side] for side in entries[0].sides), "ratio", "difference", "bar", "verdict"]


_WORST_HEADS = ("the worst", "metric", "error", "of itself, up to")


def _worst(part: Part, table: Table) -> str:
    rows = [[one.scenario, one.title, _per_cent(one.error), _per_cent(one.itself)] for one in part.worst]
    return table(_WORST_HEADS, rows, left=2)


def _worst_scenarios(part: Part) -> str:
    """Return the same with what each scenario is, and both means."""
    by_name = {(entry.scenario, entry.title): entry for entry in part.errors}
    rows = []
    for one in part.worst:
        means = _both_means(by_name[one.scenario, one.title])
        what = _what(part.scenario(one.scenario))
        errors_of = (_per_cent(one.error), _per_cent(one.itself))
        rows.append([one.scenario, one.title, *errors_of, means, *what])
    heads = (*_WORST_HEADS, "kernel / simulator", "link", "RTT", "flows up, down", "qdisc up")
    return tables.markdown(heads, rows, left=2)


def _per_cent(error: float | None) -> str:
    return "infinite" if error is None else f"{100 * error:.1f} %"


def _bar(entry: Entry) -> str:
    if entry.bar is None:
        return "-"
    if entry.bar_is == "factor":
        return f"factor {entry.bar:g}"
    return f"±{tables.number(entry.bar, entry.digits)}"


def _direction(entry: Entry) -> str:
    last = entry.metric.rsplit("_", 1)[-1]
    return last if last in ("up", "down") else ""


def _means(entries: Sequence[Entry]) -> str:
    heads = {entry.metric: _head(entry) for entry in entries}
    by_cell: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        by_cell.setdefault(entry.scenario, {})[entry.metric] = entry
    rows = []
    for name, there in by_cell.items():
        cells = [name]
        for metric in heads:
            cells.append(_both_means(there[metric]) if metric in there else "-")
        rows.append(cells)
    return tables.markdown(["scenario", *heads.values()], rows)


def _head(entry: Entry) -> str:
    return f"{entry.title}, {entry.unit}" if entry.unit else str(entry.title)
