"""The search for a commit: git itself, a build in miniature, and the simulator in the place of the kernel."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest
from scipy import stats as scipy_stats

from sojourn import cells
from sojourn.backends import SIMULATOR
from sojourn.cells import Means, Planned
from sojourn.errors import ParamError, SojournError
from sojourn.kernel import find
from sojourn.regress import commits, sides
from sojourn.regress.sides import Judge
from sojourn.regress.threshold import threshold
from sojourn.store.run import Run
from tests import optional
from tests.conftest import Cli, assert_one_sentence
from tests.miniature import CONFIGURED, LINES, compilers, script, tree

pytestmark = pytest.mark.skipif(
    shutil.which("make") is None or shutil.which("git") is None, reason=optional.lacking("make and git").reason()
)

#: The kernel is a script with the line of sch_codel.c that says what CoDel's target is. Each compilation leaves a line.
MAKEFILE = (
    CONFIGURED
    + """\
sch_codel.o: net/sched/sch_codel.c
\t@echo '  CC      sch_codel.o'; echo codel >>compiled; grep '^# ' net/sched/sch_codel.c >sch_codel.o
rest.o: rest.c arch/um/os-Linux/util.c arch/um/Kconfig
\t@echo '  CC      rest.o'; echo rest >>compiled; cp rest.c rest.o
linux: sch_codel.o rest.o
\t@cat kernel.sh sch_codel.o >linux
"""
)
GOOD = script()
DEAD = script(before="printf 'Kernel panic - not syncing: \\033[2J'; exit 3")


def codel(target: str, note: str = "") -> str:
    return f"# target {target}\n/* {note} */\n"


#: Each commit's subject and the files that it changes.
HISTORY: list[tuple[str, dict[str, str]]] = [
    (
        "the source",
        {"Makefile": MAKEFILE, "kernel.sh": GOOD, "rest.c": "1", **LINES, "net/sched/sch_codel.c": codel("5ms")},
    ),
    ("docs", {"Documentation": "a\n"}),
    ("codel: a comment", {"net/sched/sch_codel.c": codel("5ms", "a comment")}),
    ("docs again", {"Documentation": "b\n"}),
    ("does not build", {"net/sched/sch_codel.c": "no target\n"}),
    ("builds again", {"net/sched/sch_codel.c": codel("5ms", "repaired")}),
    ("does not boot", {"kernel.sh": DEAD}),
    ("boots again", {"kernel.sh": GOOD}),
    ("codel: tidy", {"net/sched/sch_codel.c": codel("30ms")}),
    ("more docs", {"Documentation": "c\n"}),
    ("codel: another comment", {"net/sched/sch_codel.c": codel("30ms", "two")}),
    ("the end", {"Documentation": "d\n"}),
]
CULPRIT = "codel: tidy"


def git(top: Path, *words: str) -> str:
    who = {f"GIT_{role}_{what}": "someone@somewhere" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    settings = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(["git", *words], cwd=top, env=settings, capture_output=True, text=True, check=True)
    return done.stdout


def repository(top: Path, history: Sequence[tuple[str, dict[str, str]]] = HISTORY) -> Path:
    """Write a repository whose commits have the tags c0, c1 and so on."""
    top.mkdir()
    git(top, "init", "--quiet", "--initial-branch=main")
    for place, (subject, contents) in enumerate(history):
        tree(top, contents)
        git(top, "add", "--all")
        git(top, "commit", "--quiet", f"--message={subject}")
        git(top, "tag", f"c{place}")
    return top


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, a cache of its own, and programs that stand for the compiler."""
    compilers(tmp_path, monkeypatch)
    return repository(tmp_path / "linux")


@dataclass
class Simulated:
    """Measures a kernel in miniature: the simulator has CoDel with the target that the kernel was built with."""

    #: The kernels that were measured, with the number of runs.
    asked: list[tuple[str, int]] = field(default_factory=list)
    #: After so many, Ctrl-C is pressed.
    stop_after: int | None = None

    def __call__(self, planned: Sequence[Planned[str]], world: str, progress: str) -> dict[str, tuple[Run, ...]]:
        if len(self.asked) == self.stop_after:
            raise KeyboardInterrupt
        kernel = world.removeprefix("linux:")
        self.asked.append((kernel, len(planned)))
        [target] = re.findall(r"^# target (\S+)$", Path(kernel).read_text(), re.MULTILINE)
        text = f"codel target {target}"
        made = [replace(one, scenario=replace(one.scenario, qdisc_up=text, qdisc_down=text)) for one in planned]
        return cells.runs_of(made, Means(workers=1, backend=SIMULATOR))


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> Simulated:
    made = Simulated()
    monkeypatch.setattr(cells, "in_world", lambda _means: made)
    return made


WORDS = ("tcp_1up", "--duration", "4s", "--threshold", "10%", "--jobs", "1")


def begin(source: Path, good: str = "c0", bad: str = "main") -> tuple[str, ...]:
    return ("kernel", "bisect", "--source", str(source), "--good", good, "--bad", bad)


def everything(top: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return what tells whether anything in a folder was touched."""
    return {
        str(path.relative_to(top)): (
            path.stat().st_mtime_ns,
            path.stat().st_ino,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(top.rglob("*"))
    }


def test_the_commit_is_found_and_the_source_is_not_touched(
    source: Path, simulated: Simulated, inside: Cli, tmp_path: Path
) -> None:
    before = everything(source)
    done = inside(*begin(source), *WORDS, "--out", "found")
    assert everything(source) == before
    culprit = git(source, "rev-parse", "c8").strip()
    assert f"The first bad commit is {culprit}" in done.stdout
    plain = json.loads((tmp_path / "found/bisect.json").read_text())
    assert plain["format"] == "sojourn-kernel-bisect/1"
    assert (plain["first_bad"]["sha"], plain["first_bad"]["subject"]) == (culprit, CULPRIT)
    # "boots again" has the same kernel as "builds again", but it is the commit before the culprit.
    assert plain["last_good"] == git(source, "rev-parse", "c7").strip()
    assert plain["difference"]["low"] > 5
    assert {one["subject"]: one["side"] for one in plain["commits"]}["the source"] == "good"
    skipped = {one["subject"]: one["skipped"] for one in plain["commits"] if one["skipped"]}
    for subject, why in skipped.items():
        assert {"does not build": "cannot be built", "does not boot": "does not boot"}[subject] in why
    assert {"bisect.md", "bisect.log", "figures"} < {path.name for path in (tmp_path / "found").iterdir()}
    # Git itself comes to the same commit by what it was told.
    git(tmp_path, "clone", "--quiet", str(source), "clone")
    replayed = git(tmp_path / "clone", "bisect", "replay", str(tmp_path / "found/bisect.log"))
    assert f"{culprit} is the first bad commit" in replayed


def test_only_what_has_changed_is_compiled_and_a_second_search_compiles_nothing(
    source: Path, simulated: Simulated, inside: Cli
) -> None:
    inside(*begin(source), *WORDS)
    compiled = commits.folder_of(source) / "tree/compiled"
    lines = compiled.read_text().splitlines()
    # The edits of the source are made anew for each commit, and are the same each time.
    assert lines.count("rest") == 1
    assert 2 <= lines.count("codel") <= 8
    kernels = {path.name for path in (commits.folder_of(source) / "kernels").iterdir()}
    found = inside(*begin(source), *WORDS, "--metric", "rtt_p95_ms").stdout
    assert CULPRIT in found
    assert compiled.read_text().splitlines() == lines
    assert {path.name for path in (commits.folder_of(source) / "kernels").iterdir()} == kernels


def test_a_search_that_was_stopped_goes_on_where_it_was(source: Path, simulated: Simulated, inside: Cli) -> None:
    simulated.stop_after = 4
    done = inside(*begin(source), *WORDS, status=130)
    assert "the same command goes on from there" in done.stderr
    compiled = commits.folder_of(source) / "tree/compiled"
    before = compiled.read_text().splitlines()
    simulated.asked.clear()
    simulated.stop_after = None
    # What a git that was killed leaves behind.
    (commits.folder_of(source) / "tree/.git/index.lock").touch()
    (commits.folder_of(source) / ".build-left").mkdir()
    assert CULPRIT in inside(*begin(source), *WORDS).stdout
    after = compiled.read_text().splitlines()
    assert after[: len(before)] == before
    assert after.count("rest") == 1
    assert not (commits.folder_of(source) / ".build-left").exists()
    # All commits of a whole search are as many as those of both halves.
    whole = len(after)
    shutil.rmtree(commits.folder_of(source))
    inside(*begin(source), *WORDS)
    assert len(compiled.read_text().splitlines()) == whole


def test_a_folder_of_work_serves_another_repository_with_the_same_files(
    source: Path, simulated: Simulated, inside: Cli, tmp_path: Path
) -> None:
    words = (*WORDS, "--work", str(tmp_path / "work"))
    inside(*begin(source), *words)
    shutil.rmtree(source)
    other = repository(tmp_path / "other", [(f"other: {subject}", contents) for subject, contents in HISTORY])
    compiled = (tmp_path / "work/tree/compiled").read_text()
    done = inside(*begin(other), *words)
    assert f"{git(other, 'rev-parse', 'c8').strip()}\n  other: {CULPRIT}\n" in done.stdout
    assert (tmp_path / "work/tree/compiled").read_text() == compiled
    # And a commit that has to be built is checked out, though what the folder has is of commits that are gone.
    tree(other, {"net/sched/sch_codel.c": codel("90ms")})
    git(other, "commit", "--quiet", "--all", "--message=even worse")
    assert "  even worse\n" in inside(*begin(other, good="c9"), *words).stdout


def test_half_a_file_of_a_compiler_that_was_killed_is_not_used(source: Path, simulated: Simulated, inside: Cli) -> None:
    inside(*begin(source), *WORDS)
    work = commits.folder_of(source)
    half = work / "tree/sch_codel.o"
    # A build that was killed: it had begun, and the file that it was writing is newer than its source.
    (work / "building").touch()
    half.write_text("# target 77ms\n")
    later = half.stat().st_mtime_ns + 10**12
    os.utime(half, ns=(later, later))
    shutil.rmtree(work / "kernels")
    assert CULPRIT in inside(*begin(source), *WORDS).stdout
    assert not (work / "building").exists()
    assert "77ms" not in half.read_text()


def test_a_compiler_that_outlived_its_search_is_ended(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / ".build-x").mkdir(parents=True)
    left = subprocess.Popen(["sleep", "60"], env={"HOME": str(work / ".build-x"), "PATH": os.environ["PATH"]})
    other = subprocess.Popen(["sleep", "60"], env={"HOME": str(work), "PATH": os.environ["PATH"]})
    try:
        reaper = threading.Thread(target=left.wait, daemon=True)  # a zombie has no environment, but is a process
        reaper.start()
        with commits.held(work):
            assert not (work / ".build-x").exists()
        reaper.join(5)
        assert (left.returncode, other.poll()) == (-9, None)
    finally:
        for process in (left, other):
            process.kill()
            process.wait()


def test_a_commit_that_did_not_build_is_not_built_again(source: Path, simulated: Simulated, inside: Cli) -> None:
    inside(*begin(source, bad="c9"), *WORDS)
    [failed] = (commits.folder_of(source) / "failed").glob("*.json")
    log = next((commits.folder_of(source) / "kernels").glob("failed-*.log"))
    changed = log.stat().st_mtime_ns
    assert "cannot be built" in json.loads(failed.read_text())["reason"]
    again = inside(*begin(source, bad="c9"), *WORDS)
    assert "is skipped: Linux 6.1.9 cannot be built" in again.stderr
    assert log.stat().st_mtime_ns == changed


def test_commits_that_are_all_skipped_leave_several_candidates(
    tmp_path: Path, source: Path, simulated: Simulated, inside: Cli
) -> None:
    broken = [
        HISTORY[0],
        ("one", {"net/sched/sch_codel.c": "no\n"}),
        ("two", {"net/sched/sch_codel.c": codel("6ms"), "kernel.sh": DEAD}),
        ("three", {"net/sched/sch_codel.c": codel("30ms"), "kernel.sh": GOOD}),
    ]
    top = repository(tmp_path / "broken", broken)
    done = inside(*begin(top), *WORDS, "--json", status=1)
    plain = json.loads(done.stdout)
    assert "(one) is skipped: Linux 6.1.9 cannot be built: make ended with status 2" in done.stderr
    assert "(two) is skipped: the kernel does not boot: " in done.stderr
    assert "not syncing: ?[2J" in done.stderr
    assert plain["first_bad"] is None
    assert sorted(plain["candidates"]) == sorted(git(top, "rev-list", "c0..main").split())
    told = inside(*begin(top), *WORDS, "--out", "several", status=1).stdout
    assert told.startswith("The first bad commit is one of these, because the others were skipped:\n\n  ")
    assert all(f"  {sha[:12]} " in told for sha in plain["candidates"])
    assert [path.name for path in (tmp_path / "several/figures").glob("*.svg")] == ["commits.svg"]


def test_a_metric_of_which_less_is_worse(tmp_path: Path, source: Path, simulated: Simulated, inside: Cli) -> None:
    slower = [HISTORY[0], ("docs", {"Documentation": "a"}), ("worse", {"net/sched/sch_codel.c": codel("1us")})]
    slower[0] = ("the source", {**HISTORY[0][1], "net/sched/sch_codel.c": codel("20ms")})
    top = repository(tmp_path / "slower", slower)
    done = inside(*begin(top), *WORDS[:-4], "--threshold", "2%", "--metric", "goodput_up_mbit", "--jobs", "1")
    assert "  worse\n" in done.stdout
    # Latency is better at the end, so by latency there is nothing to be found, and by --lower there is.
    refused = inside(*begin(top), *WORDS, status=2)
    assert "sojourn: good and bad do not differ by the threshold 10%: they have" in refused.stderr
    assert "and higher is worse" in refused.stderr
    assert "  worse\n" in inside(*begin(top), *WORDS, "--lower").stdout


def test_ends_that_do_not_differ_are_one_sentence(source: Path, simulated: Simulated, inside: Cli) -> None:
    done = inside(*begin(source, bad="c3"), *WORDS, status=2)
    assert "good and bad do not differ by the threshold 10%: they have induced_latency_ms" in done.stderr
    assert "Traceback" not in done.stderr
    done = inside(*begin(source), *WORDS[:3], "--threshold", "5000%", status=2)
    assert "good and bad do not differ by the threshold 5000%" in done.stderr


def test_an_end_that_cannot_be_built_is_one_sentence(source: Path, simulated: Simulated, inside: Cli) -> None:
    done = inside(*begin(source, good="c4"), *WORDS, status=2)
    assert "good is 'c4', which cannot be measured: Linux 6.1.9 cannot be built" in done.stderr


def test_a_full_disk_is_not_the_commits_fault(source: Path, simulated: Simulated, inside: Cli) -> None:
    full = MAKEFILE.replace("@cat kernel.sh", "@echo 'ld: No space left on device' >&2; exit 1; cat kernel.sh")
    tree(source, {"Makefile": full})
    git(source, "commit", "--quiet", "--all", "--message=full")
    git(source, "tag", "full")
    done = inside(*begin(source, good="full~1", bad="full"), *WORDS, status=2)
    assert "the machine has no room or no memory left; the same command goes on from there" in done.stderr
    assert not (commits.folder_of(source) / "failed").exists()


def test_refusals_are_one_sentence_each(source: Path, simulated: Simulated, inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()

    def refused(sentence: str, *words: str, top: Path = source, good: str = "c0", bad: str = "main") -> None:
        assert_one_sentence(inside(*begin(top, good, bad), *words, status=2), sentence)

    rrul = ("rrul", "--threshold", "10%")
    refused("plain', but must be a folder with a git repository", *rrul, top=tmp_path / "plain")
    refused("none', but must be a folder with a git repository", *rrul, top=tmp_path / "none")
    refused("good is 'nought', but must name a commit of", *rrul, good="nought")
    refused("bad is 'c0:Makefile', but must name a commit of", *rrul, bad="c0:Makefile")
    refused("bad is 'c0', but must name another commit than good, which is 'c0'", *rrul, bad="c0")
    refused("good is 'c9', but must not come after bad, which is 'c2'", *rrul, good="c9", bad="c2")
    refused("path is drivers, but no commit from 'c0' to 'main' changes anything there", *rrul, "--path", "drivers")
    refused("threshold is 'a lot', but must be a percentage", "rrul", "--threshold", "a lot")
    refused("metric is 'speed', but must be one of", *rrul, "--metric", "speed")
    refused("of which it is not known which way is worse: give --higher or --lower", *rrul, "--metric", "drops_up")
    refused("must have no Wi-Fi cell", "wifi_dense", "--threshold", "10%")
    refused("repeat is 1, but must be at least 2", *rrul, "--repeat", "1")
    refused("max-repeat is 3, but must be at least repeat, which is 4", *rrul, "--max-repeat", "3")
    refused("hz is 999, but must be one of", *rrul, "--hz", "999")
    refused("but must not lie in source", *rrul, "--work", str(source / "work"))
    refused("make takes no path with blanks or colons: give --work DIR", *rrul, "--work", "a b")
    assert simulated.asked == []


def test_a_repository_with_no_kernel_is_one_sentence(
    source: Path, simulated: Simulated, inside: Cli, tmp_path: Path
) -> None:
    top = repository(tmp_path / "other", [("a", {"a": "1"}), ("b", {"a": "2"})])
    done = inside(*begin(top), *WORDS, status=2)
    assert "is not the source of a kernel: there must be a Makefile" in done.stderr


def test_hooks_and_settings_of_a_person_do_not_run(
    source: Path, simulated: Simulated, inside: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = tmp_path / "hooks/post-checkout"
    tree(tmp_path, {"hooks/post-checkout": f"#!/bin/sh\ntouch {tmp_path}/ran\n"})
    hook.chmod(0o755)
    settings = tmp_path / "gitconfig"
    settings.write_text(f"[core]\n\thooksPath = {hook.parent}\n\tautocrlf = true\n[safe]\n\tdirectory = *\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert CULPRIT in inside(*begin(source), *WORDS).stdout
    assert not (tmp_path / "ran").exists()


def test_what_a_commit_says_of_itself_steers_no_terminal(
    source: Path, simulated: Simulated, inside: Cli, tmp_path: Path
) -> None:
    subject, author = "worse \x1b]0;owned\x07\x1b[2J | <b>", "a\x1b[31m"
    tree(source, {"net/sched/sch_codel.c": codel("90ms")})
    git(source, "commit", "--quiet", "--all", f"--message={subject}", f"--author={author} <b@c>")
    done = inside(*begin(source, good="main~1", bad="main"), *WORDS, "--out", "found")
    assert "worse ?]0;owned??[2J" in done.stdout
    written = [path.read_text() for path in sorted((tmp_path / "found").glob("bisect.*"))]
    assert all("\x1b" not in text and "\\u001b" not in text for text in (done.stdout, done.stderr, *written))


def test_a_folder_in_use_is_refused(source: Path, simulated: Simulated, inside: Cli) -> None:
    with commits.held(commits.folder_of(source)):
        done = inside(*begin(source), *WORDS, status=2)
    assert "in which another bisect goes on" in done.stderr


@pytest.fixture(scope="module")
def two_kernels() -> tuple[Path, Path]:
    """Linux 6.1 and 7.3, whose flows begin differently: docs/lab/tcp.md."""
    try:
        found = [find.find(version).path for version in ("6.1", "7.3")]
    except (ParamError, SojournError) as error:
        optional.KERNEL.skip(error)
    old, new = found
    assert old is not None
    assert new is not None
    return old, new


@pytest.mark.slow
def test_commits_whose_kernels_are_real_are_measured_in_virtual_time(
    two_kernels: tuple[Path, Path], source: Path, inside: Cli, tmp_path: Path
) -> None:
    """The build copies a kernel that was built before; all else is as it is for a whole source."""
    old, new = two_kernels
    makefile = MAKEFILE.replace("@cat kernel.sh sch_codel.o >linux", "@cp $$(cat which) linux")
    history: list[tuple[str, dict[str, str]]] = [
        ("the source", {**HISTORY[0][1], "Makefile": makefile, "which": f"{old}\n"}),
        ("docs", {"Documentation": "a\n"}),
        ("more docs", {"Documentation": "b\n"}),
        ("another receive window", {"which": f"{new}\n"}),
        ("docs again", {"Documentation": "c\n"}),
    ]
    top = repository(tmp_path / "real", history)
    words = ("tcp_1up", "--qdisc", "codel", "--duration", "5s", "--threshold", "20%", "--jobs", "1", "--out", "found")
    assert "  another receive window\n" in inside(*begin(top), *words).stdout
    plain = json.loads((tmp_path / "found/bisect.json").read_text())
    releases = {one["subject"]: one["release"].partition("-")[0].rpartition(".")[0] for one in plain["commits"]}
    assert releases["more docs"] == "6.1"
    assert releases["another receive window"] == "7.3"
    # Two kernels, four seeds: what is of the same bytes is not measured again.
    assert len(list((commits.folder_of(top) / "runs").glob("*/run.json"))) == 8


def test_the_level_leaves_a_search_wrong_in_one_of_twenty_at_most() -> None:
    """Each answer is Student's test at a level that all looks at all commits of a search share."""
    judge = Judge.for_search("higher", threshold("10%"), commits=1000, looks=4)
    assert judge.level == pytest.approx(1 - 0.05 / (11 * 4))
    rng = Random(7)
    wrong = 0
    for _ in range(400):
        # A commit in the very middle: any answer is wrong.
        good = [rng.gauss(1, 1) for _ in range(32)]
        bad = [rng.gauss(3, 1) for _ in range(32)]
        values = [rng.gauss(2, 1) for _ in range(32)]
        sides_of = [judge.side(values[:n], good[:n], bad[:n]) for n in sides.looks(4, 32)]
        wrong += any(one is not None for one in sides_of)
    assert wrong <= 8  # 0.45 % of 400 are 1.8
    differences = [0.9, 1.1, 1.0, 1.3]
    p = scipy_stats.ttest_1samp(differences, 0).pvalue
    zeros = [0.0] * 4
    for level, expected in ((1 - p * 1.01, sides.BAD), (1 - p * 0.99, None)):
        assert replace(judge, level=level).side(differences, zeros, zeros) == expected


def test_a_commit_is_like_the_end_that_it_is_nearer_to_whichever_way_is_worse() -> None:
    higher = Judge.for_search("higher", threshold("10%"), commits=10, looks=1)
    lower = Judge.for_search("lower", threshold("1"), commits=10, looks=1)
    low, high = [2.0, 2.1, 1.9, 2.0], [9.0, 9.2, 9.1, 8.9]
    assert [higher.side(one, low, high) for one in (low, high)] == [sides.GOOD, sides.BAD]
    assert [lower.side(one, high, low) for one in (low, high)] == [sides.BAD, sides.GOOD]
    assert (higher.apart(low, high), higher.apart(high, low), higher.apart(low, low)) == (True, False, False)
    assert (lower.apart(high, low), lower.apart(low, high)) == (True, False)
    assert higher.apart([2.0], [9.0]) is None
    assert sides.looks(4, 32) == (4, 8, 16, 32)
    assert sides.looks(5, 12) == (5, 10, 12)
