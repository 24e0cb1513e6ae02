"""Programs of people's own: what is refused, what a guest with programs does, and that it does the same each time."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sojourn import runner
from sojourn.backends.linux import LinuxBackend, flusher, programs, wifi
from sojourn.backends.linux.load import Program as Planned
from sojourn.cli.main import build_parser
from sojourn.errors import ParamError, SojournError
from sojourn.execution import Execution, bed_addresses, busiest, execute, scenario, with_addresses
from sojourn.kernel.find import Kernel
from sojourn.scenario import Flow, Program, Scenario, Station, Wifi
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore
from tests import optional
from tests.conftest import Cli, assert_one_sentence

EXAMPLES = Path(__file__).parents[1] / "examples/programs"
QUIC_BYTES = "300000"
NGINX = """\
daemon off; pid /var/tmp/nginx.pid; error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path /var/tmp/a; proxy_temp_path /var/tmp/b; fastcgi_temp_path /var/tmp/c;
  uwsgi_temp_path /var/tmp/d; scgi_temp_path /var/tmp/e;
  server { listen 8080; listen [::]:8080; location / { return 200 "$remote_addr\\n"; } }
}
"""


def shell(line: str, **link: Any) -> Execution:
    """Run a line of the shell in the client."""
    return execute(scenario(["/bin/sh", "-c", line], **({"rate": "5mbit", "duration": "5s"} | link)))


def made(*commands: Program, **keys: Any) -> Scenario:
    return Scenario(experiment="programs", duration="5s", lead="0s", programs=commands, **keys)


def needed(name: str, provider: str = optional.JUDGES) -> str:
    """Return the path of a program, or skip."""
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    return path or optional.Need(name, provider).skip()


def built(name: str, folder: Path) -> str:
    """Return the path of an example in Go, compiled, or skip."""
    go = needed("go", "install Go 1.26 or newer")
    program = folder / name
    done = subprocess.run(
        [go, "build", "-o", program, "."], cwd=EXAMPLES / name, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        optional.Need("the Go modules of the examples", f"cd examples/programs/{name} && go build").skip(done.stderr)
    return str(program)


def iperf3(_: Path) -> dict[str, Any]:
    needed("iperf3")
    return {"command": ["iperf3", "-c", "SERVER", "-t", "2"], "server": "iperf3 -s"}


def fping(_: Path) -> dict[str, Any]:
    return {"command": [needed("fping"), "-c", "10", "-p", "100", "SERVER"]}


def nginx(folder: Path) -> dict[str, Any]:
    needed("curl")
    (folder / "nginx.conf").write_text(NGINX)
    return {
        "command": ["curl", "-sS", "http://SERVER:8080/"],
        "server": [needed("nginx"), "-c", f"{folder}/nginx.conf"],
    }


def quic_go(folder: Path) -> dict[str, Any]:
    program = built("quic-go", folder)
    return {"command": [program, "fetch", "SERVER:4433", QUIC_BYTES], "server": [program, "serve", ":4433"]}


def pion(folder: Path) -> dict[str, Any]:
    program = built("pion", folder)
    return {"command": [program, "call", "SERVER:8080"], "server": [program, "serve", ":8080"]}


def aioquic(_: Path) -> dict[str, Any]:
    pytest.importorskip("aioquic", reason=optional.Need("aioquic", "scripts/setup").reason())
    words = [sys.executable, str(EXAMPLES / "aioquic/count.py")]
    return {"command": [*words, "SERVER", "4433", QUIC_BYTES], "server": [*words, "serve", "4433"]}


@pytest.mark.parametrize("make", [iperf3, fping, nginx, quic_go, pion, aioquic], ids=lambda make: make.__name__)
def test_a_program_does_the_same_each_time_to_the_last_byte_of_its_frames(
    make: Any,
    virtual_kernel: Kernel,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    capture = Program(
        name="capture",
        host="router",
        command=(needed("dumpcap"), "-q", "-i", "r1c", "-w", "/var/tmp/frames.pcapng"),
        ready="line Capturing",
        keep=("frames.pcapng",),
    )
    plan = scenario(**make(tmp_path), rate="10mbit", duration="6s")
    plan = dataclasses.replace(plan, programs=(capture, *plan.programs))
    runs = [execute(plan), execute(plan)]
    records = [json.loads(ran.run.text) for ran in runs]
    for record in records:
        del record["cost"]
    assert records[0] == records[1]
    assert runs[0].status == 0
    assert runs[0].stdout
    assert len(runs[0].output("frames.pcapng", "capture")) > 1000
    # Another seed draws other ports and keys.
    other = execute(dataclasses.replace(plan, seed=2))
    assert other.output("frames.pcapng", "capture") != runs[0].output("frames.pcapng", "capture")


def test_what_a_program_sees_and_may_do(virtual_kernel: Kernel, tmp_path: Path) -> None:  # noqa: ARG001
    (tmp_path / "given.txt").write_text("given")
    lines = [
        "set +e; pwd; cd; pwd; cat given.txt; date -u +%Y; getent hosts server | cut -d' ' -f1",
        "echo kept >out/result 2>/dev/null || { mkdir out; echo kept >out/result; }",
        "printf '\\377' >out/bytes; ln -s /etc/passwd out/link",
        # None of these may work.
        "touch /etc/x && echo WRONG; mount -o remount,rw / && echo WRONG; mount -t hostfs none /mnt && echo WRONG",
        f"cat {flusher._FOLDER}/job.json && echo WRONG; ls /proc/1/root && echo WRONG",
        "ip link add d0 type dummy && echo WRONG",
        "kill -9 1 && echo KILL; ping -c 1 -W 1 192.0.2.1 >/dev/null && echo WRONG; echo end",
    ]
    files, keep = (str(tmp_path / "given.txt"),), ("out/result", "out/bytes", "out/link", "out/none")
    ran = shell("\n".join(lines), files=files, keep=keep)
    assert "WRONG" not in ran.stdout
    assert ran.stdout.splitlines()[:4] == [os.getcwd(), "/var/tmp", "given2027", "fd00:0:4::1"]  # noqa: PTH109, S108
    assert ran.stdout.splitlines()[-1] == "end"
    assert ran.output("out/result") == b"kept\n"
    assert ran.output("out/bytes") == b"\xff"
    assert ran.program().base64 == ["out/bytes"]
    for gone in ("out/link", "out/none"):
        with pytest.raises(ParamError, match=f"output is '{gone}', but client left"):
            ran.output(gone)


def test_hosts_times_and_flows(virtual_kernel: Kernel) -> None:  # noqa: ARG001
    needed("ping")
    server = "import socket\ns = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\ns.bind(('::', 99))\nprint('up')\n"
    server += "while True:\n  d, a = s.recvfrom(2000)\n  s.sendto(d, a)\n"
    ran = execute(
        made(
            Program(name="echo", host="server2", command=(sys.executable, "-c", server), ready="line up"),
            Program(name="v6", host="client3", command=("ping", "-6", "-c", "3", "server2"), start="1s"),
            Program(name="v4", host="client", command=("ping", "-c", "2", "10.2.4.11")),
            Program(
                name="udp",
                host="client3",
                command=(
                    sys.executable,
                    "-c",
                    "import socket,os,sys\n"
                    "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                    "for i in range(20): s.sendto(bytes([i]) * 900, ('server2', 99))\n"
                    "for i in range(20): s.recv(2000)\n"
                    "print(os.environ['A'])",
                ),
                environment=("A=b=c",),
            ),
            Program(name="slow", host="router", command=("sleep", "60"), stop="2s"),
            Program(name="tc", host="router", command=(needed("tc"), "-s", "qdisc", "show", "dev", "r1m")),
            up="1mbit",
            rtt="20ms",
            flows=(Flow(name="bulk", direction="down", start="2s"),),
        )
    )
    flows = {(flow.protocol, flow.client.rpartition(":")[0]): flow for flow in ran.flows}
    assert flows["icmp", "[fd00:3:1::1]"].up.packets == 3
    assert flows["icmp", "10.0.1.1"].down.packets == 2
    udp = flows["udp", "10.3.1.1"]
    assert (udp.up.packets, udp.down.packets, udp.server) == (20, 20, "10.2.4.11:99")
    # All came at once, and the bucket had 3028 bytes for them.
    waited_ms = (20 * 942 - 3028) * 8 / 1000
    assert udp.up.sojourn_ms.max == pytest.approx(waited_ms, rel=0.01)
    assert udp.up.rate_mbit == pytest.approx(19 * 942 * 8 / 1000 / waited_ms, rel=0.01)
    assert busiest(udp) in (udp.up, udp.down)
    assert ran.output(of="udp") == b"b=c\n"
    assert "tbf" in ran.output(of="tc").decode()
    slow, ping = ran.program("slow"), ran.program("v6")
    assert (slow.status, slow.signal, slow.ended_s) == (None, None, None)
    assert ping.started_s == pytest.approx(1, abs=1e-3)
    assert ping.ended_s == pytest.approx(3.02, abs=0.01)
    assert ran.record.flows[0].goodput_mbit > 3


def test_a_station_of_a_cell_runs_a_program() -> None:
    needed("ping")
    try:
        backend = LinuxBackend(None, wifi.needed())
    except SojournError as error:
        optional.CELL.skip(error)
    stations = [Station(name=name, rate="ht mcs 3 20mhz") for name in ("one", "two")]
    ping = Program(name="ping", host="client2", command=("ping", "-c", "3", "server"))
    plan = made(ping, wifi=Wifi(stations=tuple(stations)), rtt="30ms")
    ran = Execution(Run(text=backend.run(plan.normalized("linux"))))
    flow = ran.flow("icmp")
    assert (flow.client.rpartition(":")[0], flow.up.packets, flow.down.packets) == ("10.0.1.12", 3, 3)
    assert ran.output(of="ping").count(b"bytes from") == 3
    with pytest.raises(ParamError, match='host is "client3", but must be one of the 2 stations of the cell'):
        made(dataclasses.replace(ping, host="client3"), wifi=Wifi(stations=tuple(stations))).normalized("linux")


GUEST = [
    ({"command": ["yes"]}, "program client was ended: it wrote more than 32 MiB to a file; its last words: y y"),
    ({"server": "exit 3"}, "program server ended with exit status: 3 before it was ready (port)"),
    (
        {"server": "nosuch", "ready": "port 80"},
        "before it was ready (port 80); its last words: /bin/sh: 1: nosuch: not",
    ),
    ({"server": "sleep 99", "ready": "line up"}, "program server was not ready (line up) after 30 s"),
    (
        {"command": [sys.executable, "-c", "x = [bytearray(10_000_000) for i in range(999)]"]},
        "the guest had no memory left",
    ),
]


@pytest.mark.parametrize(("keys", "sentence"), GUEST, ids=lambda value: value[:20] if isinstance(value, str) else "")
def test_a_program_that_takes_too_much_or_is_not_ready_ends_the_run(
    keys: dict[str, Any],
    sentence: str,
    virtual_kernel: Kernel,  # noqa: ARG001
) -> None:
    with pytest.raises(SojournError) as caught:
        execute(scenario(**({"command": ["true"], "duration": "3s"} | keys)))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_program_that_computes_without_end_is_ended(
    virtual_kernel: Kernel,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(programs.PATIENCE, "4")
    with pytest.raises(SojournError, match="not finished after 4 s: a program computes without end, or needs longer"):
        shell("while :; do :; done")
    monkeypatch.setenv(programs.PATIENCE, "soon")
    with pytest.raises(ParamError, match="SOJOURN_PATIENCE is 'soon', but must be a number of seconds above 0"):
        shell("true")


def test_a_port_that_is_taken_and_a_missing_library_are_said(virtual_kernel: Kernel, tmp_path: Path) -> None:  # noqa: ARG001
    listen = (sys.executable, "-m", "http.server", "80")
    first, second = (Program(name=name, host="server", command=listen, ready="port 80") for name in ("a", "b"))
    with pytest.raises(SojournError, match="program b is to wait at port 80 of server, but something waited there"):
        execute(made(first, second))
    source = tmp_path / "x.c"
    source.write_text("int f(void) { return 0; }\n")
    library = tmp_path / "libx.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    source.write_text("int f(void);\nint main(void) { return f(); }\n")
    subprocess.run(["cc", "-o", tmp_path / "x", source, f"-L{tmp_path}", "-lx"], check=True)
    library.unlink()
    with pytest.raises(SojournError, match=r"exit status: 127 before it was ready .*libx\.so: cannot open shared"):
        execute(made(Program(name="x", host="client", command=(str(tmp_path / "x"),), ready="port")))
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    with pytest.raises(SojournError, match="program x: /.*broken cannot be started: No such file"):
        execute(made(Program(name="x", host="client", command=(str(broken),))))


def test_what_cannot_be_run_in_a_guest_is_refused_before_it_starts(tmp_path: Path) -> None:
    setuid = tmp_path / "setuid"
    setuid.write_text("#!/bin/sh\n")
    setuid.chmod(0o755 | stat.S_ISUID)
    plain = tmp_path / "plain"
    plain.write_text("")
    for command, why in (
        ("no-such-program", "no program of that name is on the path"),
        (str(tmp_path), "that is a folder"),
        (str(tmp_path / "none"), "there is no such file"),
        (str(plain), "that file is not executable"),
        (str(setuid), "it is setuid or setgid, and a guest gives no program the rights of another user"),
        ("/dev/null", "that is no file"),
    ):
        with pytest.raises(ParamError, match=f"command is '.*', but {why}"):
            programs.executable("command", command)
    job = programs.job
    for files, why in (
        ([str(tmp_path / "none")], "there is no such file"),
        ([str(tmp_path)], "that is no file"),
        ([str(plain), str(plain)], r"programs\[0\].files has 'plain' twice"),
    ):
        planned = Planned(name="a", host="client", command=["true"], files=files)
        with pytest.raises(ParamError, match=why):
            job([planned], {"client": "10.0.1.1", "server": "10.0.4.1"}, others=[], ipv6=True)


def test_hosts_of_programs_come_after_those_of_other_traffic(virtual_kernel: Kernel) -> None:
    backend = LinuxBackend(virtual_kernel)
    one = Program(name="a", host="client2", command=("true",))
    text = made(one, flows=(Flow(name="f", direction="up", client=2),)).normalized("linux")
    with pytest.raises(ParamError, match="host of a program is client2, but must come after those of other traffic"):
        backend.run(text)
    text = made(one, flows=(Flow(name="f", direction="up", rtt="9ms"),)).normalized("linux")
    with pytest.raises(ParamError, match="number of different rtt values is 2, but must be 1 with programs"):
        backend.run(text)


def test_a_run_is_named_by_the_files_of_its_programs(virtual_kernel: Kernel, tmp_path: Path) -> None:
    backend, script = LinuxBackend(virtual_kernel), tmp_path / "x.sh"
    names = []
    for text in ("echo 1", "echo 2", "echo 1"):
        script.write_text(text)
        plan = made(Program(name="a", host="client", command=("sh", str(script)))).normalized("linux")
        names.append(backend.identity_of(plan))
    assert names[0] == names[2] != names[1]
    assert backend._task(plan).name() is None  # what was measured is not kept


def test_a_store_keeps_what_programs_wrote(virtual_kernel: Kernel, tmp_path: Path) -> None:
    backend, store = LinuxBackend(virtual_kernel), RunStore(tmp_path)
    plan = [made(Program(name="a", host="client", command=("sh", "-c", "echo kept; ping -c 2 server")))]
    [first] = runner.run_all(plan, workers=1, store=store, backend=backend)
    [again] = runner.run_all(plan, workers=1, store=store, backend=backend)
    assert again.text == first.text
    assert Execution(again).output(of="a").startswith(b"kept\n")
    assert Execution(again).flow("icmp").up.packets == 2
    assert len(store.ids()) == 1


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program in place of `sojournd` that writes its words down."""
    program, words = tmp_path / "sojournd", tmp_path / "words"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{words}\nexit 7\n')
    program.chmod(0o755)
    monkeypatch.setenv("SOJOURND", str(program))
    return words


def test_the_same_line_runs_live(cli: Cli, recorder: Path) -> None:
    line = ("--rate", "20mbit", "--rtt", "50ms", "--qdisc", "cake", "--server", "iperf3 -s")
    cli("exec", *line, "--backend", "live", "--", "iperf3", "-c", "SERVER", "--bitrate", "-5", status=7)
    words = recorder.read_text().splitlines()
    assert words == [
        *("bottleneck", "--delay", "25000000ns", "--qdisc", "cake", "--stats", "--rate", "20mbit"),
        *("--burst", "3028b"),
        *("--server", "iperf3 -s", "--", "iperf3", "-c", "10.0.0.2", "--bitrate", "-5"),
    ]


def test_exec_hands_on_output_and_status(virtual_kernel: Kernel, cli: Cli, tmp_path: Path) -> None:  # noqa: ARG001
    record = tmp_path / "run.json"
    done = cli(
        "exec", "--rate", "2mbit", "--json", str(record), "--", "sh", "-c", "echo out; echo err >&2; exit 5", status=5
    )
    assert done.stdout == "out\n"
    assert "err\n" in done.stderr
    assert "client   client  status 5" in done.stderr
    assert json.loads(record.read_text())["programs"][0]["status"] == 5
    assert_one_sentence(cli("exec", "--json", str(record), "--", "true", status=2), "json", "exists already")
    stopped = cli("exec", "--duration", "1s", "--", "sleep", "5", status=124)
    assert "the command had not ended after 1s and was stopped: see --duration" in stopped.stderr
    assert cli("exec", "--duration", "1s", "--", "sh", "-c", "kill -ABRT $$", status=134).stdout == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "command is not given, but must follow --"),
        (("--rate", "fast", "--", "true"), 'down: "fast" is not a rate'),
        (("--rtt", "5ms", "--delay", "5ms", "--", "true"), "must not be given together with rtt"),
        (("--loss", "much", "--", "true"), "loss is much, but must be a share such as 0.1%"),
        (("--backend", "sim", "--", "true"), "backend is sim, but must be linux or live"),
        (("--ready", "soon", "--server", "true", "--", "true"), 'ready is "soon", but must be "port NUMBER"'),
        (("--backend", "live", "--keep", "x", "--", "true"), "is for the back end linux only"),
        (("--keep", "a/x", "--keep", "b/x", "--", "true"), "keep is x, x, but must name files of different names"),
        (("--", "no-such-program"), "command is 'no-such-program', but no program of that name is on the path"),
    ],
    ids=str,
)
def test_what_exec_is_told_wrongly_is_said_in_one_sentence(words: tuple[str, ...], says: str, cli: Cli) -> None:
    done = cli("exec", *words, status=2)
    assert_one_sentence(done, "sojourn")
    assert says.replace("'", "") in done.stderr.replace("'", "")


def test_words_stand_for_addresses_as_a_whole_only() -> None:
    assert (
        with_addresses("http://SERVER:80/SERVERS?[SERVER6]", bed_addresses())
        == "http://10.0.4.1:80/SERVERS?[fd00:0:4::1]"
    )
    with pytest.raises(ParamError, match="command is 'ls', but must be a list of words"):
        scenario("ls")
    assert build_parser().parse_args(["exec", "--", "a", "--rate", "x"]).words[-2:] == ["--rate", "x"]


def test_the_fixture_runs_in_somebody_elses_tests(virtual_kernel: Kernel, tmp_path: Path) -> None:  # noqa: ARG001
    (tmp_path / "test_mine.py").write_text(
        "def test_a_small_queue(behind_link):\n"
        '    ran = behind_link(["sh", "-c", "ping -c 3 SERVER"], rate="1mbit", duration="4s")\n'
        "    assert ran.status == 0\n"
        '    assert ran.flow("icmp").up.sojourn_ms.p99 < 1\n'
        "def test_that_fails(behind_link):\n"
        '    assert behind_link(["false"], duration="1s").status == 0\n'
    )
    words = [sys.executable, "-m", "pytest", "-q", "-p", "sojourn.testing", "-p", "no:cacheprovider", "test_mine.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
