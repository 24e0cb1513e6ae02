"""`--force` replaces what this program wrote, when the new results are complete, and touches nothing else."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from sojourn import api, files, runner
from sojourn.errors import ParamError, SojournError
from sojourn.store import index
from sojourn.store.folder import ResultFolder
from sojourn.store.run_store import RunStore
from sojourn.view import source
from tests import optional
from tests.conftest import Cli, assert_one_sentence

RUN = ("run", "tcp_1up", "--duration", "1s", "--rate", "2mbit", "--out", "o")
#: What somebody may keep where results go: each has a name that results have, or one that looks so.
PRECIOUS = (
    "mail.parquet", "data.parquet", "runs.parquet", "series.parquet", "index.json", "run.json", "table.csv",
    "report.html", "figures/holiday.png", "figures/logo.svg", "tables/budget.csv", "tables/notes.md", "plan.json",
    "thesis.tex",
)  # fmt: skip


def tree(folder: Path) -> dict[str, bytes]:
    """Return all regular files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def plant(folder: Path) -> dict[str, bytes]:
    for name in PRECIOUS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"precious {name}")
    return tree(folder)


def test_a_folder_of_others_is_left_alone(inside: Cli, tmp_path: Path) -> None:
    before = plant(tmp_path / "o")
    assert_one_sentence(inside(*RUN, "--force", status=2), "out is 'o'", "no mark of Sojourn")
    assert_one_sentence(inside(*RUN[:-1], ".", "--force", status=2), "out is '.'", "no mark of Sojourn")
    assert tree(tmp_path / "o") == before


def test_files_of_others_beside_results_stay(inside: Cli, tmp_path: Path) -> None:
    inside(*RUN)
    mine = {"figures/holiday.png", "tables/budget.csv", "mail.parquet", "thesis.tex"}
    for name in mine:
        (tmp_path / "o" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "o" / name).write_text("mine")
    inside(*RUN, "--force")
    for name in mine:
        assert (tmp_path / "o" / name).read_text() == "mine"


def test_a_file_of_others_with_a_name_of_ours_is_neither_replaced_nor_removed(inside: Cli, tmp_path: Path) -> None:
    inside(*RUN)
    before = tree(tmp_path / "o")
    (tmp_path / "o/compare.json").write_text("mine")
    words = ("compare", "tcp_1up", "--qdisc", "codel", "--repeat", "1", "--duration", "1s", "--out", "o", "--force")
    assert_one_sentence(inside(*words, status=2), "o/compare.json is there, and Sojourn has not written it")
    (tmp_path / "o/compare.json").unlink()
    shutil.rmtree(tmp_path / "o/.new")
    assert tree(tmp_path / "o") == before


def test_links_are_not_followed(inside: Cli, tmp_path: Path) -> None:
    """`figures` and `runs` that lead elsewhere, to a folder of precious files and to another store."""
    words = ("compare", "tcp_1up", "--qdisc", "codel", "--repeat", "1", "--duration", "1s", "--out")
    inside(*words, "mystore")
    inside(*words, "o")
    before = tree(tmp_path / "mystore")
    for name in ("figures", "runs"):
        shutil.rmtree(tmp_path / "o" / name)
        (tmp_path / "o" / name).symlink_to(f"../mystore/{name}")
        assert_one_sentence(inside(*words, "o", "--force", status=2), name, "is a symbolic link, but must be a folder")
    assert tree(tmp_path / "mystore") == before


@pytest.mark.parametrize(
    "wrong",
    [
        ("--qdisc", "nonsense"),
        ("--workers", "0"),
        ("--dask", "tcp://127.0.0.1:9"),
        ("--repeat", "0"),
        ("--duration", "x"),
        ("--rate", "0bit"),
    ],
)
def test_a_request_that_is_refused_costs_nothing(wrong: tuple[str, str], inside: Cli, tmp_path: Path) -> None:
    words = ("compare", "tcp_1up", "--repeat", "2", "--duration", "1s", "--out", "o")
    inside(*words, "--qdisc", "codel")
    before = tree(tmp_path / "o")
    done = inside(*words, "--qdisc", "pie", *wrong, "--force", status=None)
    assert done.returncode in {1, 2}
    after = {name: data for name, data in tree(tmp_path / "o").items() if not name.startswith(".new/")}
    assert after == before


@pytest.mark.slow
def test_a_killed_run_costs_nothing_and_the_same_command_goes_on(tmp_path: Path) -> None:
    def words(seed: int) -> list[str]:
        own = ("compare", "rrul", "--qdisc", "codel", "--qdisc", "pie", "--repeat", "6", "--duration", "5s")
        return [sys.executable, "-m", "sojourn", *own, "--seed", str(seed), "--out", "o"]

    subprocess.run(words(1), cwd=tmp_path, check=True, capture_output=True)
    before = tree(tmp_path / "o")
    running = subprocess.Popen([*words(2), "--force"], cwd=tmp_path, stderr=subprocess.DEVNULL, process_group=0)
    new = tmp_path / "o/.new/runs"
    until = time.monotonic() + 60
    while time.monotonic() < until and not (new.is_dir() and any(len(one.name) == 32 for one in new.iterdir())):
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert {name: data for name, data in tree(tmp_path / "o").items() if not name.startswith(".new/")} == before
    made = {one.name: one.stat().st_mtime_ns for one in new.iterdir() if len(one.name) == 32}
    subprocess.run([*words(2), "--force"], cwd=tmp_path, check=True, capture_output=True)
    assert not (tmp_path / "o/.new").exists()
    stored = {one.name: one.stat().st_mtime_ns for one in (tmp_path / "o/runs").iterdir() if len(one.name) == 32}
    assert made.items() <= stored.items()
    assert len(stored) == 12
    assert json.loads((tmp_path / "o/index.json").read_text())["store"] == "runs"
    subprocess.run([sys.executable, "-m", "sojourn", "report", "o", "--out", "r.html"], cwd=tmp_path, check=True)


def test_a_folder_that_is_written_into_is_not_to_be_had(inside: Cli, tmp_path: Path) -> None:
    inside(*RUN)
    before = tree(tmp_path / "o")
    folder = ResultFolder(tmp_path / "o", force=True, plan="held")
    assert_one_sentence(inside(*RUN, "--force", status=2), "out is 'o', which is in use by another process")
    folder.finish()
    assert set(tree(tmp_path / "o")) == {"folder.json", "plan.json"}
    assert before
    inside(*RUN, "--force")


def test_a_store_that_is_written_into_keeps_its_runs(tmp_path: Path) -> None:
    """By a command that names the runs of the folder as its own store."""
    ResultFolder(tmp_path / "o", plan="a").finish()
    store = RunStore(tmp_path / "o/runs")
    runner.run_all([api.build("tcp_1up", duration="1s")], store=store)
    earlier = store.ids()
    folder = ResultFolder(tmp_path / "o", force=True, plan="b")
    with store.writing(), pytest.raises(SojournError, match="in use by another process"):
        folder.finish()
    assert len(earlier) == 1
    assert store.ids() == earlier
    ResultFolder(tmp_path / "o", force=True, plan="b").finish()
    assert not (tmp_path / "o/runs").exists()


@pytest.mark.parametrize("phase", ["remove", "move"])
def test_an_exchange_that_was_cut_off_is_completed(phase: str, tmp_path: Path) -> None:
    old = ResultFolder(tmp_path / "o", plan="old")
    old.write("table.md", "old")
    old.write("figures/a.svg", "old")
    old.finish()
    new = ResultFolder(tmp_path / "o", force=True, plan="new")
    new.write("table.md", "new")
    new.write("table.csv", "new")
    mark = json.loads((new.path / "folder.json").read_text())
    (new.path / "folder.json").write_text(json.dumps(mark | {"exchange": phase}))
    if phase == "move":  # some of it is done
        (tmp_path / "o/figures/a.svg").unlink()
        (new.path / "table.md").replace(tmp_path / "o/table.md")
        (tmp_path / "o/folder.json").write_text(json.dumps(mark))
    new._release()
    (tmp_path / "o/index.json").write_text("{}")
    before = tree(tmp_path / "o")
    with pytest.raises(SojournError, match="files of old and of new results.* give the command that wrote them again"):
        index.load(tmp_path / "o")
    assert "old and of new" in (source.Source(path=tmp_path / "o", opened=tmp_path / "o").error or "")
    assert tree(tmp_path / "o") == before
    (tmp_path / "o/index.json").unlink()
    with pytest.raises(ParamError, match="there already"):
        ResultFolder(tmp_path / "o", plan="third")
    assert tree(tmp_path / "o").keys() == {"folder.json", "plan.json", "table.md", "table.csv"}
    assert (tmp_path / "o/table.md").read_text() == (tmp_path / "o/table.csv").read_text() == "new"


@pytest.mark.parametrize(
    "files_",
    [["../mine"], ["/etc/passwd"], ["figures/../../mine"], [".hidden"], ["a/b/c"], [1], "x", ["figures/"], [""]],
)
def test_a_mark_that_names_other_places_is_none(files_: object, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "o").mkdir()
    (tmp_path / "o/folder.json").write_text(json.dumps({"format": "sojourn-folder-mark/1", "files": files_}))
    with pytest.raises(ParamError, match="no mark of Sojourn"):
        ResultFolder(tmp_path / "o", force=True)
    assert (tmp_path / "mine").read_text() == "mine"


def make(kind: str, path: Path) -> None:
    match kind:
        case "link":
            path.with_name("aim").write_text("mine")
            path.symlink_to("aim")
        case "dangling":
            path.symlink_to("nowhere")
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(str(path))
        case "device":
            try:
                os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
            except PermissionError:
                optional.ROOT.skip()
        case _:
            path.mkdir()


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "socket", "device", "folder"])
def test_what_is_no_regular_file_is_not_replaced(
    kind: str, inside: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's name is short
    make(kind, Path("x.svg"))
    before = Path("x.svg").lstat().st_ino
    inside(*RUN)
    for words in (
        ("plot", "cdf", "o", "--out", "x.svg"),
        ("report", "o", "--out", "x.svg"),
        (*RUN[:-2], "--pcap", "x.svg"),
        ("reproduce", "good-bad-wifi", "--only", "rrul", "--out", "p", "--document", "x.svg"),
        ("validate", "rrul", "--document", "x.svg"),
    ):
        assert_one_sentence(inside(*words, "--force", status=2), "x.svg", "regular file")
    assert Path("x.svg").lstat().st_ino == before
    assert kind != "link" or Path("aim").read_text() == "mine"


@pytest.mark.parametrize("there", ["link", "dangling", "pipe", "file"])
def test_a_result_folder_is_a_folder(there: str, inside: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if there == "file":
        Path("o").write_text("mine")
    else:
        make(there, Path("o"))
    assert_one_sentence(inside(*RUN, "--force", status=2), "out is 'o'", "must be a folder")


@pytest.mark.parametrize(
    "words",
    [
        ("reproduce", "good-bad-wifi", "--only", "rrul", "--out", "p"),
        ("validate", "rrul"),
        ("validate", "flusher"),
    ],
)
def test_a_document_that_is_there_needs_force(words: tuple[str, ...], inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    assert_one_sentence(inside(*words, "--document", "README.md", status=2), "README.md", "--force")
    assert (tmp_path / "README.md").read_text() == "mine"


def test_a_file_that_is_written_is_forced_to_the_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(file: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{file}").readlink()))
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    files.write_file(tmp_path / "x", "1")
    assert [Path(one).name.startswith(".x.") or Path(one) == tmp_path for one in synced] == [True, True]
    assert synced[1] == str(tmp_path)
    monkeypatch.setenv(files.NO_SYNC, "1")
    files.write_file(tmp_path / "x", "2")
    assert len(synced) == 2


#: Kills of each seed; `SOJOURN_TEST_KILLS=20` makes two hundred of them, in five minutes.
_KILLS = int(os.environ.get("SOJOURN_TEST_KILLS", "4"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_kill_9_at_any_moment_leaves_the_old_results_or_the_new(seed: int, tmp_path: Path) -> None:
    """Each run that is there is whole, and all runs of one of the two commands are there."""
    own = ("compare", "tcp_1up", "--qdisc", "codel", "--repeat", "3", "--duration", "1s", "--out", "o")
    words = [sys.executable, "-m", "sojourn", *own]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    draw = random.Random(seed)
    current = 0  # the command whose runs are all there; the seeds of each begin at another hundred
    for n in range(_KILLS):
        running = subprocess.Popen(
            [*words, "--seed", str(100 * (n + 1)), "--force"],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        time.sleep(draw.uniform(0.2, 3.0))
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        whole: Counter[int] = Counter()
        for store in (tmp_path / "o/runs", tmp_path / "o/.new/runs"):
            if store.is_dir():
                runs = RunStore(store)
                whole.update(runs.get(name).seed // 100 for name in runs.ids())
        assert whole[current] == 3 or any(whole[later] == 3 for later in range(current + 1, n + 2))
        current = current if whole[current] == 3 else max(command for command, number in whole.items() if number == 3)
    again = [*words, "--seed", "99", "--force"]
    subprocess.run(again, cwd=tmp_path, check=True, capture_output=True)
    shown = [sys.executable, "-m", "sojourn", "report", "o", "--out", "r.html"]
    subprocess.run(shown, cwd=tmp_path, check=True, capture_output=True)
    assert not (tmp_path / "o/.new").exists()
    assert len([one for one in (tmp_path / "o/runs").iterdir() if len(one.name) == 32]) == 3


@pytest.mark.parametrize("name", ["table.md", "folder.json", "figures/a.svg"])
def test_what_a_killed_writer_leaves_is_not_in_the_way(name: str, tmp_path: Path) -> None:
    ResultFolder(tmp_path / "o", plan="first").finish()
    new = ResultFolder(tmp_path / "o", force=True, plan="new")
    new.write("table.md", "new")
    new.write("figures/a.svg", "new")
    part = (new.path / name).with_name(f".{Path(name).name}.123.part")
    part.write_text("half")
    new.finish()
    assert set(tree(tmp_path / "o")) == {"folder.json", "plan.json", "table.md", "figures/a.svg"}
    again = ResultFolder(tmp_path / "o", force=True, plan="another")
    again.write(name if name != "folder.json" else "table.md", "new")
    (again.path / part.relative_to(tmp_path / "o/.new")).write_text("half")
    again._release()
    third = ResultFolder(tmp_path / "o", force=True, plan="a third")
    assert set(tree(third.path)) == {"folder.json", "plan.json"}
    third.finish()
    assert set(tree(tmp_path / "o")) == {"folder.json", "plan.json"}


def test_what_is_in_the_way_of_new_results_is_named(tmp_path: Path) -> None:
    ResultFolder(tmp_path / "o", plan="first").finish()
    (tmp_path / "o/.new").mkdir()
    (tmp_path / "o/.new/mine").write_text("mine")
    with pytest.raises(SojournError, match=r"o/\.new is in the way"):
        ResultFolder(tmp_path / "o", force=True)
    assert (tmp_path / "o/.new/mine").read_text() == "mine"
