"""A page of validations: the tables of several, what they say together first."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from sojourn import tables
from sojourn.files import write_file
from sojourn.validate import columns, wifi_words, words
from sojourn.validate.part import Part

#: A page has no table of each of so many drawn scenarios.
_MOST_ROWS = 50
#: Longer facts are items of a list and not cells of a table.
_LONGEST_CELL = 300
#: The longest line outside of a table.
_LONGEST_LINE = 120
#: A word of a command, with its quotes.
_WORD = re.compile(r"(?:'[^']*'|\S)+")
#: Facts that differ from one making to the next are not part of the page.
_PASSING = "cost"


def document(parts: Sequence[Part], command: str) -> str:
    """Return the page.

    - `parts`: in the order in which they are to be read.
    """
    grids = [part for part in parts if not part.is_drawn]
    drawn = [part for part in parts if part.is_drawn]
    blocks = [
        _title(parts),
        *([_counted(parts)] if grids else []),
        *_summary(grids, drawn),
        "## Rules",
    ]
    blocks += list(dict.fromkeys(words.rules(part) for part in (*grids, *drawn)))
    for part in (*grids, *drawn):
        blocks += [f"## {part.name}", _block(part.command), *words.body(part, level=3, most_rows=_MOST_ROWS)]
    about = [
        "What is compared and not judged, such as drops, is in `validate.md` in the folder of each part's results."
    ]
    blocks += ["## How it was made", _block(command), *(about if grids else []), _facts(parts)]
    return "\n\n".join(blocks) + "\n"


def _summary(grids: Sequence[Part], drawn: Sequence[Part]) -> list[str]:
    """Return the tables of all parts: of several kernels with a column for each."""
    if len(columns.kernels([*grids, *drawn])) == 1:
        return [
            *([words.counts_table(grids)] if grids else []),
            *(f"{part.name}:\n\n{words.quantiles_table(part)}" for part in drawn),
        ]
    blocks = []
    if grids:
        blocks += ["Cells within the bar, of how many, and in brackets surely:", columns.counts_table(grids)]
    for subject in dict.fromkeys(part.subject for part in drawn):
        blocks += [f"{subject}:", columns.quantiles_table([part for part in drawn if part.subject == subject])]
    return blocks


def _title(parts: Sequence[Part]) -> str:
    if all(wifi_words.is_cells(part) for part in parts):
        return "# Fidelity: Wi-Fi cells in the simulator against Linux's mac80211"
    if all(part.is_drawn for part in parts):
        return "# Trust: how far drawn scenarios in the simulator are from the Linux kernel"
    return "# Fidelity: the simulator against the Linux kernel"


def _counted(parts: Sequence[Part]) -> str:
    cells = all(wifi_words.is_cells(part) for part in parts)
    cell = "one load, one set of stations and one scheme" if cells else "one link and one discipline"
    return (
        f"A cell is {cell}. *Within the bar* counts the cells whose means are within it.\n"
        "*Surely* counts those of them whose whole interval is within it."
    )


def write(parts: Sequence[Part], command: str, page: Path) -> None:
    """Write the page, over what was there: it is made from results.

    Raises `SojournError` if the page cannot be written.
    """
    write_file(page, document(parts, command))


def _block(command: str) -> str:
    """Return a command as a block; a long one goes on behind a backslash, never within a word in quotes."""
    if len(command) + 4 <= _LONGEST_LINE:
        return f"    {command}"
    lines = ["   "]
    for word in _WORD.findall(command):
        if len(lines[-1]) + len(word) + 3 > _LONGEST_LINE:
            lines[-1] += " \\"
            lines.append("       ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


def _facts(parts: Sequence[Part]) -> str:
    """Return the facts of each part; one that all share is said once."""
    names = list(dict.fromkeys(name for part in parts for name in part.facts if not name.startswith(_PASSING)))
    shared: list[str] = []
    own: list[str] = []
    for name in names:
        values = {part.facts.get(name) for part in parts}
        (shared if len(values) == 1 else own).append(name)
    blocks = []
    if shared and parts:
        blocks.append(tables.markdown(("", ""), [[name, _fact(parts[0], name)] for name in shared], left=2))
    rows = [[part.name, *(_fact(part, name) for name in own)] for part in parts] if own else []
    if any(len(cell) > _LONGEST_CELL for row in rows for cell in row):
        items = [f"- {row[0]}: " + "; ".join(map(" ".join, zip(own, row[1:], strict=True))) for row in rows]
        fill = textwrap.TextWrapper(
            _LONGEST_LINE, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        blocks.append("\n".join(map(fill.fill, items)))
    elif rows:
        blocks.append(tables.markdown(["", *own], rows, left=len(own) + 1))
    return "\n\n".join(blocks)


def _fact(part: Part, name: str) -> str:
    """Return a fact of a part; which build a simulator was of is not for readers."""
    return part.facts.get(name, "-").partition(", build ")[0]
