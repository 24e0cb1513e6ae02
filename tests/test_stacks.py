"""Transports of others: what a run of theirs is, what is found of two builds, and what becomes of bad ones."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from sojourn import api, backends
from sojourn.backends.stacks import PROGRAM
from sojourn.errors import ParamError
from sojourn.plan import run_id
from tests import optional
from tests.conftest import Cli, assert_one_sentence

SOURCE = (Path(__file__).parent / "window_stack.py").read_text(encoding="utf-8")
AIOQUIC = Path(__file__).parents[1] / "examples/aioquic_stack.py"
SHORT = ("run", "bulk", "--flows-down", "0", "--duration", "2s", "--qdisc", "pfifo limit 100", "--stack", "window")


def build(folder: Path, fault: str = "", name: str = "mine.py") -> str:
    """Write the transport with a fault, and return the file's path."""
    path = folder / name
    path.write_text(SOURCE.replace('FAULT = ""', f'FAULT = "{fault}"'), encoding="utf-8")
    return str(path)


def test_flow_of_a_stack_is_in_the_record_and_the_table(inside: Cli, tmp_path: Path) -> None:
    mine = build(tmp_path)
    record = json.loads(inside(*SHORT, "--stacks", mine, "--json").stdout)
    (flow,) = record["flows"]
    assert (flow["kind"], flow["congestion_control"]) == ("stack", "none")
    assert flow["stack"] == {"name": "window", "version": "window 1", "too_long": 0, "lost": flow["retransmissions"]}
    # Ten datagrams and one more each round trip: slow, but steady.
    assert 1.5 < flow["goodput_mbit"] < 9.5
    assert len(record["series"]["cwnd_segments"]["tcp_up_1"]) == len(record["series"]["t_s"])
    assert "window reno" in inside(*SHORT, "--stacks", mine, "--cc", "reno").stdout
    assert record["scenario"]["flows"][0] == {"name": "tcp_up_1", "direction": "up", "stack": "window"} | {
        key: record["scenario"]["flows"][0][key] for key in ("rtt", "start")
    }


def test_two_builds_of_a_stack_never_share_a_run(tmp_path: Path) -> None:
    text = api.build("bulk", stack="window", duration="1s").normalized()
    plain = api.build("bulk", duration="1s").normalized()
    one, other = (backends.named(f"sim:{build(tmp_path, fault, f'{fault}.py')}") for fault in ("", "silent"))
    assert run_id(text, backend=one) != run_id(text, backend=other)
    # A run without stacks is the simulator's, whatever stacks there are.
    assert run_id(plain, backend=one) == run_id(plain)


def test_runs_of_a_stack_are_kept(inside: Cli, tmp_path: Path) -> None:
    words = (*SHORT, "--stacks", build(tmp_path), "--repeat", "2", "--out", "kept", "--json")
    first = json.loads(inside(*words).stdout)
    again = json.loads(inside(*words, "--force").stdout)
    assert first == again


def test_a_window_that_grows_while_the_sender_is_idle_is_found(inside: Cli, tmp_path: Path) -> None:
    """As in a fix of neqo's window that came as far as Firefox's beta (mozilla/neqo#3640, reverted by #3760)."""
    good, bad = build(tmp_path, name="a.py"), build(tmp_path, "idle growth", "b.py")
    found = json.loads(inside("stacks", "compare", good, bad, "--stack", "window", "--repeat", "3", "--json").stdout)
    assert found["format"] == "sojourn-stacks-compare/1"
    rows = {(row["scenario"], row["metric"]): row for row in found["rows"]}
    window = rows["bursts after idle times", "cwnd_up"]
    assert window["verdict"] == "differs"
    assert window["difference"]["low"] > 0
    # It is seen where the sender is idle, and nowhere else.
    assert {row["scenario"] for row in found["rows"] if row["verdict"] == "differs"} <= {
        "bursts after idle times",
        "limited by its application",
    }
    same = json.loads(inside("stacks", "compare", good, good, "--stack", "window", "--repeat", "2", "--json").stdout)
    assert {row["verdict"] for row in same["rows"]} <= {"no difference seen", "cannot tell"}


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("raises", "it failed: RuntimeError: out of order"),
        ("silent", "it sent nothing"),
        ("long", "too long for the path"),
        ("empty", "nothing of what it sent was read"),
        ("past timer", "has just gone off: Agent::poll_timeout must answer a later time"),
    ],
)
def test_stack_that_misbehaves_has_failed(fault: str, sentence: str, inside: Cli, tmp_path: Path) -> None:
    done = inside(*SHORT, "--stacks", build(tmp_path, fault), status=1)
    assert sentence in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_stack_that_reads_the_clock_is_found(inside: Cli, tmp_path: Path) -> None:
    done = inside("stacks", "check", "--stack", "window", "--stacks", build(tmp_path, "clock"), "--json", status=1)
    assert any("reads a clock" in fault for cell in json.loads(done.stdout) for fault in cell["faults"])
    done = inside("stacks", "check", "--stack", "window", "--stacks", build(tmp_path))
    assert done.stdout.count("in order") == 11


def test_what_is_no_stack_is_refused(inside: Cli, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
    (tmp_path / "empty.py").write_text("", encoding="utf-8")
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho '{}'\n", encoding="utf-8")
    program.chmod(0o755)
    mine = build(tmp_path)
    for words, said in [
        (("--stacks", "none.py"), "must be the path of a program or of a Python file"),
        (("--stacks", "broken.py"), "nothing_of_this_name"),
        (("--stacks", "empty.py"), "STACKS"),
        (("--stacks", mine, "--stack", "other"), 'stack is "other", but this program has window'),
        (("--stacks", mine, "--cc", "vegas"), 'congestion_control is "vegas", but window has reno'),
        (("--stacks", mine, "--backend", "linux"), "the back end linux has none"),
    ]:
        assert_one_sentence(inside(*SHORT, *words, status=2), said)
    assert_one_sentence(inside("stacks", "list", "--stacks", str(program), status=2), "sojourn-stacks/1")
    assert_one_sentence(inside("stacks", "compare", mine, mine, "--stack", "x", status=2), "stack is 'x'")
    with pytest.raises(ParamError, match="linux back end has no such flows"):
        api.build("bulk", stack="window").normalized("linux")


def test_program_that_ends_badly_is_told(inside: Cli, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho first >&2\nexit 7\n", encoding="utf-8")
    program.chmod(0o755)
    done = inside(*SHORT, "--stacks", str(program), status=2)
    assert_one_sentence(done, "ended with status 7: first")


def test_aioquic_is_a_stack(inside: Cli) -> None:
    pytest.importorskip("aioquic", reason=optional.Need("aioquic", "scripts/setup").reason())
    words = (*SHORT[:-1], "aioquic", "--stacks", str(AIOQUIC), "--json")
    first, again = (json.loads(inside(*words).stdout) for _ in range(2))
    assert 4 < first["flows"][0]["goodput_mbit"] < 9.8
    for record in (first, again):
        record.pop("cost")
    assert first == again


def installed() -> str:
    """Return the program with quinn and noq, or skip the test."""
    found = shutil.which(PROGRAM)
    if found is None:
        optional.Need(f"the program {PROGRAM}", "make stacks").skip()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("stack", ["quinn", "noq"])
def test_stacks_of_others_are_in_order(stack: str, inside: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    installed()
    controls = {one["name"]: one["controls"] for one in json.loads(inside("stacks", "list", "--json").stdout)}[stack]
    for control in controls:
        inside("stacks", "check", "--stack", stack, "--cc", control)
    words = ("run", "bulk", "--flows-down", "0", "--duration", "2s", "--stack", stack)
    # After 9999 the certificate is out of date.
    monkeypatch.setitem(os.environ, "SOJOURN_STACKS_DATE", "300000000000")
    assert "is not valid after" in inside(*words, status=1).stdout
