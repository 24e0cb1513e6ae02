"""The simulator against stored measurements of the Linux kernel: a fast subset of `scripts/fidelity`."""

import copy
import importlib.util
import json
import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SEEDS = 10

# The rows that the simulator must get right before any other; each takes a fraction of a second.
DISCIPLINES = ["pfifo", "ared", "pie", "codel", "sfq", "fq_codel", "fq_nocodel"]
ROWS = [f"rrul-10_10-{qdisc}-cubic" for qdisc in DISCIPLINES] + [
    f"one_up-10_10-{qdisc}-{congestion_control}" for qdisc in DISCIPLINES for congestion_control in ("cubic", "reno")
]


def load_script(name: str) -> ModuleType:
    """Import a script that has no file name extension."""
    loader = SourceFileLoader(name, str(ROOT / "scripts" / name))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


fidelity = load_script("fidelity")
REFERENCE: dict[str, Any] = json.loads((ROOT / "testdata" / "reference" / "linux-6.1.json").read_text())
ENTRIES: dict[str, Any] = {entry["name"]: entry for entry in REFERENCE["scenarios"]}


@pytest.mark.parametrize("name", ROWS)
def test_row_is_within_the_bar(name: str) -> None:
    (row,) = fidelity.compare([ENTRIES[name]], SEEDS, os.cpu_count() or 1)
    assert row.failures == [], (row.latency_ms, row.goodput_mbit)


def test_half_of_the_kernel_s_runs_are_within_the_bar_of_the_other_half() -> None:
    """A bar that the kernel itself misses tells nothing: of 63 scenarios two are so, in goodput, and none of `ROWS`."""
    missed = {}
    for name, entry in ENTRIES.items():
        row = fidelity.judge({**entry, "kernel": entry["kernel"][::2]}, entry["kernel"][1::2])
        if row.failures:
            missed[name] = row.failures
    assert missed == {"rrul-100_100-ared-cubic": ["goodput up"], "rrul-10_10-pie-reno": ["goodput down"]}
    assert not set(missed) & set(ROWS)


@pytest.mark.parametrize(
    ("latency_factor", "goodput_factor", "failures"),
    [
        (1.14, 1.0, []),
        (0.86, 1.0, []),
        (1.16, 1.0, ["latency"]),
        (0.84, 1.0, ["latency"]),
        (1.0, 1.029, []),
        (1.0, 0.969, ["goodput up", "goodput down"]),
        (1.2, 1.031, ["latency", "goodput up", "goodput down"]),
    ],
)
def test_bar_is_fifteen_and_three_per_cent(latency_factor: float, goodput_factor: float, failures: list[str]) -> None:
    entry = ENTRIES["rrul-10_10-pfifo-cubic"]
    runs = copy.deepcopy(entry["kernel"])
    for run in runs:
        run["ping"]["mean_ms"] = 50 + (run["ping"]["mean_ms"] - 50) * latency_factor
        for way in ("up", "down"):
            run[way]["goodput_mbit"] *= goodput_factor
    assert fidelity.judge(entry, runs).failures == failures


@pytest.mark.parametrize(("added_ms", "failures"), [(1.99, []), (-1.99, []), (2.01, ["latency"])])
def test_small_latencies_have_a_bar_of_two_milliseconds(added_ms: float, failures: list[str]) -> None:
    entry = ENTRIES["rrul-10_10-fq_codel-cubic"]
    runs = copy.deepcopy(entry["kernel"])
    for run in runs:
        run["ping"]["mean_ms"] += added_ms
    assert fidelity.judge(entry, runs).failures == failures


def test_fewer_than_ten_seeds_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        fidelity.main(["--seeds", "9"])
    assert stop.value.code == 2
    assert "--seeds is 9, but must be at least 10" in capsys.readouterr().err


def test_scenario_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert fidelity.main(["--only", "no such scenario"]) == 2
    assert "--only is 'no such scenario'" in capsys.readouterr().err
