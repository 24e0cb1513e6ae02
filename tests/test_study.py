"""`sojourn study`: a study in one file, judged by what other commands measure of the same runs, and worked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean, stdev

import pytest

import sojourn
from sojourn.errors import ParamError
from sojourn.study import file
from sojourn.study.cell import Observation
from sojourn.study.evidence import Evidence
from sojourn.study.quantities import QUANTITIES
from tests.conftest import Cli

STUDY = """
title = "Does CoDel keep the queue short?"
experiment = "voip"
duration = "2s"
repeat = 3
quantities = ["voice_delay", "goodput_up", "mos"]
[vary]
qdisc = ["codel", "pfifo limit 1000"]
flows_up = [1, 2]
[[claims]]
says = "CoDel's delay of a call is below 30 ms."
for = ["flows_up"]
of = "voice_delay"
at = { qdisc = "codel" }
is = "< 30 ms"
[[claims]]
says = "With CoDel the delay is that of the FIFO."
for = ["flows_up"]
of = "voice_delay"
at = { qdisc = "codel" }
less = { qdisc = "pfifo limit 1000" }
within = "-1 to 1 ms"
[[exhibits]]
title = "The queue"
kind = "lines"
along = "flows_up"
lines = "qdisc"
[[exhibits]]
title = "A map"
kind = "heat map"
quantities = ["voice_delay"]
along = "qdisc"
up = "flows_up"
[[exhibits]]
title = "CoDel alone"
kind = "table"
at = { qdisc = "codel" }
"""


def study(tmp_path: Path, text: str = STUDY) -> file.Study:
    path = tmp_path / "s.toml"
    path.write_text(text, encoding="utf-8")
    return file.load(path)


def test_a_study_says_of_its_runs_what_compare_says(inside: Cli, tmp_path: Path) -> None:
    words = ("--rate", "10mbit", "--duration", "2s", "--repeat", "3")
    text = STUDY.replace('experiment = "voip"', 'experiment = "voip"\nrate = "10mbit"')
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    claims = json.loads(inside("study", "s.toml", "--out", "o", "--json").stdout)
    assert [claim["verdict"] for claim in claims] == ["holds", "fails"]
    qdiscs = ("--qdisc", "codel", "--qdisc", "pfifo limit 1000")
    inside("compare", "voip", *qdiscs, "--flows-up", "2", *words, "--out", "c")
    index = json.loads((tmp_path / "c/index.json").read_text())
    means = {}
    for cell in index["cells"]:
        heads = [json.loads((tmp_path / "c/runs" / run / "run.json").read_text()) for run in cell["runs"]]
        means[cell["qdisc"]] = fmean(head["summary"]["goodput_up_mbit"] for head in heads)
    rows = (tmp_path / "o/tables/cells.csv").read_text().splitlines()
    for qdisc, mean in means.items():
        (row,) = (row for row in rows if row.startswith(f"{qdisc},2,goodput up (Mbit/s),"))
        assert float(row.split(",")[3]) == pytest.approx(mean, abs=1e-9)
    assert {path.name for path in (tmp_path / "o/figures").glob("*.png")} == {"exhibit-1.png", "exhibit-2-1.png"}
    page = (tmp_path / "o/study.md").read_text()
    assert page.startswith("# Does CoDel keep the queue short?\n\nClaims: 1 holds, 1 fails, 0 cannot tell")
    assert all((tmp_path / "o" / name).exists() for name in ("report.html", "claims.json", "tables/exhibit-3.csv"))
    # The same command goes on from there, and makes no run again.
    again = inside("study", "s.toml", "--out", "o", "--json", "--strict", status=1)
    assert json.loads(again.stdout) == claims


def test_a_verdict_is_that_of_students_interval(tmp_path: Path) -> None:
    one = study(tmp_path)
    delays = {"codel": (20.0, 21.0, 25.0), "pfifo limit 1000": (20.5, 21.5, 25.2)}
    runs = {
        cell: tuple(
            Observation(seed=n, voice_delay=ms + cell.flows_up, goodput_up=9.0, mos=4.0)
            for n, ms in enumerate(delays[cell.qdisc])
        )
        for cell in one.cells
    }
    below, alike = one.judge(Evidence(cells=runs))
    worst = [ms + 2 for ms in delays["codel"]]
    half = 4.302653 * stdev(worst) / 3**0.5  # Student's t of 2 degrees of freedom
    assert (below.verdict, below.value) == ("cannot tell", pytest.approx(fmean(worst)))
    assert (below.low, below.high) == (pytest.approx(fmean(worst) - half), pytest.approx(fmean(worst) + half))
    # Seed by seed the two are 0.5, 0.5 and 0.2 ms apart.
    assert alike.verdict == "holds"


def test_what_was_not_measured_is_missing(tmp_path: Path) -> None:
    one = study(tmp_path)
    nothing = tuple(Observation(seed=n, voice_delay=None, goodput_up=None, mos=None) for n in (1, 2))
    first, _ = one.judge(Evidence(cells=dict.fromkeys(one.cells, nothing)))
    assert (first.verdict, first.value) == ("cannot tell", None)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('of = "voice_delay"', 'of = "delay"', "a quantity is 'delay', but must be one of latency, "),
        ('of = "voice_delay"', 'of = "flow"', "a quantity is 'flow', but flow must be followed by the name of a flow"),
        ('is = "< 30 ms"', 'is = "short"', "claims[0].is is 'short', but must be such as \"> 0 ms\""),
        ('is = "< 30 ms"', "", "claims[0].is is missing"),
        ('for = ["flows_up"]', "", "claims[0] cannot be judged: a cell has no value for flows_up"),
        ('for = ["flows_up"]', 'for = ["flows"]', "claims[0].for has 'flows', but must name axes: qdisc, flows_up"),
        ('at = { qdisc = "codel" }', 'at = { qdisc = "red" }', "claims[0] cannot be judged: there are no runs of red"),
        ('along = "flows_up"', 'along = "rate"', "exhibits[0].along is 'rate', but must be one of qdisc, flows_up"),
        ('up = "flows_up"', "", "exhibits[1].up is missing"),
        ('kind = "heat map"', 'kind = "pie"', "exhibits[1].kind is 'pie', but must be one of heat map, lines, table"),
        ('says = "CoDel', 'say = "CoDel', "claims[0].say is not known"),
        ('title = "Does CoDel keep the queue short?"', "", "title is missing"),
        ("[vary]", "[varied]", "varied.qdisc is ['codel', 'pfifo limit 1000'], but must be text"),
        ('experiment = "voip"', 'experiment = "voice"', "experiment is 'voice', but must be one of"),
    ],
)
def test_what_is_wrong_is_one_sentence_before_anything_runs(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in STUDY
    with pytest.raises(ParamError) as refusal:
        study(tmp_path, STUDY.replace(old, new, 1))
    assert f"s.toml: {sentence}" in str(refusal.value)


def test_the_study_of_the_guide_has_at_most_fifty_lines_and_can_be_read() -> None:
    path = Path(__file__).parents[1] / "examples/fq-pie-call.toml"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 50
    assert len(file.load(path).cells) == 36


#: What the record of a plain link does not have.
MISSING = {"utilisation_up", "utilisation_down"}


def test_every_quantity_is_read_from_a_record() -> None:
    """Of a run of RRUL with a call, a page and a file; what it lacks is missing."""
    call = sojourn.run("voip_rrul", qdisc="fq_codel", rate="10mbit", duration="2s", seed=1).record
    words = {"flow": "tcp_up_1", "probe": "ping"}
    values = {name: known.read(call, *([words[name]] if known.argument else [])) for name, known in QUANTITIES.items()}
    assert {name for name, value in values.items() if value is None} == {*MISSING, "page_fetch", "fct"}
    up = [flow.goodput_mbit for flow in call.flows if flow.direction == "up"]
    assert values["goodput_up"] == pytest.approx(sum(up))
    assert values["flow"] == up[0]
    assert values["drops_down"] == sum(call.bottleneck["down"].drops.values()) > 0
    assert QUANTITIES["flow"].read(call, "no such flow") is None
    page = sojourn.run("web", qdisc="fq_codel", rate="10mbit", duration="5s", seed=1).record
    assert QUANTITIES["page_fetch"].read(page) == page.summary.page_fetch_s
    assert QUANTITIES["mos"].read(page) is QUANTITIES["voice_loss"].read(page) is None
