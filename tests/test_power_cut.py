"""A power cut at any moment loses no run that was reported as written, and no half run is trusted afterwards.

The oracle is a file system that keeps what was forced to the disk, and of the rest any part (`tests.power_cut`).
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sojourn.errors import SojournError
from sojourn.store.folder import ResultFolder
from sojourn.store.run_store import RunStore
from tests import optional
from tests.conftest import Cli
from tests.power_cut import Disk, Tree, read_tree, traced, write_tree

_OWN = ("compare", "tcp_1up", "--qdisc", "codel", "--duration", "1s", "--repeat", "4")
_RUN = re.compile(r"o/(?:\.new/)?runs/(?P<id>[0-9a-f]{32})/?")


class Replay:
    """A command, run under strace in a folder of its own, whose result folder is `o`.

    Parameters
    ----------
    tmp_path
        Where the folder is made.
    words
        The command, as Python's arguments.
    work
        The folder, with what is there before the command.

    Attributes
    ----------
    before, after
        What was in the folder.
    written
        The runs whose store was forced to the disk after they got their names, up to the state that `states` is at.
    """

    def __init__(self, tmp_path: Path, *words: str, work: Path) -> None:
        optional.program("strace")
        self.before = read_tree(work)
        self.disk = Disk(work)
        self.calls = traced([sys.executable, *words], work, tmp_path / "log")
        self.after = read_tree(work)
        self.written: set[str] = set()
        self._place = tmp_path / "cut"

    def states(self) -> Iterator[tuple[Path, Tree]]:
        """Cut the power after each call: return the different states, as files and as their bytes."""
        draw = random.Random(1)
        keys: set[int] = set()
        for call in self.calls:
            if not self.disk.do(call):
                continue
            if call.name == "fsync" and call.paths[0].endswith("/runs"):
                self.written |= runs(self.disk.tree()).keys()
            for tree in [self.disk.tree(), *self.disk.cuts(draw)]:
                key = hash((frozenset(tree.items()), len(self.written)))
                if key not in keys:
                    keys.add(key)
                    shutil.rmtree(self._place, ignore_errors=True)
                    self._place.mkdir()
                    write_tree(tree, self._place)
                    yield self._place, tree
        assert self.disk.tree() == self.after, "the model of the file system is wrong"


def runs(tree: Tree) -> dict[str, Tree]:
    """Return the files of each run that has its final name, by the run's name."""
    found: dict[str, Tree] = {}
    for path, data in tree.items():
        match = _RUN.match(path)
        if match is not None:
            found.setdefault(match["id"], {})[path[match.end() :]] = data
    return found


def assert_whole_or_refused(root: Path, found: dict[str, Tree], expected: dict[str, Tree]) -> None:
    for folder in (root / "o/runs", root / "o/.new/runs"):
        if folder.is_dir():
            store = RunStore(folder)
            for name in store.ids():
                if found[name] != expected[name]:
                    with pytest.raises(SojournError):
                        store.get(name)


@pytest.mark.slow
def test_a_power_cut_loses_no_run_that_was_written(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    replay = Replay(tmp_path, "-m", "sojourn", *_OWN, "--out", "o", work=work)
    expected = runs(replay.after)
    assert len(expected) == 4
    states = 0
    for root, tree in replay.states():
        found = runs(tree)
        assert_whole_or_refused(root, found, expected)
        assert {name for name in replay.written if found.get(name) != expected[name]} == set()
        if "o/index.json" in tree:
            assert tree["o/index.json"] == replay.after["o/index.json"]
            assert found == expected
        states += 1
    assert replay.written == expected.keys()
    assert states > 100


@pytest.mark.slow
def test_a_power_cut_leaves_the_old_results_or_the_new(inside: Cli, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    inside(*_OWN, "--out", str(work / "o"))
    replay = Replay(tmp_path, "-m", "sojourn", *_OWN, "--seed", "9", "--out", "o", "--force", work=work)
    assert_old_or_new(replay, 8)


#: Writes results with all that a result folder may have; the words after it say what is new.
_RESULTS = """
import sys
from pathlib import Path
from sojourn.store.run_store import RunStore
from sojourn.store.folder import ResultFolder

word, run = sys.argv[1:]
folder = ResultFolder(Path("o"), force=True, plan=word)
store = RunStore(folder.path / "runs")
with store.writing():
    for n in range(2):
        store.add(f"{run}{n}" * 16, word.encode(), b"series")
    store.measured.put(f"{run}{n}" * 16, word.encode())
for name in ("index.json", "figures/rtt.svg", f"figures/{word}.svg", "tables/table.csv", f"tables/{word}.csv"):
    folder.write(name, word)
folder.finish()
"""


@pytest.mark.slow
@pytest.mark.parametrize("foreign", [False, True])
def test_a_power_cut_in_an_exchange_of_figures(*, foreign: bool, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    subprocess.run([sys.executable, "-c", _RESULTS, "old", "a"], cwd=work, check=True)
    if foreign:
        for folder in ("", "figures", "tables", "runs", "runs/measured"):
            (work / "o" / folder / "letter").write_text("mine")
    assert_old_or_new(Replay(tmp_path, "-c", _RESULTS, "new", "b", work=work), 4)


def assert_old_or_new(replay: Replay, number: int) -> None:
    """Check that after a cut there is one of the two, complete, for who uses the folder next; of all these runs."""
    expected = {**runs(replay.before), **runs(replay.after)}
    assert len(expected) == number
    ends = {"old": 0, "new": 0}
    for root, tree in replay.states():
        assert_whole_or_refused(root, runs(tree), expected)
        ResultFolder(root / "o", force=True, plan="another")._release()
        shutil.rmtree(root / "o/.new")
        RunStore(root / "o/runs").clean()  # as its next writer does
        found = read_tree(root)
        assert found in (replay.before, replay.after)
        ends["old" if found == replay.before else "new"] += 1
    assert ends["old"] > 50
    assert ends["new"] > 10
