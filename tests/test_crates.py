"""The crates that others may use: what the guide shows is tested, and what is published needs nothing that is not."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests import optional
from tests.records import Json

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs/guides/crates.md"
EXAMPLES = sorted((ROOT / "crates/sojourn-sim/examples").glob("own_*.rs"))
MANIFESTS: dict[str, Json] = {
    path.parent.name: tomllib.loads(path.read_text()) for path in sorted(ROOT.glob("crates/*/Cargo.toml"))
}
#: Crates that are published: those that do not take over the workspace's `publish = false`.
PUBLISHED = {name for name, manifest in MANIFESTS.items() if "publish" not in manifest["package"]}


def _shown(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


def test_the_guide_shows_code_of_readmes_and_examples_only() -> None:
    """Those are compiled and run by `cargo test`."""
    tested = [path.read_text() for path in [*ROOT.glob("crates/*/README.md"), *EXAMPLES]]
    assert len(_shown("rust")) == 5
    for block in _shown("rust"):
        assert any(block in text for text in tested), block


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_at_most_80_lines(path: Path) -> None:
    assert 30 < len(path.read_text().splitlines()) <= 80


def test_a_dumbbell_around_ones_own_endpoint_takes_less_than_60_lines() -> None:
    example = ROOT / "crates/sojourn-sim/examples/own_endpoint.rs"
    lines = [line.strip() for line in example.read_text().splitlines()]
    assert 20 < sum(bool(line) and not line.startswith("//") for line in lines) < 60


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_the_guide_says(path: Path) -> None:
    if shutil.which("cargo") is None:
        optional.CARGO.skip()
    words = ["cargo", "run", "--quiet", "--locked", "--package", "sojourn-sim", "--example", path.stem]
    printed = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert printed in _shown("text")


def test_what_is_published_needs_only_what_is_published() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    assert {"sojourn-units", "sojourn-qdisc", "sojourn-tcp", "sojourn-sim"} <= PUBLISHED
    for name in PUBLISHED:
        ours = {one for one in MANIFESTS[name]["dependencies"] if one.startswith("sojourn-")}
        assert ours <= PUBLISHED, name
        assert {workspace["dependencies"][one]["version"] for one in ours} <= {workspace["package"]["version"]}


def _compiled(*chosen: str) -> set[str]:
    """Return what Cargo compiles, but for our crates: each dependency with its features."""
    words = ["cargo", "tree", "--locked", "--prefix", "none", "--format", "{p} {f}", *chosen]
    lines = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return {re.sub(r" \((proc-macro|\*)\)", "", line) for line in lines if not line.startswith("sojourn-")}


@pytest.mark.parametrize("program", ["sojourn-py", "sojourn-live", "sojourn-drill-kernel"])
def test_what_a_program_and_the_tests_need_is_compiled_once(program: str) -> None:
    """Otherwise a feature is missing in crates/sojourn-features."""
    if shutil.which("cargo") is None:
        optional.CARGO.skip()
    assert _compiled("--package", program, "--edges", "normal,build") <= _compiled("--workspace", "--edges", "all")


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_a_published_crate_says_what_it_is_and_under_which_licence(name: str) -> None:
    package = MANIFESTS[name]["package"]
    assert 20 < len(package["description"]) < 200
    assert len(package["keywords"]) <= 5
    assert package["categories"]
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        assert (ROOT / "crates" / name / licence).read_text() == (ROOT / licence).read_text()


def test_the_published_crates_are_those_that_are_compared_with_the_last_release() -> None:
    listed = subprocess.run(
        [ROOT / "tools/release/semver", "--list"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    assert sorted(listed.split()) == [f"--package={name}" for name in sorted(PUBLISHED)]
