"""The regions of pages that are made of results: tables and blocks of Markdown."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

#: The longest line of a block.
LONGEST = 120


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column is words."""
    rule = [":--", *("--:" for _ in heads[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, rule, *rows))


def columns_of(text: str, columns: Sequence[str]) -> str:
    """Return tables of Markdown with some of their columns; a heading above one is bold."""
    shown: list[str] = []
    places: list[int] = []
    for line in text.splitlines():
        if line.startswith("## "):
            title, _, rest = line.removeprefix("## ").partition(" (")
            shown += [f"**{title}**" + (f" ({rest}" if rest else "")]
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if columns[0] in cells:
                places = [cells.index(name) for name in columns]
            shown.append("| " + " | ".join(cells[place] for place in places) + " |")
        else:
            shown.append(line)
    return "\n".join(shown).strip()


def claims_of(text: str, names: Sequence[str]) -> str:
    """Return lines of the command's table of claims, as a block."""
    claims = {claim["id"]: claim for claim in json.loads(text)}
    rows = [("claim", "verdict", "value [95 % interval]", "says")]
    for claim in (claims[name] for name in names):
        ends = "" if claim["low"] == claim["high"] else f" [{claim['low']:.4g}, {claim['high']:.4g}]"
        value = f"{claim['value']:.4g}{ends} {claim['unit']}".strip()
        rows.append((claim["id"], claim["verdict"], value, claim["says"]))
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    lines = ["    " + "  ".join([*(f"{row[i]:<{width}}" for i, width in enumerate(widths)), row[3]]) for row in rows]
    return "\n".join(line if len(line) <= LONGEST else f"{line[: LONGEST - 4]} ..." for line in lines)


def tuned(text: str) -> str:
    """Return what fresh seeds say of the setting that a search found, of the default, and of their difference."""
    plain = json.loads(text)
    metrics = {"utilisation": ("utilisation", 1.0, 4), "delay": ("delay (ms)", 1.0, 1)}
    metrics |= {"delay_p95": ("95th percentile (ms)", 1.0, 0), "fct": ("file (s)", 1e-3, 1)}

    def row(name: str, found: Mapping[str, Sequence[float]], sign: str = "") -> list[str]:
        shown = []
        for metric, (_, scale, digits) in metrics.items():
            mean, low, high = (f"{scale * end:{sign}.{digits}f}" for end in found[metric])
            shown.append(f"{mean} [{low}, {high}]")
        return [name, *shown]

    rows = []
    for name in ("best", "default"):
        one = plain["check"][name]
        setting = one["tc"].partition(" target ")[2].replace(" interval ", ", interval ")
        rows.append(row(f"{name}: target {setting}", {key: of[0]["mean"] for key, of in one["metrics"].items()}))
    less = {key: of["difference"] for key, of in plain["differences"]["default"].items()}
    return markdown(("", *(head for head, _, _ in metrics.values())), [*rows, row("best - default", less, "+")])


#: Of a map, at least so much of what the best carries, and at most so many times its delay.
CARRIES, TIMES = 0.93, 1.25


def mapped(text: str) -> str:
    """Return how near the rule of thumb, the rural setting and the default come to the best in the cells of a map."""
    cells = [row for row in csv.DictReader(text.splitlines()) if row["filled"] == "True"]
    names = {"the rule": "rule", "rural (65 ms, 300 ms)": "rural", "default (5 ms, 100 ms)": "default"}
    rows = []
    for words, name in names.items():
        share = [float(row[f"{name}_utilisation"]) / float(row["best_utilisation"]) for row in cells]
        times = [float(row[f"{name}_delay"]) / float(row["best_delay"]) for row in cells]
        carries = [one >= CARRIES for one in share]
        both = sum(one and time <= TIMES for one, time in zip(carries, times, strict=True))
        rows.append((words, f"{sum(carries)} of {len(cells)} cells", f"{min(share):.0%}", f"{both} of {len(cells)}"))
    heads = (f"carries at least {CARRIES:.0%} of the best", "the least it carries")
    return markdown(("", *heads, f"and delay at most {TIMES:g} times the best's"), rows).replace("%", " %")


def made_of(out: Path, region: Mapping[str, Any]) -> str:
    """Return the text of a region."""
    text = (out / region["from"]).read_text(encoding="utf-8")
    if "columns" in region:
        return columns_of(text, region["columns"])
    if "claims" in region:
        return claims_of(text, region["claims"])
    return {"tune.json": tuned, "map.csv": mapped}[region["from"]](text)
