"""Pages that are made from runs: what each says of its making, how it is made, and whether it still holds."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from msgspec import structs

from sojourn import papers
from sojourn.report.exhibit import Report
from sojourn.study.claims import Claim, load
from sojourn.study.page import document
from tests.records import Json
from tools import page_regions, pages

ROOT = Path(__file__).parents[1]
REGISTRY: Json = pages.registry(ROOT)


def test_every_page_of_results_is_in_the_registry() -> None:
    pages_of_results = {*(ROOT / "docs/fidelity").glob("*.md"), *(ROOT / "docs/papers").glob("*.md")}
    pages_of_results |= {ROOT / f"docs/{name}.md" for name in ("tuning", "demo", "l4s-map")}
    assert {ROOT / page.file for page in REGISTRY.values()} == pages_of_results


@pytest.mark.parametrize("name", REGISTRY)
def test_a_page_says_what_its_record_has(name: str) -> None:
    record = json.loads((ROOT / pages.RECORDS).read_text(encoding="utf-8"))[name]
    region = pages._find((ROOT / REGISTRY[name].file).read_text(encoding="utf-8"), name)
    assert region is not None
    assert region[1] == pages.says(REGISTRY[name], record)


def test_commands_go_into_folders_of_their_own_and_write_the_whole_page_or_none_of_it() -> None:
    for page in REGISTRY.values():
        assert page.whole != bool(page.regions), page.name
        assert all("--out {out}" in command for command in page.commands), page.name
        text = (ROOT / page.file).read_text(encoding="utf-8")
        assert all(f"<!-- made: {one['name']} -->" in text for one in page.regions), page.name
        assert all((ROOT / target).is_file() for target in page.copies.values()), page.name


TITLE = "# A page\n\nWhat it is about.\n"
PLAIN = """
[pages.whole]
file = "docs/whole.md"
commands = [
    "sojourn reproduce wifi-next-steps --only qos --duration 1s --repeat 1 --out {out} --document {page}",
]

[pages.part]
file = "docs/part.md"
commands = ["sojourn tune codel --map --out {out}"]

[[pages.part.regions]]
name = "table"
from = "map.csv"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a repository with two pages, a corpus of its own and the crates of this one."""
    for folder in ("docs/data", "testdata"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "crates").symlink_to(ROOT / "crates")
    (tmp_path / pages.REGISTRY).write_text(PLAIN)
    (tmp_path / pages.CORPUS).write_text("answers\n")
    (tmp_path / "docs/whole.md").write_text(TITLE)
    (tmp_path / "docs/part.md").write_text(f"{TITLE}\n<!-- made: table -->\n<!-- end -->\n\nBy hand.\n")
    return tmp_path


def record_of(root: Path) -> Json:
    record: Json = json.loads((root / pages.RECORDS).read_text())["whole"]
    return record


def checked(root: Path, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capfd.readouterr()
    status = pages.main(["whole", "--check"], root)
    return status, capfd.readouterr().out


def test_only_what_is_between_marks_is_replaced(root: Path) -> None:
    path = root / "docs/part.md"
    path.write_text(pages.put(path.read_text(), "table", "| a |"))
    assert path.read_text() == f"{TITLE}\n<!-- made: table -->\n| a |\n<!-- end -->\n\nBy hand.\n"
    text = pages.put(path.read_text(), "part", "Made today.")
    assert text.endswith("\n\nBy hand.\n\n<!-- made: part -->\nMade today.\n<!-- end -->\n")


def test_a_page_is_made_once_and_takes_the_runs_that_are_there(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["whole", "--workers", "1"]
    assert pages.main(words, root) == 0
    assert "1 of 1 to make" in capfd.readouterr().err
    first = (root / "docs/whole.md").read_text()
    record = record_of(root)
    assert first.endswith(f"\nMade with Sojourn {pages.version()} on {record['made']}.\n<!-- end -->\n")
    assert record["runs"] == 6
    assert "--out out/pages/whole" in first
    assert "--document docs/whole.md" in first
    assert "--workers" not in first
    assert str(root) not in first
    assert pages.main(words, root) == 0
    assert "0 of 1 to make" in capfd.readouterr().err
    (store,) = (root / "out/pages/runs").glob("whole-*")
    before = {path: path.stat().st_mtime_ns for path in store.iterdir() if len(path.name) == 32}
    (root / pages.CORPUS).write_text("other answers\n")
    assert pages.main(["--list"], root) == 0
    assert re.search(r"^whole .* 6 runs +changed: the frozen corpus$", capfd.readouterr().out, re.MULTILINE)
    assert pages.main(words, root) == 0
    assert before == {path: path.stat().st_mtime_ns for path in store.iterdir() if len(path.name) == 32}
    assert record_of(root)["corpus"] != record["corpus"]


def test_before_a_release_kept_runs_decide_and_else_the_frozen_corpus(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert checked(root, capfd) == (1, f"{'whole':<24} stale  its commands have changed since it was made\n")
    assert pages.main(["whole", "--workers", "1"], root) == 0
    (root / pages.CORPUS).write_text("other answers\n")
    status, words = checked(root, capfd)
    assert (status, "6 of its runs, made again, are the same" in words) == (0, True)
    _change_the_runs(next((root / "out/pages/runs").glob("whole-*")))
    status, words = checked(root, capfd)
    assert (status, "stale" in words, "differs when this build makes it" in words) == (1, True, True)
    shutil.rmtree(root / "out/pages/runs")
    status, words = checked(root, capfd)
    assert (status, "?      cannot be decided: no runs are kept" in words) == (1, True)
    (root / pages.CORPUS).write_text("answers\n")
    status, words = checked(root, capfd)
    assert (status, "holds  no runs are kept; the frozen corpus is that" in words) == (0, True)
    (root / pages.REGISTRY).write_text(PLAIN.replace("--repeat 1", "--repeat 2"))
    assert checked(root, capfd)[0] == 1


def _change_the_runs(store: Path) -> None:
    for run in [path for path in store.iterdir() if len(path.name) == 32]:
        head = run / "run.json"
        head.write_text(head.read_text().replace('"packets":', '"packets":1', 1))


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
    stored = {path.name[::-1]: (path / "run.json").stat().st_ino for path in old.iterdir() if len(path.name) == 32}
    capfd.readouterr()
    assert pages.main(["whole", "--workers", "1", "--again"], root) == 0
    (store,) = (root / "out/pages/runs").glob("whole-*")
    assert store.name == f"whole-{pages.extension_build()}"
    runs = {path.name: (path / "run.json").stat().st_ino for path in store.iterdir() if len(path.name) == 32}
    assert (set(runs), runs) == (names, stored)
    assert record_of(root)["carried"] == [{"from": "0" * 16, "to": pages.extension_build(), "runs": 6, "sample": 6}]
    assert "carried" not in (root / "docs/whole.md").read_text()


@pytest.mark.parametrize("why", ["a run differs", "the commands are not known"])
def test_runs_that_differ_or_whose_commands_are_not_known_are_made_anew(
    root: Path, why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert pages.main(["whole", "--workers", "1"], root) == 0
    old = _of_another_build(root)
    if why == "a run differs":
        _change_the_runs(old)
    else:
        (root / "out/pages/whole.json").unlink()
    assert pages.main(["whole", "--workers", "1", "--again"], root) == 0
    assert ("differs when this build makes it: make the page anew" in capfd.readouterr().err) == (
        why == "a run differs"
    )
    (store,) = (root / "out/pages/runs").glob("whole-*")
    assert store.name == f"whole-{pages.extension_build()}"
    assert "carried" not in record_of(root)


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


def test_a_command_that_fails_leaves_the_page_and_says_why(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "docs/pages.toml").write_text(PLAIN.replace("--only qos", "--only nothing"))
    assert pages.main(["whole"], root) == 1
    assert "ended with status 2: sojourn: only is 'nothing', but must be one of" in capfd.readouterr().err
    assert (root / "docs/whole.md").read_text() == TITLE


def test_tables_are_made_of_some_columns_of_a_map_and_of_claims() -> None:
    shown = page_regions.columns_of(
        "## 10/1 (down/up)\n\n| q | a | b |\n| :-- | --: | --: |\n| x | 1 | 2 [1, 3] |\n", ["q", "b"]
    )
    assert shown == "**10/1** (down/up)\n\n| q | b |\n| :-- | --: |\n| x | 2 [1, 3] |"
    heads = "filled,best_utilisation,best_delay," + ",".join(
        f"{name}_{what}" for name in ("rule", "rural", "default") for what in ("utilisation", "delay")
    )
    # The rule carries 95 and 92 %, at 1.2 and 1 times the delay; rural 94 and 100 % at 1.3 and 1.25 times.
    rows = ["True,1.0,10,0.95,12,0.94,13,0.5,1", "True,1.0,10,0.92,10,1.0,12.5,0.93,12", "False,1,1,1,1,1,1,1,1"]
    table = page_regions.mapped("\n".join([heads, *rows])).splitlines()
    assert table[2:] == [
        "| the rule | 1 of 2 cells | 92 % | 1 of 2 |",
        "| rural (65 ms, 300 ms) | 2 of 2 cells | 94 % | 1 of 2 |",
        "| default (5 ms, 100 ms) | 1 of 2 cells | 50 % | 1 of 2 |",
    ]
    claim = {"id": "x-1", "verdict": "holds", "value": 2.0, "low": 1.0, "high": 3.0, "unit": "ms", "says": "It is so."}
    assert page_regions.claims_of(json.dumps([claim]), ["x-1"]).splitlines()[1].split() == (
        ["x-1", "holds", "2", "[1,", "3]", "ms", "It", "is", "so."]
    )


# A reason why a claim fails is of the row that shows it.

_ROW = re.compile(r"^\| `([\w-]+)` \|.*$", re.MULTILINE)
_REASON = re.compile(r"^- `([\w-]+)`: ((?:.*\n)(?:  .*\n)*)", re.MULTILINE)


def strange_reasons(text: str, claims: dict[str, Claim]) -> list[str]:
    """Return the claims of a page without the reason that the data has for them, or with one of another world."""
    declared, strange = "| counted world |" in text, []
    reasons = {item[1]: " ".join(item[2].split()) for item in _REASON.finditer(text)}
    for row in _ROW.finditer(text):
        claim = claims.get(row[1])
        if claim is None:
            continue
        verdict = next(cell for cell in row[0].split(" | ") if cell.startswith(("holds", "fails", "cannot tell")))
        expected = claim.why if declared and not verdict.startswith("holds") else ""
        _, has, why = reasons[row[1]].replace("\\", "").replace("&lt;", "<").partition(" - why: ")
        if bool(has) != bool(expected) or why != " ".join(expected.split()):
            strange.append(row[1])
    return strange


@pytest.mark.parametrize("name", [name for name in REGISTRY if REGISTRY[name].file.startswith("docs/papers/")])
def test_the_reasons_of_a_page_are_those_of_its_world(name: str) -> None:
    page = REGISTRY[name]
    paper = next(word for word in page.commands[0].split() if word in papers.NAMES)
    claims = {claim.id: claim for claim in load(paper.replace("-", "_"))}
    assert strange_reasons((ROOT / page.file).read_text(encoding="utf-8"), claims) == []


def test_a_reason_of_another_row_or_world_is_found() -> None:
    claims = {claim.id: claim for claim in load("rural") if claim.why}
    known = list(claims.values())[:2]

    def page(*rows: tuple[Claim, str, str], declared: bool = True) -> str:
        judged = [
            structs.replace(one.undecided, verdict=verdict, value=1.0, unit="ms", reason=f"x = 1; {why}")
            for one, verdict, why in rows
        ]
        facts = (("counted world", "TCP"),) if declared else ()
        report = Report(
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
