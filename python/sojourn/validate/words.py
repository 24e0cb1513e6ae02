"""The report of one validation in Markdown, and the tables that the document shares with it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sojourn import tables
from sojourn.store.cell import link_words
from sojourn.validate import bars, errors, groups, ranks, wifi_words
from sojourn.validate.execute import KERNEL, SIM, TITLES
from sojourn.validate.part import Counts, Entry, Part
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
        *([] if is_drawn(part) else [counts_table([part])]),
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
    if not is_drawn(part):
        return RULES
    bars_of = of_part(part.name).bars
    return _DRAWN_RULES.format(least_ms=bars_of.least_ms, least_marks=errors.LEAST_MARKS, bars=bars_of.words)


def is_drawn(part: Part) -> bool:
    """Whether a part is of drawn scenarios."""
    return any(entry["bar_is"] == "below" for entry in part.entries)


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
    return _drawn(part, level, most_rows) if is_drawn(part) else _grid(part, level)


def terminal(part: Part) -> str:
    """Return what the command prints: the judged cells and the counts."""
    blocks = []
    entries = [entry for entry in part.judged if entry["bar_is"] != "below"]
    if wifi_words.is_cells(part):
        blocks.append(wifi_words.table(part, markdown=False))
    elif entries:
        rows = [[entry["scenario"], entry["title"], *judged_cells(entry)] for entry in entries]
        blocks.append(tables.text(["scenario", "metric", *_judged_heads(entries)], rows, left=2))
    if is_drawn(part):
        rows = [quantile_cells(entry) for entry in quantiles(part)]
        blocks += [tables.text(_QUANTILE_HEADS, rows), _worst(part, tables.text)]
    else:
        blocks.append(counts_table([part], markdown=False))
    return "\n\n".join(blocks)


def judged_cells(entry: Entry) -> list[str]:
    """Return kernel, simulator, ratio, difference, bar and verdict of an entry."""
    digits = entry["digits"]
    sides = [
        tables.interval(entry[side], entry[f"{side}_low"], entry[f"{side}_high"], digits) for side in _sides(entry)
    ]
    if entry["difference"] is None:
        gap = "-"
    else:
        gap = tables.interval(entry["difference"], entry["difference_low"], entry["difference_high"], digits)
    verdict = entry["verdict"] + (f" ({entry['reason']})" if entry["reason"] else "")
    return [*sides, tables.number(entry["ratio"], 3), gap, _bar(entry), verdict]


def quantile_cells(entry: Entry) -> list[str]:
    """Return what, value, the same of the simulator against itself, bar and verdict of a quantile."""
    keys = ("value", "low", "high", "itself")
    value, low, high, itself = (None if entry.get(key) is None else 100 * entry[key] for key in keys)
    bar = f"below {100 * entry['bar']:g}"
    return [entry["title"], tables.interval(value, low, high, 1), tables.number(itself, 1), bar, entry["verdict"]]


def not_judged(part: Part, *, level: int) -> list[str]:
    """Return the tables of what is shown only: means, kernel / simulator, a table for each direction."""
    shown = [entry for entry in part.entries if entry["verdict"] == bars.NOT_JUDGED and entry["bar_is"] is None]
    if not shown or wifi_words.is_cells(part):
        return []
    means = " / ".join(TITLES[side] for side in _sides(shown[0]))
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
        by_metric.setdefault(entry["metric"], []).append(entry)
    for entries in by_metric.values():
        first = entries[0]
        counted = Counts.of(entries)
        blocks.append(f"{'#' * level} {part.name}: {first['title']}, {first['unit']}")
        blocks.append(f"{counted.agrees} of {counted.cells} within the bar, {counted.surely} surely.")
        rows = [[link_words(entry["link"]), entry["qdisc"], *judged_cells(entry)] for entry in entries]
        blocks.append(tables.markdown(["link", "qdisc", *_judged_heads(entries)], rows, left=2))
    return blocks


def quantiles(part: Part) -> list[Entry]:
    """Return the judged quantiles of drawn scenarios."""
    return [entry for entry in part.judged if entry["bar_is"] == "below"]


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
    runs = len(part.ranks[0]["counts"]) - 1
    heads = ["scenarios by place", "below all", *map(str, range(1, runs)), "above all", "p"]
    return [
        f"{'#' * level} {part.name}: the kernel's run among the simulator's",
        f"Each scenario's first run on the kernel is put among its {runs} simulated runs, by value. If it is like\n"
        "one more run of the simulator, each place is as likely. p is the probability of counts that are at least as\n"
        "uneven (χ² test). A model's error makes the counts uneven; the noise of single runs does not.",
        tables.markdown(heads, [ranks.cells(one) for one in part.ranks]),
    ]


def _scenarios_table(part: Part) -> str:
    each = [entry for entry in part.entries if "relative_error" in entry and entry["bar_is"] is not None]
    by_scenario: dict[str, dict[str, Entry]] = {}
    for entry in each:
        by_scenario.setdefault(entry["scenario"], {})[entry["metric"]] = entry
    titles = {entry["metric"]: f"{entry['title']}, {entry['unit']}" for entry in each}
    heads = ["scenario", "link", "RTT", "flows up, down", "qdisc up"]
    heads += [word for title in titles.values() for word in (title, "error")]
    table = []
    for name, entries in by_scenario.items():
        cells = [name, *_what(json.loads(part.scenarios[name]))]
        for metric in titles:
            cells += _pair(entries.get(metric))
        table.append(cells)
    return tables.markdown(heads, table, left=5)


def _what(scenario: Mapping[str, Any]) -> list[str]:
    flows = scenario["flows"]
    each = [str(sum(flow["direction"] == way for flow in flows)) for way in ("up", "down")]
    cc = "+".join(_controls(flows)) or "-"
    return [
        f"{scenario['down']} / {scenario['up']}",
        scenario["rtt"],
        f"{', '.join(each)} {cc}",
        _shortened(scenario["qdisc_up"]),
    ]


def _shortened(text: str) -> str:
    """Return a text that a table's cell can hold: the middle of a long one is left out."""
    half = _LONGEST_CELL // 2 - 3
    return text if len(text) <= _LONGEST_CELL else f"{text[:half]} ... {text[-half:]}"


def _controls(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted({flow["congestion_control"] for flow in flows})


def _pair(entry: Entry | None) -> list[str]:
    if entry is None:
        return ["-", "-"]
    error = entry["relative_error"]
    return [_both_means(entry), "-" if error is None else f"{100 * error:.1f} %"]


def _both_means(entry: Entry) -> str:
    return " / ".join(tables.number(entry[side], entry["digits"]) for side in _sides(entry))


def _sides(entry: Entry) -> tuple[str, str]:
    """Return the back ends of an entry: the one that judges, and the one that is judged."""
    judged, by = entry.get("pair", (SIM, KERNEL))
    return by, judged


def _judged_heads(entries: Sequence[Entry]) -> list[str]:
    sides = _sides(entries[0])
    return [*(TITLES[side] for side in sides), "ratio", "difference", "bar", "verdict"]


_WORST_HEADS = ("the worst", "metric", "error", "of itself, up to")


def _worst(part: Part, table: Table) -> str:
    rows = [
        [one["scenario"], one["title"], _per_cent(one["error"]), _per_cent(one.get("itself", 0.0))]
        for one in part.worst
    ]
    return table(_WORST_HEADS, rows, left=2)


def _worst_scenarios(part: Part) -> str:
    """Return the same with what each scenario is, and both means."""
    by_name = {(entry["scenario"], entry["title"]): entry for entry in part.entries if "relative_error" in entry}
    rows = []
    for one in part.worst:
        means = _both_means(by_name[one["scenario"], one["title"]])
        what = _what(json.loads(part.scenarios[one["scenario"]]))
        errors_of = (_per_cent(one["error"]), _per_cent(one.get("itself", 0.0)))
        rows.append([one["scenario"], one["title"], *errors_of, means, *what])
    heads = (*_WORST_HEADS, "kernel / simulator", "link", "RTT", "flows up, down", "qdisc up")
    return tables.markdown(heads, rows, left=2)


def _per_cent(error: float | None) -> str:
    return "infinite" if error is None else f"{100 * error:.1f} %"


def _bar(entry: Entry) -> str:
    if entry["bar"] is None:
        return "-"
    if entry["bar_is"] == "factor":
        return f"factor {entry['bar']:g}"
    return f"±{tables.number(entry['bar'], entry['digits'])}"


def _direction(entry: Entry) -> str:
    last = entry["metric"].rsplit("_", 1)[-1]
    return last if last in ("up", "down") else ""


def _means(entries: Sequence[Entry]) -> str:
    heads = {entry["metric"]: _head(entry) for entry in entries}
    by_cell: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        by_cell.setdefault(entry["scenario"], {})[entry["metric"]] = entry
    rows = []
    for name, there in by_cell.items():
        cells = [name]
        for metric in heads:
            cells.append(_both_means(there[metric]) if metric in there else "-")
        rows.append(cells)
    return tables.markdown(["scenario", *heads.values()], rows)


def _head(entry: Entry) -> str:
    return f"{entry['title']}, {entry['unit']}" if entry["unit"] else str(entry["title"])
