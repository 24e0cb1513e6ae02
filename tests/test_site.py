"""What the documents show works: commands, Python, files of experiments, links and the site that is made of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from sojourn.cli.main import build_parser
from tests import optional
from tests.blocks import SHELL, WHY_NOT, Block, blocks
from tests.conftest import Cli
from tests.records import Json
from tests.test_pages import REGISTRY
from tools import docs

ROOT = Path(__file__).parents[1]
MADE = {page.file for page in REGISTRY.values() if page.whole}
#: The blocks of each document that is a page of the site.
PAGES: dict[str, list[Block]] = {
    name: blocks(path, made=name in MADE)
    for name, path in sorted((path.relative_to(ROOT).as_posix(), path) for path in docs.sources(ROOT).values())
    if name.endswith(".md")
}
#: Blocks that no test runs, by the reason that they give. Whoever adds one changes the number.
NOT_RUN = {
    "captures": 1,
    "cluster": 2,
    "kernel": 16,
    "minutes": 20,
    "namespaces": 3,
    "part": 2,
    "root": 5,
    "setup": 35,
}
QUICK = [name for name, found in PAGES.items() if any(one.runs and one.mark != "slow" for one in found)]
SLOW = [name for name, found in PAGES.items() if any(one.runs and one.mark == "slow" for one in found)]


def run_blocks(name: str, found: list[Block], folder: Path, cli: Cli) -> int:
    """Run blocks of a page in a folder, one after the other; return how many.

    The pictures that they draw are on the page. With the variable SOJOURN_PICTURES they replace those of the page.
    """
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "images").mkdir()
    names: Json = {}
    count = 0
    for block in found:
        if block.mark == "file":
            (folder / block.value).write_text(block.text)
        if not block.runs:
            continue
        count += 1
        if block.kind == "python":
            exec(compile(block.text, f"line {block.line}", "exec"), names)
            continue
        for words in block.commands():
            assert words[0] == "sojourn", f"line {block.line}: say why no test runs {words[0]}: <!-- not run: WHY -->"
            cli(*(name for word in words[1:] for name in _matches(folder, word)))
    shown = (ROOT / name).parent / "images"
    for picture in (folder / "images").iterdir():
        if os.environ.get("SOJOURN_PICTURES"):
            shutil.copyfile(picture, shown / picture.name)
        assert (shown / picture.name).is_file(), picture.name
    return count


def _matches(folder: Path, word: str) -> list[str]:
    """Return what a shell makes of a word with an asterisk: the files that it matches."""
    found = [path.relative_to(folder).as_posix() for path in sorted(folder.glob(word))] if "*" in word else []
    return found or [word]


@pytest.mark.parametrize("name", QUICK)
def test_the_quick_blocks_of_a_page_run(name: str, inside: Cli, tmp_path: Path) -> None:
    assert run_blocks(name, [one for one in PAGES[name] if one.mark != "slow"], tmp_path, inside)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_all_blocks_of_a_page_run(name: str, inside: Cli, tmp_path: Path) -> None:
    assert run_blocks(name, PAGES[name], tmp_path, inside)


@pytest.mark.parametrize("name", [name for name, found in PAGES.items() if any(one.kind in SHELL for one in found)])
def test_each_command_is_understood(name: str) -> None:
    """Also of the blocks that no test runs: its options exist."""
    shown = [one for one in PAGES[name] if one.kind in SHELL and one.value != "part"]
    for words in (words for one in shown for words in one.commands()):
        if words[0].endswith("sojourn") and not {"COMMAND", "--help", "PAPER"} & set(words):
            assert build_parser().parse_args(words[1:]).command == words[1]


def test_each_block_that_is_not_run_says_why_and_is_counted() -> None:
    found = [one for each in PAGES.values() for one in each]
    assert {one.value for one in found if one.mark == "not run"} <= set(WHY_NOT)
    by_hand = Counter(one.value for one in found if one.mark == "not run" and one.value != "made")
    assert by_hand == NOT_RUN
    assert sum(one.runs for one in found) >= 30


def test_the_pages_of_the_site_have_no_link_that_leads_nowhere() -> None:
    files, broken = docs.site(ROOT)
    assert broken == []
    assert {"index.md", "reference/commands.md", "reference/disciplines.md", "scenario.md"} <= set(files)
    assert b"](tutorials/measure-bufferbloat.md)" in files["index.md"]
    assert b"sojourn tune" in files["reference/commands.md"]


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    for name in ("README", "DESIGN", "CONTRIBUTING", "PAPERS", "CHANGELOG"):
        (tmp_path / f"{name}.md").write_text("`[in](code.md)`\n\n    [in](code.md)\n\n[out](of.md)\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text(
        "# A\n[Home](../README.md#x), [b](b.md), [web](https://x.y), ![c](c.png), see docs/a.md\n"
    )
    files, broken = docs.site(tmp_path)
    assert files["a.md"].startswith(b"# A\n[Home](index.md#x), ")
    assert files["a.md"].endswith(b", see [A](a.md)\n")
    assert [sentence for sentence in broken if sentence.startswith(("docs/", "DESIGN"))] == [
        "DESIGN.md has a link to of.md, which is no page",
        "docs/a.md has a link to b.md, which is no page",
        "docs/a.md has a link to c.png, which is no page",
    ]


def test_every_page_is_in_the_navigation() -> None:
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    missing = [name for name in docs.site(ROOT)[0] if name.endswith(".md") and f"{name}\n" not in listed]
    assert missing == []


@pytest.mark.slow
def test_the_site_is_made_without_a_warning() -> None:
    if find_spec("mkdocs") is None or find_spec("mkdocstrings") is None:
        optional.SITE.skip("MkDocs is not installed")
    words = [sys.executable, "-m", "tools.docs"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    page = (ROOT / "out/site/index.html").read_text(encoding="utf-8")
    assert "Seven things that you can do" in page
    assert re.findall(r'(?:src|<link[^>]* href)="(?:https?:)?//[^"]*"', page) == []  # it loads nothing from a server


def test_marks_of_blocks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(
        "<!-- slow -->\n```sh\nsojourn list # all\n```\n\n"
        "    sojourn run a \\\n        --json\n\n    b\n\nx\n\n    no command\n\n"
        "<!-- made: t -->\n\n    sojourn list\n<!-- end -->\n\n<!-- not run: root -->\n\n    sojournd flush\n"
        '<!-- file: a.toml -->\n```toml\nx = "`"\n```\n'
    )
    found = [(one.kind, one.mark, one.value, one.runs) for one in blocks(path)]
    assert found == [
        ("sh", "slow", "", True),
        ("sh", "", "", True),
        ("", "", "", False),
        ("sh", "not run", "made", False),
        ("sh", "not run", "root", False),
        ("toml", "file", "a.toml", False),
    ]
    assert list(blocks(path)[0].commands()) == [["sojourn", "list"]]
    assert list(blocks(path)[1].commands()) == [["sojourn", "run", "a", "--json"], ["b"]]
    assert {one.runs for one in blocks(path, made=True)} == {False}
