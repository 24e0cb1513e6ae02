"""One input, run and judged: a child process of its own, with limits, beside files that it must not touch."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import socket
import stat
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.hostile import cases

#: A case hangs that waits for so long, or computes for so long; on a busy machine it may take longer to compute.
LIMIT_S = 10.0
BUSY_LIMIT_S = 60.0
MEMORY = 4 << 30
FILE_SIZE = 1 << 30

#: What a case may come to, and how many of it there may be: none.
INTERNAL, TRACEBACK, HANG, ABORT, LOST, STEERS, STATUS, SILENT = (
    "internal errors",
    "tracebacks",
    "hangs",
    "aborts",
    "lost files",
    "escape sequences",
    "unknown statuses",
    "refusals without a sentence",
)
FAULTS = (INTERNAL, TRACEBACK, HANG, ABORT, LOST, STEERS, STATUS, SILENT)

#: Files of someone else's, some under the names that ours have.
PRECIOUS = {
    "keep/index.json": b'{"mine": true}',
    "keep/run.json": b"my run",
    "keep/plan.json": b"my plan",
    "keep/report.html": b"my report",
    "keep/table.csv": b"my,table",
    "keep/measures.parquet": b"my measures",
    "keep/figures/mine.png": b"my figure",
    "keep/notes.md": b"my notes",
    "other/store.json": b'{"mine": true}',
    "other/0123456789abcdef0123456789abcdef/run.json": b"my run",
    "text.txt": b"my text",
    "data.parquet": b"my data",
}
_STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What is wrong with how a case ended."""

    number: int
    what: str
    case: str
    words: list[str]
    output: str


@dataclass(kw_only=True)
class Running:
    """A case under way."""

    number: int
    folder: Path
    pid: int
    until: float


def make_material(folder: Path) -> None:
    """Make what the cases damage: a folder of results, a record, captures, files of Flent, a journal, a part."""
    from sojourn.cli import main
    from sojourn.interop import flent
    from sojourn.store.index import load_run

    def call(*words: str) -> None:
        status = main([*words])
        assert status == 0, words

    os.chdir(folder)
    quick = ("--duration", "1s", "--rate", "2mbit")
    call("compare", "voip_rrul", "--qdisc", "codel", "--qdisc", "fq_codel", "--repeat", "1", *quick, "--out", "good")
    claim = {"id": "a-1", "section": "1", "says": "so", "verdict": "holds", "unit": "ms", "reason": "it is"}
    Path("good/claims.json").write_text(json.dumps([{**claim, "value": 1.0, "low": 0.5, "high": None}]))
    call("run", "web", *quick, "--out", "one")
    shutil.move("one/run.json", "one.json")
    for point in ("client", "server"):
        name = {"client": "a", "server": "b"}[point]
        call("run", "bulk", *quick, "--pcap", f"{name}.pcapng", "--pcap-at", point)
    [path] = flent.export((load_run(Path("one.json")),), Path("flent"))
    shutil.move(path, "good.flent.gz")
    Path("sweep.toml").write_text(
        'experiment = "bulk"\nduration = "1s"\nrepeat = 1\n\n[vary]\nqdisc = ["codel", "pfifo"]\nrtt = ["20ms"]\n'
    )
    shutil.copytree(Path(__file__).resolve().parents[2] / "examples", "examples")
    search = ["tune", "codel", "--rate", "1mbit", "--duration", "5s", "--trials", "4", "--seeds", "2", "--workers", "1"]
    call(*search, "--out", "tuned")
    Path("tuned/tune.json").unlink()
    Path("tuned.json").write_text(json.dumps([*search, "--out", "tuned"]))
    Path("part.json").write_text(json.dumps(_part()))


def _part() -> dict[str, object]:
    entry = {
        "scenario": "a",
        "metric": "goodput_up",
        "sim": 1.0,
        "linux": 1.1,
        "ratio": 0.9,
        "verdict": "agrees",
        "title": "goodput up",
        "unit": "Mbit/s",
        "digits": 2,
        "bar": 1.1,
        "bar_is": "factor",
        "surely": True,
        "reason": "",
        "link": "10/10",
        "qdisc": "codel",
        "relative_error": 0.1,
    }
    scenario = {"up": "10mbit", "down": "10mbit", "rtt": "50ms", "qdisc_up": "codel", "flows": []}
    return {
        "format": "sojourn-validate/1",
        "name": "random",
        "command": "sojourn validate random",
        "facts": {"seed": "1"},
        "entries": [entry],
        "scenarios": {"a": json.dumps(scenario)},
        "worst": [{"scenario": "a", "title": "goodput up", "error": 0.1}],
    }


def start(seed: int, number: int, material: Path, folder: Path) -> Running:
    """Start a case in a child."""
    folder.mkdir()
    _plant(folder)
    pid = os.fork()
    if pid == 0:
        try:
            _child(seed, number, material, folder)
        except BaseException:  # noqa: BLE001
            (folder / "errors").write_text(f"the case could not be made: {traceback.format_exc()}")
        finally:
            os._exit(97)
    return Running(number=number, folder=folder, pid=pid, until=time.monotonic() + LIMIT_S)


def _plant(folder: Path) -> None:
    for name, data in PRECIOUS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "keep/runs").symlink_to("../other")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    # Devices of the folder's own, which root alone can make: a program at fault must not replace those of the machine.
    with suppress(PermissionError):
        os.mknod(folder / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.mknod(folder / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    with socket.socket(socket.AF_UNIX) as listener, suppress(OSError):
        # A name longer than 107 bytes has no socket.
        listener.bind(str(folder / "socket"))


def _child(seed: int, number: int, material: Path, folder: Path) -> None:
    os.setsid()
    os.chdir(folder)
    rng = Random(f"{seed} {number}")  # noqa: S311
    kind = cases.draw(rng)
    words = kind(material, rng)
    Path("case.json").write_text(json.dumps({"case": kind.__name__, "words": words}))
    output = rng.choices(("said", "closed", "/dev/full"), (95, 3, 2))[0]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    target = os.open("said" if output == "closed" else output, os.O_WRONLY | os.O_CREAT, 0o600)
    errors = os.open("errors", os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(target, 1)
    os.dup2(errors, 2)
    os.closerange(3, 256)
    if output == "closed":
        os.close(1)
    sys.stdout = None if output == "closed" else open(1, "w", encoding="utf-8", closefd=False)  # noqa: PTH123, SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: PTH123, SIM115
    sys.argv = ["sojourn", *words]
    from sojourn.cli import main

    try:
        status = main(words)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
    with suppress(OSError):
        if sys.stdout is not None:
            sys.stdout.flush()
    os._exit(status)


def hangs(one: Running, now: float) -> bool:
    """Tell whether a case that has not ended is to be ended."""
    if now < one.until:
        return False
    states, cpu_s = _session(one.pid)
    # A machine with other work gives it its processor late: that is no fault of the case.
    return cpu_s >= LIMIT_S or "R" not in states or now >= one.until + BUSY_LIMIT_S - LIMIT_S


def _session(leader: int) -> tuple[set[str], float]:
    """Return the states of the processes of a session, and the processor time that they have taken."""
    states, ticks = set(), 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader:
            states.add(fields[0])
            ticks += sum(map(int, fields[11:15]))
    return states, ticks / os.sysconf("SC_CLK_TCK")


def finished(one: Running, status: int | None) -> list[Fault]:
    """Return what is wrong with a case that has ended with a status of `os.waitpid`, or has not (`None`)."""
    with suppress(ProcessLookupError):
        os.killpg(one.pid, signal.SIGKILL)
    if status is None:
        os.waitpid(one.pid, 0)
    output, errors = (_text(one.folder / name) for name in ("said", "errors"))
    try:
        facts = json.loads((one.folder / "case.json").read_text())
    except (OSError, ValueError):
        facts = {"case": "?", "words": []}
    found = []
    if status is None:
        found.append(HANG)
    elif os.WIFSIGNALED(status):
        found.append(ABORT)
    elif os.waitstatus_to_exitcode(status) not in {0, 1, 2}:
        found.append(STATUS)
    elif os.waitstatus_to_exitcode(status) == 2 and not re.search(r"^sojourn: .{3,2200}$", errors, re.MULTILINE):
        found.append(SILENT)
    if "this is a bug in Sojourn" in errors:
        found.append(INTERNAL)
    if "Traceback (most recent call last)" in errors or "panicked at" in errors:
        found.append(TRACEBACK)
    # What someone types may be shown as it is: the name of a file is told to be read by programs.
    shown = output + errors.replace("\r", "")
    for word in facts["words"]:
        shown = shown.replace(word, "") if _STEERS.search(word) else shown
    if _STEERS.search(shown):
        found.append(STEERS)
    lost = [name for name, data in PRECIOUS.items() if not _is(one.folder / name, data)]
    links = {"keep/runs": "../other", "dangling": "nowhere", "loop": "loop"}
    lost += [name for name, to in links.items() if not _leads(one.folder / name, to)]
    if lost or not (one.folder / "fifo").is_fifo():
        found.append(LOST)
    what_is_lost = f"lost {', '.join(lost)}; " if lost else ""
    return [
        Fault(
            number=one.number, what=what, case=facts["case"], words=facts["words"], output=what_is_lost + errors[-1500:]
        )
        for what in found
    ]


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(1 << 20).decode("utf-8", "replace")
    except OSError:
        return ""


def _is(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except OSError:
        return False


def _leads(path: Path, to: str) -> bool:
    return path.is_symlink() and os.readlink(path) == to  # noqa: PTH115
