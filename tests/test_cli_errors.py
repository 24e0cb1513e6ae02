"""Bad input: exit status 2 and one sentence that names the field, the value and the rule."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.conftest import Cli, assert_one_sentence

REFUSED = {
    "unknown discipline": (["run", "rrul", "--qdisc", "fq_cuddle"], ["fq_cuddle", "fq_codel"]),
    "unknown preset": (["run", "rrul", "--qdisc", "gbw:nothing"], ["gbw:nothing"]),
    "unknown word of a discipline": (["run", "rrul", "--qdisc", "codel goal 5ms"], ["goal"]),
    "too many flows": (["run", "rrul", "--qdisc", "fq_codel flows 70000"], ["flows", "70000"]),
    "limit of zero": (["run", "rrul", "--qdisc", "pfifo limit 0"], ["limit", "0"]),
    "empty discipline": (["run", "rrul", "--qdisc", ""], []),
    "negative rate": (["run", "rrul", "--rate", "-5mbit"], ["-5mbit"]),
    "zero rate": (["run", "rrul", "--up", "0mbit"], ["up", "0"]),
    "rate without a number": (["run", "rrul", "--down", "fast"], ["down", "fast"]),
    "rtt that is not a time": (["run", "rrul", "--rtt", "long"], ["rtt", "long"]),
    "negative rtt": (["run", "rrul", "--rtt", "-50ms"], ["rtt", "-50ms"]),
    "duration of zero": (["run", "rrul", "--duration", "0s"], ["duration", "0"]),
    "duration that is a rate": (["run", "rrul", "--duration", "5mbit"], ["duration", "5mbit"]),
    "negative seed": (["run", "rrul", "--seed", "-1"], ["seed", "-1"]),
    "seed beyond 64 bits": (["run", "rrul", "--seed", str(2**64)], ["seed", str(2**64)]),
    "seed that is a word": (["run", "rrul", "--seed", "one"], ["seed", "one", "whole number"]),
    "unknown congestion control": (["run", "rrul", "--cc", "warp"], ["warp", "cubic"]),
    "repeat of zero": (["run", "rrul", "--repeat", "0"], ["repeat", "0", "at least 1"]),
    "negative repeat": (["compare", "rrul", "--qdisc", "codel", "--repeat", "-3"], ["repeat", "-3", "at least 1"]),
    "workers of zero": (["compare", "rrul", "--qdisc", "codel", "--workers", "0"], ["workers", "0", "at least 1"]),
    "compare without a discipline": (["compare", "rrul"], ["--qdisc", "required"]),
    "compare of one with itself": (["compare", "rrul", "--qdisc", "codel", "--qdisc", "codel"], ["codel", "once"]),
    "second discipline unknown": (["compare", "rrul", "--qdisc", "codel", "--qdisc", "cake!"], ["cake!"]),
    "rate and up": (["run", "rrul", "--rate", "1mbit", "--up", "2mbit"], ["rate", "1mbit", "up"]),
    "qdisc and qdisc-up": (["run", "rrul", "--qdisc", "codel", "--qdisc-up", "pie"], ["qdisc", "codel", "qdisc_up"]),
    "flows for rrul": (["run", "rrul", "--flows-up", "2"], ["flows-up", "2", "bulk"]),
    "negative flows": (["run", "bulk", "--flows-down", "-2"], ["flows-down", "-2", "from 0"]),
    "tuning live": (["tune", "codel", "--backend", "live"], ["backend", "live", "tune"]),
    "backend of reproduce": (
        ["reproduce", "good-bad-wifi", "--out", "o", "--backend", "live"],
        ["backend", "live"],
    ),
    "unknown backend": (["run", "rrul", "--backend", "ns3"], ["backend", "ns3", "sim, linux, live"]),
    "unknown experiment": (["run", "rull"], ["experiment", "rull", "rrul"]),
    "missing file": (["run", "nothing.toml"], ["nothing.toml", "cannot be read"]),
    "no command": ([], ["COMMAND"]),
    "unknown command": (["simulate"], ["simulate", "compare"]),
    "unknown option": (["run", "rrul", "--colour", "red"], ["--colour"]),
    "option without its value": (["run", "rrul", "--rtt"], ["--rtt"]),
    "abbreviated option": (["run", "rrul", "--dur", "5s"], ["--dur"]),
    "unknown paper": (["reproduce", "rfc1925", "--out", "o"], ["rfc1925", "good-bad-wifi"]),
    "unknown part": (["reproduce", "good-bad-wifi", "--only", "wimax", "--out", "o"], ["only", "wifi", "rrul"]),
    "unknown profile": (["reproduce", "good-bad-wifi", "--profile", "slow", "--out", "o"], ["profile", "slow"]),
    "reproduce without out": (["reproduce", "good-bad-wifi"], ["--out", "required"]),
    "unknown figure": (["plot", "pie", "o", "--out", "x.svg"], ["pie", "ellipse"]),
    "unknown part of the list": (["list", "flows"], ["flows", "presets"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_in_one_sentence(name: str, cli: Cli, tmp_path: Path) -> None:
    words, expected = REFUSED[name]
    assert_one_sentence(cli(*words, status=2), *expected)
    assert list(tmp_path.iterdir()) == []


FILES = {
    "unknown key": ('experiment = "x"\ncolour = "red"\n', ["colour"]),
    "unknown key of a flow": ('[[flows]]\nname = "a"\ndirection = "up"\nspeed = 3\n', ["speed"]),
    "not TOML": ("duration = = 5\n", ["bad.toml", "not TOML"]),
    "wrong type": ("duration = 5.5\n", ["duration"]),
    "a date for a time": ("rtt = 2026-01-01\n", ["rtt", "2026-01-01"]),
    "a negative rate": ('up = "-1mbit"\n', ["up", "-1mbit"]),
    "a discipline that is not": ('qdisc_up = "slow"\n', ["slow"]),
    "a direction that is not": ('[[flows]]\nname = "a"\nkind = "tcp"\ndirection = "left"\n', ["left"]),
    "a number that is not one": ("seed = nan\n", []),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_file_is_refused_in_one_sentence(name: str, cli: Cli, tmp_path: Path) -> None:
    text, expected = FILES[name]
    (tmp_path / "bad.toml").write_text(text)
    assert_one_sentence(cli("run", "bad.toml", status=2), "bad.toml", *expected)


def test_file_that_is_not_text_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    assert_one_sentence(cli("run", "bad.toml", status=2), "bad.toml", "UTF-8")


def test_folder_is_no_experiment(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    assert_one_sentence(cli("run", "folder.toml", status=2), "folder.toml", "cannot be read")


@pytest.mark.parametrize(
    "words", [["run", "rrul"], ["compare", "rrul", "--qdisc", "codel"], ["reproduce", "good-bad-wifi"]]
)
def test_results_are_not_overwritten_unasked(words: list[str], cli: Cli, tmp_path: Path) -> None:
    existing = tmp_path / "there" / "kept.txt"
    existing.parent.mkdir()
    existing.write_text("mine")
    assert_one_sentence(cli(*words, "--out", "there", status=2), "out", "there", "--force")
    assert [path.name for path in existing.parent.iterdir()] == ["kept.txt"]


def test_out_that_is_a_file_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert_one_sentence(cli("run", "rrul", "--out", "file", status=2), "out", "file", "folder")
    assert (tmp_path / "file").read_text() == "mine"


def test_out_below_a_file_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert_one_sentence(cli("run", "rrul", "--out", "file/below", status=2), "out", "file/below")


def test_plot_of_a_folder_without_results_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert_one_sentence(cli("plot", "cdf", "empty", "--out", "x.svg", status=2), "empty", "no results")


def test_plot_of_a_broken_record_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"format": "sojourn-run/9"}')
    assert_one_sentence(cli("plot", "cdf", ".", "--out", "x.svg", status=2), "run.json", "sojourn-run/1")
    (tmp_path / "run.json").write_text("{")
    assert_one_sentence(cli("plot", "cdf", ".", "--out", "x.svg", status=2), "run.json", "JSON")
    (tmp_path / "index.json").write_text("[]")
    assert_one_sentence(cli("plot", "cdf", ".", "--out", "x.svg", status=2), "index.json", "list", "object")
    (tmp_path / "index.json").write_text("{}")
    assert_one_sentence(cli("plot", "cdf", ".", "--out", "x.svg", status=2), "index.json", "sojourn-folder/2")


def test_plot_to_another_format_is_refused(cli: Cli) -> None:
    assert_one_sentence(cli("plot", "cdf", ".", "--out", "x.gif", status=2), "out", "x.gif", ".svg", ".png")


def test_reader_that_leaves_early_is_no_error(cli: Cli, tmp_path: Path) -> None:
    import subprocess
    import sys

    writer = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.close()
    talk = writer.stderr.read().decode()
    writer.stderr.close()
    assert writer.wait(60) == 0
    assert talk == ""


def test_help_of_every_command_states_units_and_defaults(cli: Cli) -> None:
    for command in ("run", "compare", "reproduce"):
        shown = cli(command, "--help").stdout
        assert shown.count("default") >= 4, command
    assert "10mbit" in cli("run", "--help").stdout
    for command in ("list", "plot", "report"):
        assert command in cli(command, "--help").stdout


def test_socket_as_out_is_refused(cli: Cli, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as there:
        there.bind(str(tmp_path / "socket"))
        assert_one_sentence(cli("run", "rrul", "--out", "socket", status=2), "out", "socket")


def test_an_output_folder_that_exists_is_refused_even_empty(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    result = cli("run", "rrul", "--duration", "1s", "--out", "there", status=2)
    assert_one_sentence(result, "out", "there already", "--force")
    cli("run", "rrul", "--duration", "1s", "--out", "there", "--force", status=0)
