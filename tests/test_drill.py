"""packetdrill scripts: the command, its sentences, and our own scripts on the kernel."""

from __future__ import annotations

import json
import os
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from sojourn import drill
from sojourn.errors import ParamError, SojournError
from sojourn.kernel.find import Kernel
from tests.conftest import assert_one_sentence
from tools import conformance

Cli = Callable[..., object]
ROOT = Path(__file__).parents[1]
OURS = ROOT / "testdata/packetdrill"
#: What our scripts find in kernels is in this table, where it is not that they pass.
TABLE = tomllib.loads((OURS / "kernels.toml").read_text())

CONNECT = """0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0...0.01 connect(3, ..., ...) = 0
+0 > S 0:0(0) <...>
+.01 < S. 0:0(0) ack 1 win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 8>
+0 > . 1:1(0) ack 1
"""
#: What a script may end with, and what is said of it.
ENDINGS = {
    "": "{}: passed",
    "+0 write(3, ..., 500) = 500\n+0 > P. 1:501(500) ack 2\n": (
        "{}:7: failed: expected P. 1:501(500) ack 2, but P. 1:501(500) ack 1 came"
    ),
    "+0 %{ assert tcpi_snd_cwnd == 11 }%\n": "{}:6: failed: expected tcpi_snd_cwnd == 11, but tcpi_snd_cwnd is 10",
    "+0 %{ n = 9; print('at most', n, '\x1b[2J'); assert tcpi_snd_cwnd <= n, '%d%%' % n }%\n": (
        "{0}:6: printed at most 9 \\x1b[2J\n"
        "{0}:6: failed: expected tcpi_snd_cwnd <= n, but tcpi_snd_cwnd is 10 and n is 9 (9%)"
    ),
    "+0 %{ import os }%\n": (
        "{}:6: not applicable: it needs import, and this part of Python is not known to sojourn-drill"
    ),
    "+0 < F .\t1:1 (0)  ack\t1  win  9\n+0 > .  1 : 1 (0)\n ack 2\n": "{}: passed",
    "+0 < [ect01] . 1:1(0) ack 1\n+0 ?\n": (
        "{}:6: not applicable: it needs ect01, and this word of a segment is not known to sojourn-drill"
    ),
    "+0 read(3, ..., 10) = 10\n": "{}:6: failed: expected an answer of read, but it still waits",
    "* > P. 1:2(1) ack 1\n": "{}:6: failed: expected P. 1:2(1) ack 1, but nothing came ever",
    "+0 read(9, ..., 10) = 10\n": "{}:6: failed: expected read = 10, but it answered -1 EBADF",
    "+0 sing(3) = 0\n": "{}:6: not applicable: it needs sing, and this call is not known to sojourn-drill",
    "+0 `reboot`\n": "{}:6: not applicable: it needs reboot, and this command is not known to sojourn-drill",
    "+0 < S\x1b[2J\n": "{}:6: damaged: expected a number, but found `\\x1b[2J`",
}


@pytest.fixture
def runner() -> Path:
    """The program that runs scripts."""
    try:
        return drill.program()
    except SojournError as error:
        pytest.fail(str(error))


@pytest.mark.usefixtures("runner")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_line_says_what_became_of_a_script(
    ending: str, tmp_path: Path, virtual_kernel: Kernel, inside: Callable[..., object]
) -> None:
    script = tmp_path / "one.pkt"
    script.write_text(CONNECT + ending)
    sentence = ENDINGS[ending].format(script)
    bad = ": failed" in sentence or ": damaged" in sentence
    done = inside("kernel", "drill", str(script), status=int(bad))
    *lines, summary = done.stdout.splitlines()  # type: ignore[attr-defined]
    assert "\n".join(lines) == sentence
    assert summary.startswith(f"Linux {virtual_kernel.release}: ")


@pytest.mark.usefixtures("runner", "virtual_kernel")
def test_a_guest_that_takes_too_long_is_a_failure(tmp_path: Path, virtual_kernel: Kernel) -> None:
    script = tmp_path / "long.pkt"
    script.write_text(CONNECT)
    found = drill.on_kernel(script, virtual_kernel, bound_s=0.01)
    assert found.sentence() == f"{script}: failed: expected an end, but it had not finished after 0 s"


@pytest.mark.usefixtures("runner")
@pytest.mark.parametrize("series", ["6.1", "6.12", "7.3"])
def test_our_scripts_hold_for_the_kernel(series: str) -> None:
    """They are made from RFCs and for our TCP; the kernel is another that must do what they say."""
    from sojourn.kernel.find import find
    from tests import optional

    try:
        kernel = find(series)
    except ParamError as error:
        optional.KERNEL.skip(error)
    found = {script.name: drill.on_kernel(script, kernel) for script in drill.scripts([OURS])}
    differs = {name: one.sentence() for name, one in found.items() if one.outcome != drill.PASSED}
    expected = {one["script"] for one in TABLE["differs"] if series in one["kernels"]}
    assert set(differs) == expected, "\n".join(differs.values())


@pytest.mark.usefixtures("runner", "virtual_kernel")
def test_a_script_has_the_same_outcome_each_time(tmp_path: Path, virtual_kernel: Kernel) -> None:
    script = tmp_path / "one.pkt"
    # When the kernel sends its SYN again is told to the microsecond.
    script.write_text(
        "0 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3\n"
        "+0 connect(3, ..., ...) = -1 EINPROGRESS\n+0 > S 0:0(0) <...>\n+9 > S 0:0(0) <...>\n"
    )
    first, second = (drill.on_kernel(script, virtual_kernel) for _ in range(2))
    assert first == second
    assert first.got is not None
    assert "it came at 1.0" in first.got


@pytest.mark.usefixtures("runner")
def test_our_own_tcp_runs_scripts_too(inside: Callable[..., object]) -> None:
    done = inside("kernel", "drill", "--ours", "--json", str(OURS))
    found = json.loads(done.stdout)  # type: ignore[attr-defined]
    assert found["format"] == "sojourn-kernel-drill/1"
    assert found["tested"] == "Sojourn's TCP"
    assert found["passed"] == len(found["scripts"]) == len(list(OURS.glob("*.pkt")))
    assert found["failed"] == found["damaged"] == found["not_applicable"] == 0


def test_scripts_below_a_folder_are_found_and_links_and_hidden_folders_are_not_searched(tmp_path: Path) -> None:
    (tmp_path / "b/c/d.pkt").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    wanted = [tmp_path / name for name in ("a.pkt", "b/a.pkt", "b/c/a.pkt", "b/c/d.pkt/a.pkt", "z.pkt")]
    for path in (*wanted, tmp_path / ".git/a.pkt", tmp_path / "b/a.txt", tmp_path / ".pkt"):
        path.write_text("")
    (tmp_path / "b/up").symlink_to(tmp_path)
    (tmp_path / "b/up.pkt").symlink_to(tmp_path)
    (tmp_path / "itself").symlink_to("itself")
    (tmp_path / "b/link.pkt").symlink_to(tmp_path / "a.pkt")
    assert drill.scripts([tmp_path]) == sorted([*wanted, tmp_path / "b/link.pkt"])


@pytest.mark.usefixtures("runner")
def test_what_is_no_script_is_refused_in_one_sentence(tmp_path: Path, inside: Callable[..., object]) -> None:
    (tmp_path / "empty").mkdir()
    binary = tmp_path / "binary.pkt"
    binary.write_bytes(b"\xff\xfe")
    large = tmp_path / "large.pkt"
    large.write_bytes(b" " * (drill.MOST_BYTES + 1))
    pipe = tmp_path / "pipe.pkt"
    os.mkfifo(pipe)
    for words, part in (
        ((str(tmp_path / "empty"),), "must have files whose names end in .pkt"),
        ((str(tmp_path / "absent"),), "it is not there"),
        ((str(binary),), "it is not text in UTF-8"),
        ((str(large),), f"must have at most {drill.MOST_BYTES}"),
        ((str(pipe),), "it is no regular file"),
        ((str(OURS), "--kernel", "7.3", "--ours"), "not allowed with"),
        ((), "SCRIPT"),
    ):
        ours = () if "--ours" in words else ("--ours",)
        done = inside("kernel", "drill", *words, *ours, status=2)
        assert_one_sentence(done, part)  # type: ignore[arg-type]


@pytest.mark.usefixtures("runner", "virtual_kernel")
def test_the_table_of_the_kernels_scripts_is_what_comes(virtual_kernel: Kernel) -> None:
    """Only where the scripts of Linux are: `SOJOURN_PACKETDRILL` names their folder."""
    folder = os.environ.get("SOJOURN_PACKETDRILL")
    table = json.loads((ROOT / "docs/data/conformance.json").read_text())
    series = next(name for name in table["kernels"] if virtual_kernel.release.startswith(f"{name}."))
    assert len(table["scripts"]) == 165
    for one in table["scripts"]:
        for found in one["outcomes"].values():
            assert found["outcome"] in drill.WORDS
            assert ("why" in found) == (found["outcome"] != drill.PASSED)
    if folder is None:
        return
    for one in table["scripts"]:
        found = drill.on_kernel(Path(folder) / one["script"], virtual_kernel)
        assert found.outcome == one["outcomes"][series]["outcome"], found.sentence()


@pytest.mark.parametrize("suite", conformance.SUITES)
def test_a_page_of_conformance_is_that_of_its_data(suite: str) -> None:
    found = conformance.SUITES[suite]
    data = json.loads(found.data.read_text())
    made = conformance.page(found, data)
    assert made == found.page.read_text()
    assert "not explained yet" not in made
    # What Linux 7.3, whose TCP ours is here, does not pass either is the script's.
    ours = [one["outcomes"]["ours"]["outcome"] for one in data["scripts"]]
    judged = [one["outcomes"] for one in data["scripts"] if one["outcomes"]["7.3"]["outcome"] == drill.PASSED]
    count = Counter(one["ours"]["outcome"] for one in judged)
    assert count[drill.PASSED] >= 9 * count[drill.FAILED]
    assert drill.DAMAGED not in ours


@pytest.mark.usefixtures("runner")
def test_the_table_of_the_public_suite_is_what_comes() -> None:
    """Only where that suite is: `SOJOURN_PACKETDRILL_GOOGLE` names its folder."""
    folder = os.environ.get("SOJOURN_PACKETDRILL_GOOGLE")
    table = json.loads(conformance.SUITES["google"].data.read_text())
    assert len(table["scripts"]) == 162
    for one in table["scripts"] if folder else []:
        found = drill.on_ours(Path(str(folder)) / one["script"])
        assert found.outcome == one["outcomes"]["ours"]["outcome"], found.sentence()


@pytest.mark.usefixtures("runner")
def test_the_settings_of_a_suite_are_read_and_no_shell_runs(tmp_path: Path) -> None:
    """A script of our own, whose SYN has timestamps or not by a file beside it."""
    (tmp_path / "tcp").mkdir()
    (tmp_path / "common").mkdir()
    script, settings = tmp_path / "tcp/one.pkt", tmp_path / "common/defaults.sh"
    script.write_text(
        "`../common/defaults.sh`\n0 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3\n"
        "+0 connect(3, ..., ...) = -1 EINPROGRESS\n+0 > S 0:0(0) <mss 1460,nop,nop,sackOK,nop,wscale 8>\n"
    )
    assert drill.on_ours(script).outcome == drill.FAILED
    settings.write_text("#!/bin/bash\n# no timestamps\nsysctl -q net.ipv4.tcp_timestamps=0 > /dev/null 2>&1\n")
    assert drill.on_ours(script).outcome == drill.PASSED
    for line, needs in (
        ("touch reached", "touch"),
        ("sysctl -q net.ipv4.tcp_ecn=`id -u`", "net.ipv4.tcp_ecn=id -u"),
        ("sysctl -q net.ipv4.tcp_ecn=$(id -u)", "net.ipv4.tcp_ecn=$(id"),
    ):
        settings.write_text(line)
        assert drill.on_ours(script).needs == needs
    settings.write_text("#" * 20_000)
    with pytest.raises(SojournError, match="must have at most 16384"):
        drill.on_ours(script)
