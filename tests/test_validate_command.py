"""`sojourn validate` from end to end, with the simulator at other seeds in the place of the kernel."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from sojourn import backends, cells, runner
from sojourn.cells import InWorld, K, Means, Planned
from sojourn.errors import SojournError
from sojourn.scenario import Scenario
from sojourn.store.run import Run
from sojourn.validate import columns, document, execute, part
from sojourn.validate.entry import Entry
from sojourn.validate.execute import Repeats
from tests.conftest import Cli, assert_one_sentence

SMALL = ("--links", "10/10", "--duration", "4s", "--repeat", "2", "--sim-repeat", "2", "--workers", "1")


class StandIn:
    """The simulator as the kernel.

    Attributes
    ----------
    qdisc
        The discipline that it has instead of the one that was asked for; `None` has that.
    made
        The number of runs it was asked for.
    """

    def __init__(self) -> None:
        self.qdisc: str | None = None
        self.made = 0

    def in_world(self, means: Means) -> InWorld:
        """Stand in for `sojourn.cells.in_world`."""

        def run(planned: Sequence[Planned[K]], world: str, progress: str) -> dict[K, tuple[Run, ...]]:
            if world.startswith("linux"):
                self.made += len(planned)
                planned = [dataclasses.replace(one, scenario=self._other(one.scenario)) for one in planned]
            return cells.runs_of(planned, dataclasses.replace(means, progress=progress))

        return run

    def _other(self, scenario: Scenario) -> Scenario:
        other = dataclasses.replace(scenario, seed=(scenario.seed or 0) + 1000)
        if self.qdisc is None:
            return other
        return dataclasses.replace(other, qdisc_up=self.qdisc, qdisc_down=self.qdisc)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = StandIn()
    monkeypatch.setattr(cells, "in_world", stand_in.in_world)
    monkeypatch.setattr(backends, "named", lambda name: backends.SIMULATOR)
    return stand_in


def test_a_grid_is_run_judged_drawn_and_documented(inside: Cli, kernel: StandIn, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    words = ("validate", "rrul", "--qdisc", "codel", "--qdisc", "sfq", *SMALL, "--out", "o")
    done = inside(*words, "--json", "--document", "docs/fidelity.md", status=None)
    entries = json.loads(done.stdout)
    assert entries == json.loads((tmp_path / "o/validate.json").read_text())
    judged = [entry for entry in entries if entry["verdict"] != "not judged"]
    assert [(entry["qdisc"], entry["metric"]) for entry in judged] == [
        (qdisc, metric)
        for qdisc in ("codel", "sfq")
        for metric in ("induced_latency_ms", "goodput_up_mbit", "goodput_down_mbit")
    ]
    assert done.returncode == int(any(entry["verdict"] == "differs" for entry in judged))
    assert "4 runs on the kernel and 4 simulated ones" in done.stderr
    names = {path.name for path in (tmp_path / "o/figures").iterdir()}
    assert names == {f"{name}.{form}" for name in ("rtt_cdf", "cwnd", "drops", "settle") for form in ("svg", "png")}
    report = (tmp_path / "o/validate.md").read_text()
    assert "sojourn validate rrul --links 10/10 --qdisc codel --qdisc sfq --duration 4s --repeat 2" in report
    assert "rrul: goodput up, Mbit/s" in report
    assert "not judged" in report
    page = (tmp_path / "docs/fidelity.md").read_text()
    assert page.startswith("# Fidelity")
    assert page.index("## Rules") < page.index("## How it was made")
    assert "build" not in page
    assert str(tmp_path) not in page
    assert "wall" not in page
    assert len(list((tmp_path / "o/runs").glob("*/run.json"))) == 8


def test_the_same_command_goes_on_and_another_is_refused(inside: Cli, kernel: StandIn, tmp_path: Path) -> None:
    words = ("validate", "tcp_1up", "--qdisc", "sfq", *SMALL, "--out", "o")
    first = inside(*words, status=None)
    (tmp_path / "o/validate.json").unlink()
    made = sorted(path.stat().st_mtime_ns for path in (tmp_path / "o/runs").glob("*/run.json"))
    again = inside(*words, status=None)
    assert again.stdout == first.stdout
    assert (tmp_path / "o/validate.json").exists()
    assert sorted(path.stat().st_mtime_ns for path in (tmp_path / "o/runs").glob("*/run.json")) == made
    other = inside("validate", "tcp_1up", "--qdisc", "codel", *SMALL, "--out", "o", status=2)
    assert_one_sentence(other, "'o'", "--force")


def test_a_cell_that_differs_is_told_by_the_exit_status(inside: Cli, kernel: StandIn) -> None:
    kernel.qdisc = "pfifo limit 30"
    done = inside("validate", "tcp_1up", "--qdisc", "pfifo limit 200", *SMALL, status=1)
    assert "differs" in done.stdout
    kernel.qdisc = None
    same = inside("validate", "tcp_1up", "--qdisc", "pfifo limit 200", *SMALL, status=0)
    assert "differs" in same.stdout, "the heading of the counts"
    assert "agrees" in same.stdout


@pytest.mark.parametrize(
    ("experiment", "metrics"),
    [
        ("voip", {"goodput_up_mbit", "voip_delay_ms", "voip_loss"}),
        ("web_idle", {"page_fetch_s"}),
        (
            "rtt_fairness",
            {"induced_latency_ms", "goodput_up_mbit", *(f"share_tcp_{ms}ms" for ms in (10, 50, 200, 500))},
        ),
        ("transient", {"induced_latency_ms", "goodput_up_mbit", "goodput_down_mbit"}),
    ],
)
def test_every_experiment_has_its_metrics(inside: Cli, kernel: StandIn, experiment: str, metrics: set[str]) -> None:
    done = inside("validate", experiment, "--qdisc", "fq_codel", *SMALL, "--json", "--out", "o", status=None)
    entries = json.loads(done.stdout)
    assert {entry["metric"] for entry in entries if entry["verdict"] != "not judged"} == metrics
    shown = {entry["metric"] for entry in entries if entry["verdict"] == "not judged"}
    assert ("settling_s" in shown) == (experiment == "transient")


def test_the_cells_of_bbr_are_judged_by_latency_goodput_and_shares(
    inside: Cli, kernel: StandIn, tmp_path: Path
) -> None:
    words = ("--duration", "3s", "--repeat", "1", "--sim-repeat", "1", "--out", "o", "--json")
    entries = json.loads(inside("validate", "bbr-coexist", *words, status=None).stdout)
    judged = {entry["metric"] for entry in entries if entry["verdict"] != "not judged"}
    assert judged == {"induced_latency_ms", "goodput_up_mbit", "share_cubic_1", "share_bbr_2"}
    assert len({entry["scenario"] for entry in entries}) == 6
    assert "| cells | 6 |" in (tmp_path / "o/validate.md").read_text()


def test_drawn_scenarios_are_judged_together(inside: Cli, kernel: StandIn, tmp_path: Path) -> None:
    words = ("validate", "random", "--count", "3", "--seed", "2", "--repeat", "1", "--sim-repeat", "1", "--out", "o")
    done = inside(*words, status=None)
    assert "90th percentile" in done.stdout
    entries = json.loads((tmp_path / "o/validate.json").read_text())
    judged = [entry for entry in entries if entry["verdict"] != "not judged"]
    assert len(judged) == 6
    assert {entry["bar"] for entry in judged} == {0.05, 0.2}
    assert sum("relative_error" in entry and entry["bar_is"] is not None for entry in entries) == 9
    report = (tmp_path / "o/validate.md").read_text()
    worst = part.load(tmp_path / "o").worst
    assert len(worst) == 3
    for one in worst:
        assert f"| {one.scenario} | {one.title} |" in report
    assert '"experiment"' not in report  # a scenario with many flows would fill the page
    assert (tmp_path / "o/figures/scatter.png").exists()


@pytest.mark.slow
def test_the_whole_set_is_one_command(inside: Cli, kernel: StandIn, tmp_path: Path) -> None:
    small = ("--links", "10/10", "--qdisc", "sfq", "--duration", "2s", "--count", "2", "--repeat", "1")
    words = ("validate", "all", *small, "--sim-repeat", "1", "--out", "o", "--document", "fidelity.md")
    inside(*words, status=None)
    folders = {path.name for path in (tmp_path / "o").iterdir() if path.is_dir()} - {"runs", "figures"}
    parts = {"rrul", "tcp_1up_cubic", "tcp_1up_reno", "voip", "rtt_fairness", "web", "random_seed_1"}
    assert folders == parts
    page = (tmp_path / "fidelity.md").read_text().replace(" \\\n        ", " ")
    assert "sojourn validate all --links 10/10 --duration 2s --repeat 1 --sim-repeat 1 --qdisc 'sfq' --count 2" in page
    for heading in ("## rrul", "## tcp_1up reno", "## random, seed 1"):
        assert f"\n{heading}\n" in page
    entries = json.loads((tmp_path / "o/validate.json").read_text())
    assert len(entries) == sum(len(part.load(tmp_path / "o" / name).entries) for name in parts)


def test_a_page_is_made_of_several_folders(inside: Cli, kernel: StandIn, tmp_path: Path) -> None:
    inside("validate", "tcp_1up", "--qdisc", "sfq", *SMALL, "--out", "a", status=None)
    words = ("validate", "voip", "--qdisc", "sfq", *SMALL, "--out", "b", "--document", "page.md", "--with", "a")
    inside(*words, status=None)
    page = (tmp_path / "page.md").read_text()
    assert page.index("## tcp_1up") < page.index("## voip")
    assert "--with a" in page
    both = [part.load(tmp_path / name) for name in ("a", "b")]
    assert document.document(both, "x").count("# Fidelity") == 1


REFUSED = {
    "unknown experiment": (["rull"], ["experiment", "rull", "random", "all"]),
    "links spelled wrong": (["rrul", "--links", "10-10"], ["links", "10-10", "down/up"]),
    "a link twice": (["rrul", "--links", "10/1,10/1"], ["10/1", "twice"]),
    "a discipline twice": (["rrul", "--qdisc", "pie", "--qdisc", "pie"], ["qdisc", "pie", "once"]),
    "a variant": (["rrul", "--qdisc", "codel variant ns2"], ["codel variant ns2", "variant"]),
    "an unknown discipline": (["rrul", "--qdisc", "fq_cuddle"], ["fq_cuddle"]),
    "no scenarios": (["random", "--count", "0"], ["count", "0", "from 1"]),
    "parts of a grid": (["rrul", "--only", "grid"], ["only", "grid", "rrul"]),
    "a part that flusher has not": (["flusher", "--only", "grid,grids"], ["only", "grid,grids", "queues", "adaptive"]),
    "a part twice": (["flusher", "--only", "grid,grid"], ["only", "grid,grid", "once"]),
    "scenarios of a grid": (["rrul", "--count", "3"], ["count", "3", "random"]),
    "a link of drawn scenarios": (["random", "--links", "10/10"], ["links", "10/10", "draws"]),
    "a duration of drawn scenarios": (["random", "--duration", "5s"], ["duration", "5s", "draws"]),
    "no runs on the kernel": (["rrul", "--repeat", "0"], ["repeat", "0", "at least 1"]),
    "no simulated runs": (["rrul", "--sim-repeat", "0"], ["sim-repeat", "0", "at least 1"]),
    "no workers": (["rrul", "--workers", "0"], ["workers", "0", "at least 1"]),
    "congestion control of all": (["all", "--cc", "reno", "--out", "o"], ["cc", "reno", "all"]),
    "all without a folder": (["all"], ["out", "all"]),
    "a page of rrul": (["rrul", "--page", "google"], ["page", "google"]),
    "the rtt of rtt_fairness": (["rtt_fairness", "--rtt", "5ms"], ["rtt", "5ms"]),
    "a folder that is no validation": (["rrul", "--document", "x.md", "--with", "o"], ["o", "part.json"]),
    "with without a document": (["rrul", "--with", "o"], ["with", "o", "--document"]),
    "a link of a set": (["bbr-loss", "--links", "10/10"], ["links", "10/10", "cells of its own"]),
    "a kernel twice": (["rrul", "--kernel", "6.1", "--kernel", "6.1"], ["kernel", "6.1", "once"]),
    "a kernel without a name": (["rrul", "--kernel", ""], ["kernel", "kernel status"]),
    "a kernel of live runs": (["rrul", "--backend", "live", "--kernel", "6.1"], ["kernel", "6.1", "--backend linux"]),
    "two kernels of the flusher": (["flusher", "--kernel", "6.1", "--kernel", "7.3"], ["kernel", "6.1, 7.3", "one"]),
    "a document that is a folder": (["rrul", "--document", "."], ["document", "file"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_one_sentence_before_anything_runs(case: str, inside: Cli, kernel: StandIn) -> None:
    words, expected = REFUSED[case]
    assert_one_sentence(inside("validate", *words, status=2), *expected)
    assert kernel.made == 0


def test_without_a_kernel_the_back_end_says_so(inside: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> backends.Backend:
        if name == "linux":
            message = "there is no kernel to run: sojourn kernel build makes one"
            raise SojournError(message)
        return backends.SIMULATOR

    monkeypatch.setattr(backends, "named", none)
    assert_one_sentence(inside("validate", "rrul", *SMALL, status=2), "no kernel")


def test_the_runner_is_asked_for_the_kernel_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[object] = []

    def run_all(scenarios: Sequence[Scenario], **keywords: object) -> list[Run]:
        names.append(keywords["backend"])
        return []

    monkeypatch.setattr(runner, "run_all", run_all)
    monkeypatch.setattr(backends, "named", lambda name: name)
    execute.run_pairs((), Repeats(sim=1, kernel=1), cells.in_world(Means()), kernel="7.3")
    assert names == ["linux:7.3", "sim"]


def test_a_part_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    for text, word in (("{}", "format"), ("no", "JSON"), ('{"format": "sojourn-validate/1"}', "whole")):
        (tmp_path / part.FILE).write_text(text)
        with pytest.raises(SojournError, match=word):
            part.load(tmp_path)


def test_each_kernel_has_a_column_of_the_page(inside: Cli, kernel: StandIn, tmp_path: Path) -> None:
    drawn = ("validate", "trust", "--only", "sfq,cubic", "--count", "2", "--repeat", "1", "--sim-repeat", "1")
    kernels = ("--kernel", "6.1", "--kernel", "7.3")
    inside(*drawn, *kernels, "--out", "o", "--document", "trust.md", status=None)
    folders = {path.name for path in (tmp_path / "o").iterdir() if path.is_dir()} - {"runs", "figures"}
    assert folders == {f"trust_seed_1_only_sfq_cubic_kernel_{version}" for version in ("6.1", "7.3")}
    parts = [part.load(tmp_path / "o" / name) for name in sorted(folders)]
    assert [one.subject for one in parts] == ["trust, seed 1, only sfq cubic"] * 2
    assert "--kernel 7.3" in parts[1].command
    rows = (tmp_path / "o/errors.csv").read_text().splitlines()
    assert rows[0] == "kernel,scenario,metric,unit,real,simulator,relative_error"
    assert len(rows) == 1 + 2 * 2 * 3
    assert (tmp_path / "o/figures/errors.png").exists()
    page = (tmp_path / "trust.md").read_text()
    assert page.startswith("# Trust")
    assert "--kernel 6.1 --kernel 7.3" in page
    assert "## trust, seed 1, only sfq cubic, kernel 6.1" in page
    assert [one.name for one in part.load_all(tmp_path / "o")] == [one.name for one in parts]


def test_the_summary_has_a_column_for_each_kernel() -> None:
    entry = Entry(
        scenario="a",
        metric="goodput_up_mbit",
        title="goodput up",
        unit="Mbit/s",
        digits=3,
        verdict="agrees",
        surely=True,
        reason="",
        bar=0.2,
        bar_is="difference",
    )
    parts = [
        part.Part(
            name=part.named("rrul", kernel),
            command="",
            facts={"kernel": release},
            entries=[structs.replace(entry, verdict=verdict)],
            scenarios={},
        )
        for kernel, release, verdict in ((None, "6.1.9", "agrees"), ("7.3", "7.3.4", "differs"))
    ]
    assert columns.counts_table(parts).splitlines() == [
        "|  | metric | 6.1.9 | 7.3.4 |",
        "| :-- | :-- | --: | --: |",
        "| rrul | goodput | 1 of 1 (1) | 0 of 1 (1) |",
    ]
