"""Pages are for readers: results first, and neither cells of tables nor paragraphs that nobody reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools import docs

ROOT = Path(__file__).parents[1]
PAGES = sorted(path for path in docs.sources(ROOT).values() if path.suffix == ".md")
LONGEST_CELL, LONGEST_PARAGRAPH = 300, 12
#: How a page begins that speaks of its own making.
_BOOKKEEPING = re.compile(
    r"stale|page build|made (with|by|from)|written by|do not edit|.*laboratory notebook", re.IGNORECASE
)
_CODE = re.compile(r"^ *(`{3,}).*?^ *\1$|<!--.*?-->", re.MULTILINE | re.DOTALL)
#: A line that begins something of its own: a heading, an item of a list, a table's row, a block of code, a picture.
_BEGINS = re.compile(r"#|\s*([-*+]|\d+\.) |\||    |!\[|\[\^?[^\]]+\]: ")


def paragraphs(text: str) -> Iterator[list[str]]:
    """Yield the paragraphs and the items of lists of a page, as lines, without its code."""
    lines: list[str] = []
    for line in _CODE.sub("", text).splitlines():
        if not line.strip() or _BEGINS.match(line):
            yield lines
            lines = []
        if line.strip() and not line.startswith(("#", "|", "    ", "![")):
            lines.append(line)
    yield lines


def cells(text: str) -> Iterator[str]:
    """Yield the cells of a page's tables."""
    for line in _CODE.sub("", text).splitlines():
        if line.startswith("|"):
            yield from (cell.strip() for cell in re.split(r"(?<!\\)\|", line))


def faults(text: str) -> list[str]:
    """Return what a reader of a page would mind."""
    prose = [lines for lines in paragraphs(text) if lines]
    minds = [f"begins with {prose[0][0]!r}"] if prose and _BOOKKEEPING.match(prose[0][0].strip("* ")) else []
    minds += [f"a paragraph of {len(lines)} lines: {lines[0]}" for lines in prose if len(lines) > LONGEST_PARAGRAPH]
    return minds + [f"a cell of {len(cell)}: {cell[:60]}" for cell in cells(text) if len(cell) > LONGEST_CELL]


@pytest.mark.parametrize("path", PAGES, ids=[path.relative_to(ROOT).as_posix() for path in PAGES])
def test_a_page_is_for_readers(path: Path) -> None:
    assert faults(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# A\n\nStale: made with build 1; the sources have changed since.\n", "begins with 'Stale"),
        (
            "# A\n\n<!-- made: a -->\nMade with Sojourn 0.1.0 on 2026-11-20.\n<!-- end -->\n\nB\n",
            "begins with 'Made with",
        ),
        ("# A\n\n*A laboratory notebook, 22 November 2026.*\n", "begins with '*A laboratory"),
        (f"# A\n\nB\n\n| {'c' * 301} |\n", "a cell of 301"),
        ("# A\n\n" + "b\n" * 13, "a paragraph of 13 lines"),
        ("# A\n\n- a\n- " + "b\n" * 13, "a paragraph of 13 lines"),
    ],
)
def test_what_a_reader_would_mind_is_found(text: str, fault: str) -> None:
    (found,) = faults(text)
    assert found.startswith(fault)


def test_code_and_lists_are_no_paragraphs() -> None:
    text = "# A\n\n" + "- b\n" * 20 + "\n```text\n" + "c\n" * 20 + "```\n\n" + "    d\n" * 20 + f"\n| {'e' * 300} |\n"
    assert faults(text) == []


def test_the_documents_stay_small() -> None:
    """Whoever clones the repository gets them all: pictures of pages are drawn small (`sojourn.plots.for_page`)."""
    assert sum(path.stat().st_size for path in (ROOT / "docs").rglob("*") if path.is_file()) <= 4_194_304


def test_the_answer_about_the_kernel_is_that_of_the_tables() -> None:
    folder = ROOT / "docs/fidelity"
    page = (ROOT / "docs/fidelity.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .* \| (\d+) of (\d+) \| \[.*\]\(fidelity/([\w-]+\.md)\) \|$", page, re.MULTILINE)
    assert len(rows) == 16
    for within, cells_of, name in rows:
        text = (folder / name).read_text(encoding="utf-8")
        assert f"{within} of {cells_of}" in text or f"| {cells_of} | {within} |" in text, (within, cells_of, name)
    errors = re.findall(
        r"^\| (?:latency|goodput up|goodput down), [\w ]+ \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \| ([\d.]+) % \|$",
        page,
        re.MULTILINE,
    )
    assert len(errors) == 6
    drawn, by_discipline = (folder / "drawn.md").read_text(), (folder / "drawn-disciplines.md").read_text()
    for error, itself, other, other_itself in errors:
        assert re.search(rf"\| {error} \[[^|]*\] \| {itself} \|", drawn), error
        assert re.search(rf"\| {other} \[[^|]*\] \| {other_itself} \|", by_discipline), other
