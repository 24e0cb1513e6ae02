"""Pages that are made from runs: each is of the sources that there are, or says that it is not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sojourn import papers
from sojourn.papers.kit.claims import Claim, load
from sojourn.papers.kit.document import document
from sojourn.report.exhibit import PaperReport
from tests import optional
from tools import carry_runs, pages

ROOT = Path(__file__).parents[1]
REGISTRY: dict[str, Any] = pages.registry(ROOT)


@pytest.mark.parametrize("name", REGISTRY)
def test_a_page_is_of_the_sources_or_says_that_it_is_not(name: str) -> None:
    found = pages.state(ROOT, REGISTRY[name])
    assert found.honest, (
        f"{REGISTRY[name].file} is stale and does not say so: make pages PAGES={name}, or python -m tools.pages --mark"
        if found.says_stale is False
        else f"{REGISTRY[name].file} says that it is stale, and is not: python -m tools.pages --mark"
    )


def test_every_page_of_results_is_in_the_registry() -> None:
    found = {*(ROOT / "docs").glob("*fidelity*.md")}
    found |= {*(ROOT / "docs/papers").glob("*.md"), ROOT / "docs/tuning.md", ROOT / "docs/demo.md"}
    found |= {ROOT / "docs/trust.md", ROOT / "docs/trust-disciplines.md", ROOT / "docs/l4s-map.md"}
    assert {ROOT / page.file for page in REGISTRY.values()} == found


def test_commands_go_into_folders_of_their_own_and_write_the_whole_page_or_none_of_it() -> None:
    for page in REGISTRY.values():
        assert page.whole == ("--document {page}" in page.commands[-1]), page.name
        assert page.whole != bool(page.regions), page.name
        assert all("--out {out}" in command for command in page.commands), page.name
        text = (ROOT / page.file).read_text(encoding="utf-8")
        assert all(f"<!-- made: {one['name']} -->" in text for one in page.regions), page.name
        assert all((ROOT / target).is_file() for target in page.copies.values()), page.name


TITLE = "# A page\n\nWhat it is about.\n"
PLAIN = """
[pages.whole]
file = "docs/whole.md"
whole = true
commands = [
    "sojourn reproduce wifi-next-steps --only qos --duration 1s --repeat 1 --out {out} --document {page}",
]
crates = ["units"]
folders = ["src"]

[pages.part]
file = "docs/part.md"
commands = ["sojourn tune codel --map --out {out}"]
folders = ["src"]

[[pages.part.regions]]
name = "table"
from = "map.csv"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a repository with two pages, sources of its own and the crates of this one."""
    for folder in ("docs/data", "src"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "crates").symlink_to(ROOT / "crates")
    (tmp_path / "docs/pages.toml").write_text(PLAIN)
    (tmp_path / "docs/whole.md").write_text(TITLE)
    (tmp_path / "docs/part.md").write_text(f"{TITLE}\n<!-- made: table -->\n<!-- end -->\n\nBy hand.\n")
    (tmp_path / "src/a.py").write_text("A = 1\n")
    return tmp_path


def state(root: Path, name: str) -> Any:
    return pages.state(root, pages.registry(root)[name])


def made(root: Path, name: str) -> None:
    """Have a page say that it is of the sources that there are."""
    page = pages.registry(root)[name]
    text = pages.put((root / page.file).read_text(), name, f"Page build `{state(root, name).now}`, 1 runs.")
    (root / page.file).write_text(text)


def test_a_stale_page_that_does_not_say_so_is_found_and_one_that_says_so_in_vain(root: Path) -> None:
    assert not state(root, "whole").honest  # it has no build at all
    made(root, "whole")
    assert (state(root, "whole").current, state(root, "whole").honest) == (True, True)
    (root / "src/a.py").write_text("A = 2\n")
    assert (state(root, "whole").current, state(root, "whole").honest) == (False, False)
    assert pages.main(["--mark"], root) == 0
    assert (state(root, "whole").current, state(root, "whole").honest) == (False, True)
    build = state(root, "whole").made
    assert (
        f"\nStale: made with build {build}; the sources have changed since.\n" in (root / "docs/whole.md").read_text()
    )
    (root / "src/a.py").write_text("A = 1\n")
    assert (state(root, "whole").current, state(root, "whole").honest) == (True, False)
    assert pages.main(["--mark"], root) == 0
    assert state(root, "whole").honest
    assert "Stale" not in (root / "docs/whole.md").read_text()
    assert f"Page build `{build}`" in (root / "docs/whole.md").read_text()


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "src/b.toml").write_text("b = 1\n"),
        lambda root: (root / "src/a.py").rename(root / "src/c.py"),
        lambda root: (root / "docs/pages.toml").write_text(PLAIN.replace("--repeat 1", "--repeat 2")),
        lambda root: (root / "docs/pages.toml").write_text(PLAIN.replace('["units"]', '["tcp"]')),
    ],
)
def test_a_new_file_another_name_command_or_crate_is_another_build(root: Path, change: Any) -> None:
    made(root, "whole")
    change(root)
    assert not state(root, "whole").current


def test_what_is_no_source_changes_nothing(root: Path) -> None:
    made(root, "whole")
    (root / "src/notes.md").write_text("notes\n")
    assert state(root, "whole").current


def test_only_what_is_between_marks_is_replaced(root: Path) -> None:
    path = root / "docs/part.md"
    path.write_text(pages.put(path.read_text(), "table", "| a |"))
    assert path.read_text() == f"{TITLE}\n<!-- made: table -->\n| a |\n<!-- end -->\n\nBy hand.\n"
    text = pages.put(path.read_text(), "part", "Page build `1`.")
    assert text.startswith("# A page\n\n<!-- made: part -->\nPage build `1`.\n<!-- end -->\n\nWhat it is about.\n")
    with pytest.raises(pages.Refused, match="there is no region 'x' to be made"):
        pages.put("no title\n", "x", "")


def test_a_page_is_made_once_and_takes_the_runs_that_are_there(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["whole", "--workers", "1"]
    assert pages.main(words, root) == 0
    assert "1 of 1 to make" in capfd.readouterr().err
    first = (root / "docs/whole.md").read_text()
    cost = json.loads((root / "docs/data/pages.json").read_text())["whole"]
    assert f"Page build `{state(root, 'whole').now}`, {cost['runs']} runs." in first
    assert cost["runs"] == 6
    assert "--out out/pages/whole" in first
    assert "--document docs/whole.md" in first
    assert "--workers" not in first
    assert str(root) not in first
    assert pages.main(words, root) == 0
    assert "0 of 1 to make" in capfd.readouterr().err
    (root / "src/a.py").write_text("A = 2\n")
    assert pages.main(["--list"], root) == 0
    assert "6 runs" in (listed := capfd.readouterr().out)
    assert "stale, changed: src; its head does not say so" in listed
    (store,) = (root / "out/pages/runs").glob("whole-*")
    before = {path: path.stat().st_mtime_ns for path in store.iterdir() if len(path.name) == 32}
    assert pages.main(words, root) == 0
    after = {path: path.stat().st_mtime_ns for path in store.iterdir() if len(path.name) == 32}
    assert before == after
    assert state(root, "whole").current


def _of_another_build(root: Path) -> Path:
    """Give the runs of the page `whole` the names that an earlier build would have given them."""
    (store,) = (root / "out/pages/runs").glob("whole-*")
    for run in [path for path in store.iterdir() if len(path.name) == 32]:
        head = run / "run.json"
        head.write_text(head.read_text().replace(run.name, run.name[::-1]))
        run.rename(store / run.name[::-1])
    mark = json.loads((store / "store.json").read_text())
    (store / "store.json").write_text(json.dumps(mark | {"build": "0" * 16}))
    spent = root / "out/pages/whole.json"
    of = json.loads(spent.read_text())["of"]
    spent.write_text(json.dumps({"of": ["0" * 16, of[1]], "seconds": 1.0}))
    return store.rename(store.with_name("whole-" + "0" * 16))


def test_runs_of_another_build_count_if_a_sample_of_them_is_the_same(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert pages.main(["whole", "--workers", "1"], root) == 0
    old = _of_another_build(root)
    names = {path.name[::-1] for path in old.iterdir() if len(path.name) == 32}
    assert carry_runs.main(["--sample", "2"], root) == 0
    (store,) = (root / "out/pages/runs").glob("whole-*")
    assert store.name == f"whole-{pages.extension_build()}"
    runs = {path.name: path.stat().st_mtime_ns for path in store.iterdir() if len(path.name) == 32}
    assert set(runs) == names
    capfd.readouterr()
    assert pages.main(["whole", "--workers", "1", "--again"], root) == 0
    assert {path.name: path.stat().st_mtime_ns for path in store.iterdir() if len(path.name) == 32} == runs
    assert (
        "6 of its runs were made with build `0000000000000000` of the simulator.\n"
        f"2 of them were drawn and made again with build `{pages.extension_build()}`: they are the same.\n"
    ) in (root / "docs/whole.md").read_text()
    assert state(root, "whole").current


def test_a_run_that_differs_stays_of_its_build(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert pages.main(["whole", "--workers", "1"], root) == 0
    old = _of_another_build(root)
    for run in [path for path in old.iterdir() if len(path.name) == 32]:
        head = run / "run.json"
        head.write_text(head.read_text().replace('"packets":', '"packets":1', 1))
    before = {path: path.read_bytes() for path in old.rglob("*") if path.is_file()}
    assert carry_runs.main([], root) == 1
    assert "differs when this build makes it: make the page anew" in capfd.readouterr().err
    assert {path: path.read_bytes() for path in old.rglob("*") if path.is_file()} == before


def test_runs_whose_commands_are_not_known_stay_of_their_build(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert pages.main(["whole", "--workers", "1"], root) == 0
    old = _of_another_build(root)
    (root / "out/pages/whole.json").unlink()
    assert carry_runs.main([], root) == 1
    assert "whole.json is missing" in capfd.readouterr().err
    assert old.is_dir()


def test_a_store_of_a_page_with_a_kernel_keeps_what_was_measured(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "measured").mkdir(parents=True)
    (old / "measured" / "one").write_text("measured")
    (old / "store.json").write_text("{}")
    pages.keep_measured(old, new)
    assert (new / "measured/one").read_text() == "measured"
    assert (new / "store.json").is_file()


def test_bad_input_is_one_sentence(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert pages.main(["nope"], root) == 2
    assert capfd.readouterr().err == "pages: page is 'nope', but must be one of whole, part\n"
    assert pages.main(["--workers", "0"], root) == 2
    assert capfd.readouterr().err == "pages: workers is 0, but must be at least 1\n"
    (root / "docs/pages.toml").write_text(PLAIN.replace('["src"]', '["none"]'))
    assert pages.main(["--list"], root) == 2
    assert capfd.readouterr().err == "pages: none has no sources, but docs/pages.toml names it\n"


def test_a_command_that_fails_leaves_the_page_and_says_why(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "docs/pages.toml").write_text(PLAIN.replace("--only qos", "--only nothing"))
    assert pages.main(["whole"], root) == 1
    assert "ended with status 2: sojourn: only is 'nothing', but must be one of" in capfd.readouterr().err
    assert (root / "docs/whole.md").read_text() == TITLE


def test_tables_are_made_of_some_columns_of_a_map_and_of_claims() -> None:
    shown = pages.columns_of(
        "## 10/1 (down/up)\n\n| q | a | b |\n| :-- | --: | --: |\n| x | 1 | 2 [1, 3] |\n", ["q", "b"]
    )
    assert shown == "**10/1** (down/up)\n\n| q | b |\n| :-- | --: |\n| x | 2 [1, 3] |"
    heads = "filled,best_utilisation,best_delay," + ",".join(
        f"{name}_{what}" for name in ("rule", "rural", "default") for what in ("utilisation", "delay")
    )
    # The rule carries 95 and 92 %, at 1.2 and 1 times the delay; rural 94 and 100 % at 1.3 and 1.25 times.
    rows = ["True,1.0,10,0.95,12,0.94,13,0.5,1", "True,1.0,10,0.92,10,1.0,12.5,0.93,12", "False,1,1,1,1,1,1,1,1"]
    table = pages.mapped("\n".join([heads, *rows])).splitlines()
    assert table[2:] == [
        "| the rule | 1 of 2 cells | 92 % | 1 of 2 |",
        "| rural (65 ms, 300 ms) | 2 of 2 cells | 94 % | 1 of 2 |",
        "| default (5 ms, 100 ms) | 1 of 2 cells | 50 % | 1 of 2 |",
    ]
    claim = {"id": "x-1", "verdict": "holds", "value": 2.0, "low": 1.0, "high": 3.0, "unit": "ms", "says": "It is so."}
    assert pages.claims_of(json.dumps([claim]), ["x-1"]).splitlines()[1].split() == (
        ["x-1", "holds", "2", "[1,", "3]", "ms", "It", "is", "so."]
    )


# A reason why a claim fails is of the row that shows it.

_ROW = re.compile(r"^\| `([\w-]+)` \|.*$", re.MULTILINE)


def strange_reasons(text: str, claims: dict[str, Claim]) -> list[str]:
    """Return the claims of a page whose row has not the reason that the data has for it, or one of another world."""
    declared, found = "| counted world |" in text, []
    for row in _ROW.finditer(text):
        claim = claims.get(row[1])
        if claim is None:
            continue
        verdict = next(cell for cell in row[0].split(" | ") if cell.startswith(("holds", "fails", "cannot tell")))
        reason = claim.why if declared and not verdict.startswith("holds") else ""
        plain = row[0].replace("\\", "").replace("&lt;", "<")
        has = "; why: " in plain
        if has != bool(reason) or (reason and f"; why: {' '.join(reason.split())}" not in plain):
            found.append(row[1])
    return found


@pytest.mark.parametrize("name", [name for name in REGISTRY if REGISTRY[name].file.startswith("docs/papers/")])
def test_the_reasons_of_a_page_are_those_of_its_world(name: str) -> None:
    page = REGISTRY[name]
    paper = next(word for word in page.commands[0].split() if word in papers.NAMES)
    if not pages.state(ROOT, page).current:
        optional.CURRENT_PAGE.skip("it is stale, and says so")
    claims = {claim.id: claim for claim in load(paper.replace("-", "_"))}
    assert strange_reasons((ROOT / page.file).read_text(encoding="utf-8"), claims) == []


def test_a_reason_of_another_row_or_world_is_found() -> None:
    claims = {claim.id: claim for claim in load("rural") if claim.why}
    known = list(claims.values())[:2]

    def page(*rows: tuple[Claim, str, str], declared: bool = True) -> str:
        judgement = {"value": 1.0, "low": None, "high": None, "unit": "ms"}
        judged = [one.head | judgement | {"verdict": verdict, "reason": f"x = 1; {why}"} for one, verdict, why in rows]
        facts = (("counted world", "TCP"),) if declared else ()
        report = PaperReport(
            title="t", reference="r", command="c", facts=facts, setup="s", exhibits=(), claims=tuple(judged)
        )
        return document(report, images="t")

    own = [f"why: {one.why}" for one in known]
    assert strange_reasons(page((known[0], "fails", own[0]), (known[1], "holds", "")), claims) == []
    assert strange_reasons(page((known[0], "fails", own[1])), claims) == [known[0].id]
    assert strange_reasons(page((known[0], "fails", "")), claims) == [known[0].id]
    assert strange_reasons(page((known[0], "holds", own[0])), claims) == [known[0].id]
    assert strange_reasons(page((known[0], "fails", own[0]), declared=False), claims) == [known[0].id]
    assert strange_reasons(page((known[0], "fails", ""), declared=False), claims) == []
