"""The page about a reproduced paper for the documentation, in Markdown, from the same results as the report."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from sojourn import plots, tables
from sojourn.files import write_file
from sojourn.report.exhibit import Exhibit, Report, elsewhere, verdict, verdicts
from sojourn.store.claims import JudgedClaim

#: The longest line of the page's prose; a row of a table is as long as it is.
LINE = 118


def document(report: Report, *, images: str, form: str = "webp") -> str:
    """Return the page.

    - `images`: folder of the figures, relative to the page.
    - `form`: the suffix of their files.
    """
    parts = [f"# {report.title}", *([_wrap(report.reference)] if report.reference else [])]
    if report.claims:
        counts = ", ".join(f"{count} {word}" for word, count in verdicts(report.claims))
        parts.append(f"Claims: {counts}; [the list](#claims).")
    parts += [_exhibit(exhibit, report.claims, images, form) for exhibit in _on_page(report)]
    parts += _claims(report) if report.claims else []
    parts += [
        "## Set-up",
        *(_wrap(paragraph) for paragraph in report.setup.split("\n\n")),
        "## How it was made",
        _command(report.command),
        tables.markdown(("", ""), [(name, _cell(value)) for name, value in report.facts], left=2),
    ]
    return "\n\n".join(parts) + "\n"


def write(report: Report, page: Path) -> list[Path]:
    """Write the page and, in a folder beside it that has its name, the figures; return the files.

    What is there is replaced: both are made from results. Raises `SojournError` if a file cannot be written.
    """
    folder = page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    written = [page]
    for figure in (figure for exhibit in _on_page(report) for figure in exhibit.figures):
        path = folder / f"{figure.name}.webp"
        write_file(path, plots.for_page(figure.png))
        written.append(path)
    write_file(page, document(report, images=folder.name))
    return written


_RULE = (
    "A claim holds if the whole 95 % interval of each of its comparisons is on the right side of the bound, fails if "
    "one is wholly on the wrong side, and cannot be told otherwise. The value is that of the comparison that decides."
)


_ELSEWHERE = (
    "Value, verdict and reason are of the declared world. The columns after the verdict are other worlds; `?` is "
    "cannot tell, and an empty place says that the claim was not judged there."
)

_SETTLED = "settled after results"
_ABOUT_SETTLED = "docs/explanation/readings.md has what was settled or changed after results had been seen."


def _on_page(report: Report) -> list[Exhibit]:
    return [exhibit for exhibit in report.exhibits if exhibit.on_page]


def _exhibit(exhibit: Exhibit, claims: tuple[JudgedClaim, ...], images: str, form: str) -> str:
    parts = [f"## {exhibit.title}"]
    parts += [_wrap(f"{exhibit.says} (Section {exhibit.section}.)")] if exhibit.section else []
    for figure in exhibit.figures:
        parts += [f"![{_plain(exhibit.title)}]({images}/{figure.name}.{form})", _wrap(figure.caption)]
    if exhibit.table is not None:
        parts += [exhibit.table.markdown(), _wrap(exhibit.table.note)]
    parts += [_wrap(paragraph) for paragraph in exhibit.paragraphs]
    about = exhibit.among(claims)
    if about:
        counts = [f"{count} {word}" for word, count in verdicts(about) if count]
        parts.append(f"Claims about it: {', '.join(counts)}.")
    return "\n\n".join(parts)


def _claims(report: Report) -> list[str]:
    """Return the table of the claims, and their reasons as a list."""
    beside = elsewhere(report.claims)
    names = [name for name, _ in beside]
    settled = [_SETTLED] if any(claim.settled for claim in report.claims) else []
    sections = any(claim.section for claim in report.claims)
    rows = []
    for place, claim in enumerate(report.claims):
        section = [claim.section] if sections else []
        head = (f"`{claim.id}`", *section, _cell(claim.says), claim.numbers, verdict(claim))
        also = [column[place] for _, column in beside] + ["yes" if claim.settled else "" for _ in settled]
        rows.append((*head, *also))
    heads = (
        "claim",
        *(["section"] if sections else []),
        report.claimed,
        "value [95 % interval]",
        "verdict",
        *names,
        *settled,
    )
    return [
        "## Claims",
        _wrap(_RULE),
        *([_wrap(_ELSEWHERE)] if names else []),
        *([_ABOUT_SETTLED] if settled else []),
        tables.markdown(heads, rows, left=len(heads)),
        "## Reasons",
        "\n".join(_reason(claim) for claim in report.claims),
    ]


def _reason(claim: JudgedClaim) -> str:
    """Return what decided a claim as an item of a list, with why below it."""
    measured, _, why = claim.reason.partition("why: ")
    items = [_item(f"`{claim.id}`: {_cell(measured.rstrip('; '))}", "- ")]
    return "\n".join([*items, *([_item(f"why: {_cell(why)}", "  - ")] if why else [])])


def _item(text: str, mark: str) -> str:
    return _wrap(text, mark, " " * len(mark))


def _cell(text: str) -> str:
    """Return text for a table's cell: no line break, and no mark of Markdown or HTML."""
    plain = " ".join(text.split())
    for mark, instead in (("\\", "\\\\"), ("<", "&lt;"), ("*", "\\*"), ("_", "\\_"), ("`", "\\`"), ("[", "\\[")):
        plain = plain.replace(mark, instead)
    return plain


def _wrap(text: str, first: str = "", other: str = "") -> str:
    """Return a paragraph in lines that an editor shows whole; none begins like an item of a list."""
    together = re.sub(r" (?=(?:[-+*#>]|\d+[.)]) )", "\0", text)
    wrapper = textwrap.TextWrapper(LINE, first, other, break_long_words=False, break_on_hyphens=False)
    return wrapper.fill(together).replace("\0", " ")


def _command(line: str) -> str:
    """Return a command as a block, with a long one broken before options."""
    rows = [""]
    for part in re.split(r" (?=--)", line):
        longer = f"{rows[-1]} {part}".strip()
        # Two columns are for the backslash.
        rows = [*rows[:-1], longer] if len(longer) <= LINE - 12 else [*rows, part]
    return " \\\n        ".join(["    " + rows[0], *rows[1:]])


def _plain(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")
