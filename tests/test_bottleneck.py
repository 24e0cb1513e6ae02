"""`sojournd bottleneck` with the programs that a stranger tries first, and what it leaves behind: nothing."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import optional
from tests.records import Json
from tools.bench.bottleneck import rate

#: The server's address.
SERVER = "10.0.0.2"


@dataclass(frozen=True, slots=True)
class Daemon:
    """The program, with a control socket in a folder of the test."""

    program: Path
    folder: Path

    @property
    def socket(self) -> Path:
        """The control socket."""
        return self.folder / "control.sock"

    def words(self, *words: str) -> list[str]:
        """Return a command line that begins a bottleneck."""
        return [str(self.program), "bottleneck", "--control", str(self.socket), *words]

    def run(self, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a bottleneck to its end."""
        done = subprocess.run(self.words(*words), capture_output=True, text=True, timeout=90, check=False)
        assert done.returncode == status, done.stderr
        assert not self.socket.exists()
        return done

    def report(self, *words: str) -> tuple[str, Json]:
        """Run a bottleneck to its end; return what its command printed, and what it did."""
        path = self.folder / "report.json"
        done = self.run("--json", str(path), *words)
        return done.stdout, json.loads(path.read_text())

    def ask(self, *words: str, status: int = 0) -> str:
        """Ask a bottleneck that runs; return what it said."""
        command = [str(self.program), "bottleneck", words[0], "--control", str(self.socket), *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        assert done.returncode == status, done.stderr
        return done.stdout if status == 0 else done.stderr


@pytest.fixture
def daemon(sojournd: Path) -> Iterator[Daemon]:
    # The path of a socket is short: that of a test's own folder may be longer.
    with tempfile.TemporaryDirectory() as folder:
        yield Daemon(sojournd, Path(folder))


@pytest.fixture
def running(daemon: Daemon) -> Iterator[subprocess.Popen[str]]:
    """Begin a bottleneck without a command."""
    process = subprocess.Popen(
        daemon.words("--rate", "10mbit", "--qdisc", "fq_codel"), stderr=subprocess.PIPE, text=True
    )
    try:
        wait_for(lambda: daemon.socket.exists() and process.poll() is None)
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=20)


def wait_for(condition: Any, seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.05)


def test_ping_takes_both_delays(daemon: Daemon) -> None:
    optional.program("ping")
    output, report = daemon.report(
        "--rate", "10mbit", "--delay", "25ms", "--", "ping", "-c", "20", "-i", "0.05", "-q", SERVER
    )
    least = float(output.split("rtt min/avg/max/mdev = ")[1].split("/")[0])
    # Each echo request and reply takes 0.08 ms to send, but the bucket lets it out at once.
    assert 50.0 <= least < 60.0
    assert report["up"]["lateness"]["packets"] == 20


def test_ping_reaches_the_server_by_ipv6(daemon: Daemon) -> None:
    optional.program("ping")
    if not Path("/proc/sys/net/ipv6").exists():
        optional.IPV6.skip()
    output, _ = daemon.report("--rate", "10mbit", "--", "ping", "-6", "-c", "3", "-i", "0.05", "-q", "fd00:50::2")
    assert "3 received" in output


def test_curl_gets_a_file_whole_and_at_the_rate(daemon: Daemon, tmp_path: Path) -> None:
    optional.program("curl")
    data = os.urandom(1_000_000)
    (tmp_path / "file").write_bytes(data)
    got = tmp_path / "got"
    server = f"exec python3 -m http.server --directory {tmp_path} 80"
    began = time.monotonic()
    daemon.run(
        *("--rate", "8mbit", "--server", server),
        *("--", "curl", "-sS", "-o", str(got), f"http://{SERVER}/file"),
    )
    assert got.read_bytes() == data
    # A megabyte of payload at 8 Mbit/s, headers beside it.
    assert time.monotonic() - began >= 1.0


def test_iperf3_gets_the_rate_of_its_direction(daemon: Daemon) -> None:
    optional.program("iperf3")
    output, report = daemon.report(
        *("--up", "20mbit", "--down", "5mbit", "--delay", "5ms", "--server", "iperf3 -s"),
        *("--", "iperf3", "-c", SERVER, "-t", "4", "-O", "1", "-J"),
    )
    received = json.loads(output)["end"]["sum_received"]["bits_per_second"]
    # 1448 bytes of payload in a frame of 1514.
    most = 20e6 * 1448 / 1514
    assert 0.7 * most <= received <= 1.02 * most
    shaper, discipline, _ = report["up"]["qdiscs"]
    assert (shaper["kind"], discipline["kind"]) == ("tbf", "fq_codel")
    assert shaper["packets"] == discipline["packets"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("mbit", [1, 20])
def test_the_rate_is_exact_while_there_is_a_queue(sojournd: Path, mbit: int) -> None:
    # At a receiver of UDP, between the first second and the last; what this machine does meanwhile makes a packet late,
    # but the rate stays.
    measured, _ = rate(str(sojournd), mbit, 5)
    assert measured == pytest.approx(mbit, rel=0.01)


def test_full_frames_leave_at_the_opportunities_of_a_trace(daemon: Daemon) -> None:
    trace = Path(__file__).parents[1] / "testdata/mahimahi/uplink.trace"
    times = [int(line) for line in trace.read_text().split()]
    flood = f"""
import socket, time
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end = time.monotonic() + 3
while time.monotonic() < end:
    to.sendto(bytes(1472), ("{SERVER}", 9))
    time.sleep(0.001)
"""
    words = ("--trace-up", str(trace), "--down", "1mbit", "--qdisc", "pfifo limit 1000")
    _, report = daemon.report(*words, "--", sys.executable, "-c", flood)
    shaper = report["up"]["qdiscs"][0]
    assert shaper["kind"] == "trace"
    assert shaper["options"].startswith(f"{trace} sha256:")
    # The flood begins when Python has started, and from then on there is a queue: at most so many opportunities.
    most = len(times) * report["seconds"] * 1000 / times[-1]
    assert 0.85 * most * 3 / report["seconds"] < shaper["packets"] <= most + len(times)


def test_marks_of_fq_codel_are_taken_by_a_real_kernel(daemon: Daemon) -> None:
    optional.program("iperf3")
    ecn = "echo 1 > /proc/sys/net/ipv4/tcp_ecn"
    _, report = daemon.report(
        *("--rate", "5mbit", "--delay", "10ms", "--qdisc", "fq_codel", "--server", f"{ecn}; exec iperf3 -s"),
        *("--", "sh", "-c", f"{ecn}; iperf3 -c {SERVER} -t 4"),
    )
    discipline = report["up"]["qdiscs"][1]
    assert discipline["marks"] > 0
    # Had the kernel thrown away a marked packet for its checksum, it would have come again and again.
    assert discipline["drops"] == 0
    assert discipline["packets"] < 2500


def test_the_exit_status_is_that_of_the_command(daemon: Daemon) -> None:
    daemon.run("--rate", "1mbit", "--", "sh", "-c", "exit 7", status=7)
    assert "no-such-program" in daemon.run("--rate", "1mbit", "--", "no-such-program", status=1).stderr


def test_a_server_that_fails_at_once_is_said_to(daemon: Daemon) -> None:
    done = daemon.run("--rate", "1mbit", "--server", "exit 3", "--", "true", status=1)
    assert "exit 3" in done.stderr
    assert "ended at once" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "up is not given: give --rate, or --up and --down"),
        (("--up", "1mbit"), "down is not given: give --rate, or --up and --down"),
        (
            ("--rate", "1mbit", "--trace-up", "a", "--trace-down", "b"),
            'rate is "1mbit", but must be absent with --trace-up',
        ),
        (("--rate", "1mbit", "--trace-up", "/dev/null"), 'trace-up is "/dev/null", but must be the name of a file'),
        (("--rate", "0mbit"), 'rate: "0mbit" is not a rate: it must be a number > 0'),
        (("--rate", "1mbit", "--loss", "2"), 'loss is "2", but must be a percentage from 0% to 100%'),
        (("--rate", "1mbit", "--mtu", "100"), "mtu is 100, but must be 1280 to 65535 bytes"),
        (("--rate", "1mbit", "--burst", "100b"), "burst is 100b, but must be at least 1514b"),
        (("--rate", "1mbit", "--qdisc", "cake nat"), "qdisc: "),
    ],
)
def test_bad_input_is_one_sentence(daemon: Daemon, words: tuple[str, ...], sentence: str) -> None:
    done = daemon.run(*words, "--", "true", status=2)
    assert done.stderr.startswith(f"sojournd: {sentence}")
    assert done.stderr.count("\n") == 1


def test_statistics_are_as_tc_prints_them(daemon: Daemon) -> None:
    done = daemon.run("--rate", "10mbit", "--qdisc", "pfifo limit 50", "--stats", "--", "true")
    assert "qdisc tbf 1: dev up root rate 10mbit burst 1514b" in done.stderr
    assert "qdisc pfifo 10: dev down parent 1:1 limit 50\n Sent 0 bytes 0 pkt (dropped 0," in done.stderr


def test_a_running_bottleneck_is_changed(daemon: Daemon, running: subprocess.Popen[str]) -> None:
    daemon.ask("set", "up.rate", "5mbit")
    daemon.ask("set", "qdisc", "pie", "limit", "200")
    daemon.ask("set", "down.delay", "30ms")
    report = json.loads(daemon.ask("show", "--json"))
    assert report["up"]["qdiscs"][0]["options"].startswith("rate 5mbit ")
    assert report["down"]["qdiscs"][0]["options"].startswith("rate 10mbit ")
    assert {report[way]["qdiscs"][1]["kind"] for way in ("up", "down")} == {"pie"}
    assert report["down"]["qdiscs"][2]["options"] == "delay 30ms loss 0%"
    assert "dev up parent 1:1 limit 200" in daemon.ask("show")
    for words, sentence in (
        (("rate", "0mbit"), 'rate: "0mbit" is not a rate: it must be a number > 0'),
        (("colour", "red"), "field is"),
        (("up.qdisc", "cake", "nat"), "qdisc: "),
    ):
        assert daemon.ask("set", *words, status=1).startswith(f"sojournd: {sentence}")
    assert running.poll() is None


def test_a_second_one_with_the_same_socket_is_refused(daemon: Daemon, running: subprocess.Popen[str]) -> None:
    done = subprocess.run(
        daemon.words("--rate", "1mbit", "--", "true"), capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 1
    assert "a bottleneck runs already" in done.stderr
    assert running.poll() is None
    assert daemon.socket.exists()


def test_one_that_is_not_there_cannot_be_asked(daemon: Daemon) -> None:
    assert "no bottleneck listens at" in daemon.ask("show", status=1)


@pytest.mark.parametrize("how", ["SIGINT", "SIGTERM", "stop"])
def test_its_end_leaves_nothing_behind(daemon: Daemon, running: subprocess.Popen[str], how: str) -> None:
    devices = sorted(path.name for path in Path("/sys/class/net").iterdir())
    if how == "stop":
        daemon.ask("stop")
    else:
        running.send_signal(signal.Signals[how])
    _, errors = running.communicate(timeout=20)
    assert running.returncode == 0, errors
    assert "packets left late by" in errors
    assert not daemon.socket.exists()
    assert sorted(path.name for path in Path("/sys/class/net").iterdir()) == devices


def test_programs_that_a_command_left_are_ended(daemon: Daemon) -> None:
    left = daemon.folder / "left"
    daemon.run("--rate", "1mbit", "--", "sh", "-c", f"setsid sleep 60 & echo $! > {left}")
    pid = int(left.read_text())
    wait_for(lambda: not Path(f"/proc/{pid}").exists(), 5.0)


@pytest.mark.skipif(os.geteuid() != 0, reason=optional.ROOT.reason())
def test_a_user_without_root_can_run_it(daemon: Daemon) -> None:
    optional.program("ping")
    daemon.folder.chmod(0o777)
    program = daemon.folder / "sojournd"
    shutil.copy(daemon.program, program)
    program.chmod(0o755)
    done = subprocess.run(
        Daemon(program, daemon.folder).words("--rate", "10mbit", "--", "ping", "-c", "2", "-i", "0.1", SERVER),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        user=65534,
        group=65534,
        extra_groups=[],
        cwd="/",
    )
    if Path("/dev/net/tun").stat().st_mode & 0o006 != 0o006:
        # Root's alone on this machine: then one sentence says what is needed.
        assert done.returncode == 1
        assert re.fullmatch(r"sojournd: /dev/net/tun may not be opened by this user, .*\(chmod 666 .*\)\n", done.stderr)
        return
    assert done.returncode == 0, done.stderr
    assert "2 received" in done.stdout


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_the_control_socket_is_its_owners_whatever_the_umask(daemon: Daemon, umask: int) -> None:
    with begun(daemon, "--rate", "10mbit", umask=umask):
        found = daemon.socket.stat()
        assert stat.S_ISSOCK(found.st_mode)
        assert stat.S_IMODE(found.st_mode) == 0o600
        assert "qdisc tbf" in daemon.ask("show")


@pytest.mark.skipif(os.geteuid() != 0, reason=optional.ROOT.reason())
def test_another_user_is_refused_though_the_file_lets_them(daemon: Daemon, running: subprocess.Popen[str]) -> None:
    daemon.folder.chmod(0o755)
    daemon.socket.chmod(0o666)
    for user, answer in ((65534, "error: the control socket is asked by user 65534"), (0, "ok\n")):
        done = subprocess.run(
            [sys.executable, "-I", "-c", _ASK, str(daemon.socket), "show", str(user)],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        assert done.stdout.startswith(answer)
    assert running.poll() is None
    running.terminate()
    _, log = running.communicate(timeout=20)
    assert "sojournd: refused at the control socket (1 so far): " in log


@pytest.mark.skipif(os.geteuid() != 0, reason=optional.ROOT.reason())
def test_root_can_ask_a_bottleneck_of_a_user(daemon: Daemon) -> None:
    if Path("/dev/net/tun").stat().st_mode & 0o006 != 0o006:
        optional.REAL_PACKETS.skip("/dev/net/tun is root's alone")
    daemon.folder.chmod(0o777)
    program = daemon.folder / "sojournd"
    shutil.copy(daemon.program, program)
    program.chmod(0o755)
    words = Daemon(program, daemon.folder).words("--rate", "10mbit")
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, user=65534, group=65534, extra_groups=[], cwd="/")
    try:
        wait_for(lambda: daemon.socket.exists() or process.poll() is not None)
        assert daemon.socket.stat().st_uid == 65534
        assert "qdisc tbf" in daemon.ask("show")
        daemon.ask("stop")
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait(timeout=20)


#: Sends a line to a socket as some user, and prints what comes.
_ASK = """
import os, socket, sys
os.setuid(int(sys.argv[3]))
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode() + b"\\n")
while piece := s.recv(65536):
    sys.stdout.write(piece.decode())
"""


@pytest.mark.usefixtures("running")
def test_slow_clients_make_nobody_wait(daemon: Daemon) -> None:
    with ExitStack() as stack:
        for _ in range(50):
            slow = stack.enter_context(socket.socket(socket.AF_UNIX))
            slow.connect(str(daemon.socket))
            slow.sendall(b"set up.rate")
        began = time.monotonic()
        assert "qdisc tbf" in daemon.ask("show")
        assert time.monotonic() - began < 1.5


def test_what_is_no_socket_is_left_alone(daemon: Daemon) -> None:
    daemon.socket.write_text("precious")
    words = daemon.words("--rate", "1mbit", "--", "true")
    done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"sojournd: control is {daemon.socket}, which is no socket, but must be")
    assert done.stderr.count("\n") == 1
    assert daemon.socket.read_text() == "precious"


@pytest.mark.parametrize(
    ("command", "keys", "answer", "status"),
    [
        (("sh", "-c", "echo ready; read word; echo got $word"), b"hello\n", b"got hello", 0),
        (("sh", "-c", "echo ready; exec sleep 60"), b"\x03", b"ready", 128 + signal.SIGINT),
    ],
)
def test_the_keys_of_a_terminal_are_the_commands(
    daemon: Daemon, command: tuple[str, ...], keys: bytes, answer: bytes, status: int
) -> None:
    words = daemon.words("--rate", "10mbit", "--", *command)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # Of forking where there are threads: the child does nothing else.
        pid, terminal = pty.fork()
    if pid == 0:
        os.execv(words[0], words)
    output = b""
    try:
        while b"ready" not in output:
            output += os.read(terminal, 4096)
        os.write(terminal, keys)
        with suppress(OSError):  # The terminal goes with its last process.
            while piece := os.read(terminal, 4096):
                output += piece
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == status
    finally:
        os.close(terminal)
    assert answer in output


@pytest.mark.parametrize(
    ("there", "message"),
    [
        ("file", "--json is r.json, but must be a new file (or give --force)"),
        ("link", "--json is r.json, but must be a file that can be written: it is a symbolic link to a file"),
        ("folder", "--json is r.json, but must be a file that can be written: it is a folder"),
    ],
)
def test_a_report_replaces_no_file(there: str, message: str, daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request is judged before the command is run."""
    monkeypatch.chdir(daemon.folder)
    precious = Path("r.json" if there == "file" else "precious")
    precious.write_text("precious")
    if there == "link":
        Path("r.json").symlink_to(precious)
    elif there == "folder":
        Path("r.json").mkdir()
    done = daemon.run("--rate", "1mbit", "--json", "r.json", "--", "touch", "ran", status=2)
    assert done.stderr == f"sojournd: {message}\n"
    assert precious.read_text() == "precious"
    assert not Path("ran").exists()
    if there == "file":
        daemon.run("--rate", "1mbit", "--json", "r.json", "--force", "--", "true")
        assert json.loads(precious.read_text())["up"]["lateness"]


#: Programs that leave their group and heed no signal.
_STUBBORN = "trap '' TERM INT HUP; setsid sleep 600 & (sleep 600 &) ;"
_SERVER = f"{_STUBBORN} exec {sys.executable} -I -m http.server --bind 0.0.0.0 80"


@contextmanager
def begun(daemon: Daemon, *words: str, umask: int = -1) -> Iterator[subprocess.Popen[str]]:
    """Begin a bottleneck, and end it with whatever it started."""
    process = subprocess.Popen(daemon.words(*words), stderr=subprocess.DEVNULL, text=True, umask=umask)
    try:
        wait_for(lambda: daemon.socket.exists() and process.poll() is None)
        yield process
    finally:
        process.terminate()
        process.wait(timeout=20)


def _children(pid: int) -> list[int]:
    """All processes below one."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [found for child in map(int, below) for found in (child, *_children(child))]


def _namespaces(pids: list[int]) -> set[str]:
    """The network namespaces of processes, but for this one's."""
    found = set()
    for pid in pids:
        with suppress(OSError):
            found.add(str(Path(f"/proc/{pid}/ns/net").readlink()))
    return found - {str(Path("/proc/self/ns/net").readlink())}


def _all_processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


@contextmanager
def _killed_at_the_end(process: subprocess.Popen[str]) -> Iterator[None]:
    """Leave no process behind when an assertion fails before the test has killed it."""
    try:
        yield
    except BaseException:
        process.kill()
        process.wait(timeout=20)
        raise


def _two_hosts(process: subprocess.Popen[str]) -> set[str]:
    """Wait until programs run in both hosts of a bottleneck; return the hosts' namespaces."""
    wait_for(lambda: len(_children(process.pid)) >= 7 or process.poll() is not None)
    assert process.poll() is None
    found = _namespaces(_children(process.pid))
    assert len(found) == 2
    return found


def _gone(hosts: set[str]) -> None:
    wait_for(lambda: not hosts & _namespaces(_all_processes()))


@pytest.mark.parametrize("which", ["outer", "inner", "group"])
def test_nothing_is_left_of_a_bottleneck_that_is_killed(daemon: Daemon, which: str) -> None:
    devices = sorted(path.name for path in Path("/sys/class/net").iterdir())
    words = daemon.words("--rate", "10mbit", "--server", _SERVER, "--", "sh", "-c", f"{_STUBBORN} sleep 600")
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    with _killed_at_the_end(process):
        hosts = _two_hosts(process)
        if which == "group":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            os.kill(process.pid if which == "outer" else _children(process.pid)[0], signal.SIGKILL)
        _gone(hosts)
    assert process.wait(timeout=20) == (1 if which == "inner" else -signal.SIGKILL)
    assert sorted(path.name for path in Path("/sys/class/net").iterdir()) == devices
    # The next one takes the socket's place, if it is still there.
    daemon.run("--rate", "1mbit", "--", "true")


def _of_this_test(mark: str) -> list[int]:
    """All processes that have a variable in their environment."""
    found = []
    for pid in _all_processes():
        with suppress(OSError):
            if mark.encode() in Path(f"/proc/{pid}/environ").read_bytes():
                found.append(pid)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("which", ["outer", "inner"])
def test_a_kill_at_any_moment_leaves_nothing(daemon: Daemon, which: str) -> None:
    mark = f"SOJOURN_TEST={os.getpid()}-{which}"
    words = daemon.words("--rate", "10mbit", "--server", _SERVER, "--", "sh", "-c", f"{_STUBBORN} sleep 600")
    for step in range(40):
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL, env={**os.environ, **dict([mark.split("=")])})
        # From before the second process is there to when all programs are.
        time.sleep(0.01 * step)
        below = _children(process.pid)
        os.kill(below[0] if which == "inner" and below else process.pid, signal.SIGKILL)
        # How soon is the other tests' matter: on a busy machine the first steps are slow.
        wait_for(lambda: not _of_this_test(mark))
        process.wait(timeout=20)


def test_a_bottleneck_ends_with_its_master(daemon: Daemon) -> None:
    words = daemon.words("--rate", "10mbit", "--server", _SERVER, "--", "sh", "-c", f"{_STUBBORN} sleep 600")
    script = f"{shlex.join(words[:2])} --master $$ {shlex.join(words[2:])} & wait"
    master = subprocess.Popen(["/bin/sh", "-c", script], stderr=subprocess.DEVNULL, text=True)
    with _killed_at_the_end(master):
        hosts = _two_hosts(master)
        master.kill()
        _gone(hosts)
    master.wait(timeout=20)
