"""`sojourn validate`: bars and verdicts worked by hand, metrics of made-up records, disciplines, drawn scenarios."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from msgspec import structs, to_builtins

from sojourn import _native
from sojourn.errors import ParamError
from sojourn.stats import Interval
from sojourn.stats.difference import difference_interval
from sojourn.store.run import Run
from sojourn.units import bits_per_s, seconds
from sojourn.validate import bars, bbr_sets, draw, errors, grid, loss, metrics, uniform
from sojourn.validate.bars import Factor, Side, Within
from sojourn.validate.disciplines import named_disciplines, table_1
from sojourn.validate.errors import Error
from sojourn.validate.execute import Both, Repeats, kernel_seconds
from sojourn.validate.grid import Link, PlannedCell
from sojourn.validate.itself import errors_of_itself
from sojourn.validate.judge import Row, judge
from sojourn.validate.part import Counts, drawn_entries, in_json
from sojourn.validate.populations import POPULATIONS
from tests.records import Json, flow, record, run_of


def side(value: float, half: float | None = 0.0, *, resolves: float = 0.0, trials: int = 0) -> Side:
    """Return a side whose interval is symmetric; `None` for that of one run."""
    ends = (None, None) if half is None else (value - half, value + half)
    interval = Interval(value=value, low=ends[0], high=ends[1], n=1 if half is None else 8)
    return Side(interval=interval, resolves=resolves, trials=trials)


def test_the_interval_of_a_difference_takes_from_each_side_what_matters() -> None:
    a, b = Interval(value=10, low=7, high=14, n=8), Interval(value=5, low=3, high=9, n=4)
    found = difference_interval(a, b)
    assert (found.value, found.n) == (5, 4)
    assert found.low == pytest.approx(5 - math.hypot(10 - 7, 9 - 5))  # 5 - 5 = 0
    assert found.high == pytest.approx(5 + math.hypot(14 - 10, 5 - 3))
    twice = difference_interval(a, b, factor=2)
    assert (twice.value, twice.low) == (0, pytest.approx(-math.hypot(3, 8)))
    assert difference_interval(a, Interval(value=1, low=None, high=None, n=1)).low is None


def test_latency_is_judged_by_ten_percent_or_a_millisecond() -> None:
    assert metrics.LATENCY.room(200) == pytest.approx(20)
    assert metrics.LATENCY.room(3) == 1
    assert metrics.GOODPUT.room(9) == pytest.approx(0.18)
    assert metrics.FLOW_SHARE.room(60) == 10
    assert metrics.PAGE_FETCH.room(2) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("sim", "kernel", "expected"),
    [
        (side(109), side(100), ("agrees", True)),
        (side(91), side(100), ("agrees", True)),
        (side(1.3), side(0.4), ("agrees", True)),
        (side(109, 5), side(100, 5), ("agrees", False)),  # 9 +- 7.1 reaches beyond 10
        (side(120, 1), side(100, 1), ("differs", False)),  # 20 +- 1.4 is beyond 10
        (side(80, 1), side(100, 1), ("differs", False)),
        (side(112, 7), side(100, 2), ("cannot tell", False)),  # 12 +- 7.3 reaches into 10
        (side(88, 7), side(100, 2), ("cannot tell", False)),
        (side(109, None), side(100, 1), ("agrees", False)),
        (side(500, None), side(100, 1), ("cannot tell", False)),
        (side(math.inf, 0), side(100, 1), ("cannot tell", False)),
    ],
)
def test_a_verdict_looks_at_the_interval_of_the_difference(sim: Side, kernel: Side, expected: tuple[str, bool]) -> None:
    found = metrics.LATENCY.judge(sim, kernel)
    assert (found.verdict, found.surely) == expected


def test_one_run_is_said_to_be_the_reason() -> None:
    assert "one run" in Within(share=0.1).judge(side(5, None), side(1, 0.1)).reason


@pytest.mark.parametrize(
    ("sim", "kernel", "expected"),
    [
        (side(2.9), side(2.0), ("agrees", True)),
        (side(1.4), side(2.0), ("agrees", True)),
        (side(2.9, 0.2), side(2.0, 0.2), ("agrees", False)),
        (side(4.0, 0.1), side(2.0, 0.1), ("differs", False)),  # 4 - 3 = 1, half hypot(0.1, 0.15)
        (side(1.0, 0.1), side(2.0, 0.1), ("differs", False)),  # 2 - 1.5 = 0.5, half hypot(0.1, 0.15)
        (side(3.1, 1.0), side(2.0, 0.1), ("cannot tell", False)),
        (side(0.0), side(0.0), ("agrees", False)),
        (side(0.0, 0.0), side(2.0, 0.1), ("differs", False)),
        (side(4.0, None), side(2.0, 0.1), ("cannot tell", False)),
    ],
)
def test_a_factor_is_judged_without_a_quotient(sim: Side, kernel: Side, expected: tuple[str, bool]) -> None:
    found = Factor(factor=1.5).judge(sim, kernel)
    assert (found.verdict, found.surely) == expected


def test_shares_below_what_the_packets_resolve_are_equal() -> None:
    few = Factor(factor=1.5).judge(side(0.01, resolves=0.0003, trials=9000), side(0.0, resolves=0.02, trials=150))
    assert few.verdict == "agrees"
    assert "150 packets" in few.reason
    assert "0.02 %" in few.reason
    many = Factor(factor=1.5).judge(side(0.01, resolves=0.0003, trials=9000), side(0.0, resolves=0.0003, trials=9000))
    assert many.verdict == "differs"


def test_a_voice_loss_resolves_three_packets() -> None:
    found = loss.lost_share([0, 0, 0, 0], [3000] * 4)
    assert found is not None
    assert (found.interval.value, found.trials) == (0, 12000)
    assert found.resolves == pytest.approx(100 * 3 / 12000, rel=0.002)
    assert found.interval.high == pytest.approx(found.resolves)
    assert loss.lost_share([], []) is None


def test_equal_losses_have_at_least_poissons_interval() -> None:
    found = loss.lost_share([1, 1, 1, 1], [3000] * 4)
    assert found is not None
    # Garwood's table: 4 events, 95 %.
    assert loss.poisson_interval(4) == (pytest.approx(1.0899, abs=1e-4), pytest.approx(10.2416, abs=1e-4))
    assert found.interval.low == pytest.approx(100 * 1.0899 / 12000, rel=1e-4)
    assert found.interval.high == pytest.approx(100 * 10.2416 / 12000, rel=1e-4)


def test_losses_in_bursts_have_the_wider_interval_of_the_runs() -> None:
    found = loss.lost_share([0, 0, 0, 400], [3000] * 4)
    assert found is not None
    assert found.interval.low == 0
    assert found.interval.high is not None
    assert found.interval.high > 100 * 450 / 12000


def made_up(**changes: Any) -> Json:
    """Return a record with one flow up, a probe and nothing else."""
    more = {"congestion_control": "cubic", "base_rtt_ms": 50.0, "retransmissions": 5, "timeouts": None}
    more |= {"mean_cwnd_segments": 40.0, "drop_gaps_ms": {"count": 3, "mean": 100.0, "cv": 0.5}}
    end = {"drops": {"queue_limit": 3, "congestion": 4}, "backlog_packets": {"mean": 12.5}}
    summary = {"induced_latency_ms": 12.0, "goodput_up_mbit": 9.0, "goodput_down_mbit": 0.0, "probe_loss": 0.25}
    parts = {
        "backend": "linux",
        "scenario": {"duration": "60s"},
        "summary": {**summary, "rtt_ms": {"count": 10}, "page_fetch_s": None},
        "flows": [flow("tcp_up_1", "up", 9.0, **more)],
        "bottleneck": {"up": end, "down": end},
    }
    return record(**{**parts, **changes})


def of_goodput(goodput: float) -> Json:
    """Return a made-up record of this goodput up."""
    return made_up(summary={**made_up()["summary"], "goodput_up_mbit": goodput})


def runs(*records: Json) -> tuple[Run, ...]:
    return tuple(run_of(record) for record in records)


def cell(name: str = "tcp_1up 10/10 codel") -> PlannedCell:
    scenario = grid.cells("tcp_1up", grid.read_links("10/10"), named_disciplines(["codel"]))[0].scenario
    return PlannedCell(name=name, link="10/10", qdisc="codel", scenario=scenario)


def rows(sim: Json, kernel: Json) -> dict[str, Row]:
    found = judge(Both(cell=cell(), sim=runs(sim, sim), kernel=runs(kernel, kernel)))
    return {row.metric.name: row for row in found}


def value(row: Row) -> float:
    assert row.kernel is not None
    return row.kernel.interval.value


def test_only_metrics_that_apply_have_rows() -> None:
    found = rows(made_up(), made_up())
    judged = [name for name, row in found.items() if row.judged is not None]
    assert judged == ["induced_latency_ms", "goodput_up_mbit"]
    assert {"drops_up", "drop_gap_ms_up", "drop_gap_cv_up", "retransmissions_up", "cwnd_up"} <= found.keys()
    assert not {"goodput_down_mbit", "retransmissions_down", "voip_loss", "page_fetch_s"} & found.keys()
    assert "timeouts_up" not in found, "a kernel does not tell the time-outs of a flow"


def test_what_is_shown_is_taken_from_the_record() -> None:
    found = rows(made_up(), made_up())
    assert value(found["drops_up"]) == 7
    assert value(found["queue_up"]) == 12.5
    assert value(found["probe_loss"]) == 25
    assert (value(found["drop_gap_ms_up"]), value(found["drop_gap_cv_up"])) == (100, 0.5)


def test_marks_are_judged_where_flows_use_ecn() -> None:
    plain = made_up()
    ecn = {"agreed": True, "marked": 100, "delivered_ce": 120, "echoes": None, "reductions": None}

    def marked(count: int) -> Json:
        ends = {way: {**end, "marks": count} for way, end in plain["bottleneck"].items()}
        return made_up(flows=[{**plain["flows"][0], "ecn": ecn}], bottleneck=ends)

    found = rows(marked(115), marked(100))
    assert value(found["marks_up"]) == 100
    judged = found["marks_up"].judged
    assert judged is not None
    assert judged.verdict == "agrees"
    assert "marks_down" not in found, "no flow sends there"
    apart = rows(marked(130), marked(100))["marks_up"].judged
    assert apart is not None
    assert apart.verdict == "differs"
    assert "marks_up" not in rows(plain, plain)


def test_gaps_of_flows_count_as_often_as_there_are() -> None:
    flow = made_up()["flows"][0]
    other = {**flow, "name": "tcp_up_2", "drop_gaps_ms": {"count": 1, "mean": 500.0, "cv": 0.0}}
    silent = {**flow, "name": "tcp_up_3", "drop_gaps_ms": {"count": 0, "mean": None, "cv": None}}
    record = made_up(flows=[flow, other, silent])
    assert value(rows(record, record)["drop_gap_ms_up"]) == 200


def test_an_entry_has_the_fields_of_the_contract() -> None:
    summary = made_up()["summary"]
    row = rows(made_up(summary={**summary, "induced_latency_ms": 15.0}), made_up())["induced_latency_ms"]
    plain = to_builtins(row.entry())
    assert list(plain)[:7] == ["scenario", "metric", "sim", "linux", "live", "ratio", "verdict"]
    assert (plain["sim"], plain["linux"], plain["live"], plain["ratio"]) == (15, 12, None, 1.25)
    assert (plain["verdict"], plain["bar"], plain["unit"]) == ("differs", pytest.approx(1.2), "ms")
    assert (plain["difference"], plain["sim_low"], plain["linux_runs"]) == (3, 15, 2)
    assert (plain["link"], plain["qdisc"], plain["experiment"]) == ("10/10", "codel", "tcp_1up")
    json.dumps(plain, allow_nan=False)


def test_shares_are_judged_where_round_trip_times_differ() -> None:
    flow = made_up()["flows"][0]

    def shared(first: float) -> Json:
        pair = ((10.0, "tcp_10ms", first), (500.0, "tcp_500ms", 10 - first))
        return made_up(
            flows=[{**flow, "base_rtt_ms": rtt, "name": name, "goodput_mbit": rate} for rtt, name, rate in pair]
        )

    near, far = rows(shared(6.5), shared(6.0)), rows(shared(7.5), shared(6.0))
    assert value(near["share_tcp_10ms"]) == pytest.approx(60)
    assert [near[name].verdict for name in ("share_tcp_10ms", "share_tcp_500ms")] == ["agrees", "agrees"]
    assert far["share_tcp_500ms"].verdict == "differs"
    assert not any(name.startswith("share") for name in rows(made_up(), made_up()))


def test_voice_has_delay_above_the_paths_own_and_loss() -> None:
    voice = {
        "name": "voip",
        "kind": "voip",
        "sent": 3000,
        "lost": 30,
        "base_delay_ms": 25.0,
        "delay_ms": {"count": 2970, "mean": 65.0},
    }
    found = rows(made_up(probes=[{**voice, "lost": 150}]), made_up(probes=[voice]))
    assert value(found["voip_delay_ms"]) == 40
    assert value(found["voip_loss"]) == pytest.approx(1)
    assert (found["voip_delay_ms"].verdict, found["voip_loss"].verdict) == ("agrees", "differs")


def test_a_page_that_one_side_never_fetched_cannot_be_judged() -> None:
    fetched = made_up(summary={**made_up()["summary"], "page_fetch_s": 1.5})
    row = rows(fetched, made_up())["page_fetch_s"]
    assert row.verdict == "cannot tell"
    assert row.judged is not None
    assert row.judged.reason == "the kernel has no value in any run"
    in_json(row.entry())
    assert rows(fetched, fetched)["page_fetch_s"].verdict == "agrees"


def test_a_transient_shows_when_it_settles_and_does_not_judge_it() -> None:
    times = [0.2 * (k + 1) for k in range(300)]

    def course(settles_s: float) -> Json:
        latency = [150.0 if time < settles_s else 60.0 for time in times]
        series = {"t_s": times, "rtt": {"ping": {"t_s": [time - 0.1 for time in times], "rtt_ms": latency}}}
        return made_up(experiment="transient", series=series)

    found = rows(course(4.0), course(6.0))
    row = found["settling_s"]
    assert row.sim is not None
    assert (row.sim.interval.value, value(row)) == (pytest.approx(4, abs=0.7), pytest.approx(6, abs=0.7))
    assert (value(found["peak_ms"]), value(found["steady_ms"])) == (150, 60)
    assert row.verdict == bars.NOT_JUDGED


def test_a_course_that_never_settles_is_null_in_json() -> None:
    metric = metrics.Metric(name="settling_s", title="", unit="s", measure=lambda _: None)
    entry = Row(cell=cell(), metric=metric, sim=side(math.inf), kernel=side(3.0), judged=None).entry()
    assert (entry.sim, entry.ratio, entry.difference, entry.linux) == (None, None, None, 3)


def test_counts_say_both_numbers() -> None:
    entry = rows(made_up(), made_up())["induced_latency_ms"].entry()
    verdicts = [(("agrees", True)), (("agrees", False)), (("differs", False)), ("cannot tell", False)]
    counted = Counts.of([[structs.replace(entry, verdict=verdict, surely=surely)] for verdict, surely in verdicts])
    assert counted == Counts(cells=4, agrees=2, surely=1, differs=1, cannot_tell=1)


def test_the_seven_disciplines_are_those_of_the_reference_measurements() -> None:
    """The texts are those that a kernel was measured with, at each rate of the links."""
    measured = {
        "pfifo": {"100mbit": "pfifo limit 1000", "10mbit": "pfifo limit 127", "1mbit": "pfifo limit 127"},
        "ared": {
            "100mbit": "red limit 1500000 min 125000 max 375000 avpkt 1000 burst 208 bandwidth 100mbit adaptive",
            "10mbit": "red limit 400000 min 12500 max 37500 avpkt 1000 burst 20 bandwidth 10mbit adaptive",
            "1mbit": "red limit 400000 min 1514 max 3028 avpkt 1000 burst 2 bandwidth 1mbit adaptive",
        },
        "pie": dict.fromkeys(("100mbit", "10mbit", "1mbit"), "pie limit 1000 target 20ms tupdate 30ms noecn"),
        "codel": dict.fromkeys(("100mbit", "10mbit"), "codel limit 1000 target 5ms interval 100ms noecn")
        | {"1mbit": "codel limit 1000 target 13ms interval 100ms noecn"},
        "sfq": {"100mbit": "sfq limit 1000", "10mbit": "sfq limit 127", "1mbit": "sfq limit 127"},
        "fq_codel": dict.fromkeys(("100mbit", "10mbit"), "fq_codel limit 10240 target 5ms interval 100ms noecn")
        | {"1mbit": "fq_codel limit 10240 target 13ms interval 100ms noecn"},
        "fq_nocodel": dict.fromkeys(("10mbit", "1mbit"), "fq_codel limit 127 target 100s interval 100s noecn"),
    }
    assert [discipline.name for discipline in table_1()] == list(measured)
    for discipline in table_1():
        for text, theirs in measured[discipline.name].items():
            rate = bits_per_s(text)
            mine = _native.expand_qdisc(discipline.at(rate), rate)
            # The measurements took the kernel's default, the grid does as the paper's kernel did.
            assert re.sub(" drop_batch .*", "", mine) == re.sub(
                " drop_batch .*", "", _native.expand_qdisc(theirs, rate)
            )


def test_no_discipline_of_the_grid_names_a_variant() -> None:
    for discipline in (*table_1(), *named_disciplines(["gbw:codel", "gbw:pfifo_fast", "rural:fq_codel"])):
        assert "variant" not in discipline.at(1_000_000)
    assert named_disciplines(["gbw:codel"])[0].at(1_000_000).startswith("codel limit 1000 target 13ms")


def test_disciplines_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(ParamError, match="'pie' twice"):
        named_disciplines(["pie", "codel", "pie"])
    with pytest.raises(ParamError, match="variant"):
        named_disciplines(["codel variant ns2"])
    with pytest.raises(ParamError, match="variant ns2: leave _ns2 away"):
        named_disciplines(["rural:fq_codel_ns2"])


def test_links_are_read_down_before_up() -> None:
    links = grid.read_links("100/100, 10/1,2.5/512kbit")
    assert links[1] == Link(down="10mbit", up="1mbit")
    assert [link.name for link in links] == ["100/100", "10/1", "2.5mbit/512kbit"]


@pytest.mark.parametrize("text", ["", "10", "10/", "10/1/1", "fast/slow", "10/0", "-1/1", "10/1,10/1mbit", "10/10;1/1"])
def test_links_spelled_wrong_are_refused(text: str) -> None:
    with pytest.raises(ParamError, match="links is"):
        grid.read_links(text)


def test_a_cell_has_the_discipline_of_each_directions_rate() -> None:
    found = grid.cells("rrul", grid.read_links("10/1"), table_1(), cc="reno")
    codel = next(one for one in found if one.qdisc == "codel")
    assert codel.name == "rrul 10/1 codel reno"
    assert codel.scenario.qdisc_up == "codel limit 1000 target 13ms interval 100ms noecn"
    assert codel.scenario.qdisc_down == "codel limit 1000 target 5ms interval 100ms noecn"
    assert {flow.congestion_control for flow in codel.scenario.flows} == {"reno"}


def test_drawn_scenarios_are_valid_and_within_their_ranges() -> None:
    found = draw.draw(draw.RANDOM, 400, 7)
    assert {one.qdisc for one in found} == set(draw.RANDOM.kinds)
    counts = set()
    for one in found:
        plain = json.loads(one.scenario.normalized())
        rates = [bits_per_s(plain[way]) for way in ("down", "up")]
        assert all(1e6 <= rate <= 200e6 for rate in rates)
        assert 0.005 <= seconds(plain["rtt"]) <= 0.5
        for way in ("up", "down"):
            counts.add(sum(flow["direction"] == way for flow in plain["flows"]))
            assert "variant" not in plain[f"qdisc_{way}"]
            assert " ecn" not in plain[f"qdisc_{way}"]
        packets = seconds(plain["duration"]) * sum(rates) / 8 / 1514
        assert packets <= draw.MOST_PACKETS or seconds(plain["duration"]) == draw.SHORTEST_S
        assert packets <= 340_000
        assert seconds(plain["duration"]) >= 20 * seconds(plain["rtt"])
    assert counts == set(range(1, 33))


def test_a_discipline_that_looks_at_hosts_gets_up_to_three_on_each_side() -> None:
    drawn = draw.draw(draw.RANDOM, 60, 7)
    assert all(flow.client is None for one in drawn for flow in one.scenario.flows)
    rows = np.random.Generator(np.random.PCG64([7, 1])).random((60, 130)).tolist()
    sides = set()
    for one, row in zip(drawn, rows, strict=True):
        cake = replace(one, scenario=replace(one.scenario, qdisc_up="cake"))
        flows = draw._with_hosts(cake, row).scenario.flows
        clients, servers = 1 + int(3 * row[0]), 1 + int(3 * row[1])
        sides.add((clients, servers))
        assert [(flow.client, flow.server) for flow in flows] == [
            (1 + int(clients * row[2 + 2 * i]), 1 + int(servers * row[3 + 2 * i])) for i in range(len(flows))
        ]
    assert sides == {(clients, servers) for clients in (1, 2, 3) for servers in (1, 2, 3)}


def test_a_seed_draws_the_same_scenarios_however_many() -> None:
    assert draw.draw(draw.RANDOM, 12, 3) == draw.draw(draw.RANDOM, 12, 3)
    assert draw.draw(draw.RANDOM, 5, 3) == draw.draw(draw.RANDOM, 12, 3)[:5]
    assert draw.draw(draw.RANDOM, 5, 3) != draw.draw(draw.RANDOM, 5, 4)
    row = np.random.Generator(np.random.PCG64(3)).random((2, draw.RANDOM.columns))[1]
    second = draw.draw(draw.RANDOM, 2, 3)[1]
    assert second.scenario.down == f"{round(1000 * 200 ** row[0])}kbit"
    assert second.scenario.rtt == f"{round(5 * 100 ** row[3], 1)}ms"
    assert second.qdisc == draw.RANDOM.kinds[int(8 * row[7])]


def test_named_disciplines_take_the_place_of_drawn_ones_and_nothing_else_changes() -> None:
    named = named_disciplines(["fq_pie flows 256", "gbw:codel"])
    for drawn, cell in zip(draw.draw(draw.RANDOM, 12, 3), draw.draw(draw.RANDOM, 12, 3, named), strict=True):
        assert cell.qdisc in {"fq_pie flows 256", "gbw:codel"}
        assert cell.scenario.qdisc_up.startswith("fq_pie flows 256" if "fq_pie" in cell.qdisc else "codel limit")
        assert replace(cell.scenario, qdisc_up="", qdisc_down="") == replace(drawn.scenario, qdisc_up="", qdisc_down="")
    assert {cell.qdisc for cell in draw.draw(draw.RANDOM, 12, 3, named)} == {"fq_pie flows 256", "gbw:codel"}


def test_trust_draws_every_kind_control_and_ecn() -> None:
    trust = draw.TRUST
    found = draw.draw(trust, 200, 7)
    assert {one.qdisc for one in found} == set(trust.kinds)
    plain = [json.loads(one.scenario.normalized()) for one in found]
    assert all(0.005 <= seconds(one["rtt"]) <= 0.3 for one in plain)
    controls = [{flow["congestion_control"] for flow in one["flows"]} for one in plain]
    assert set().union(*controls) == set(trust.controls)
    assert any(len(of_one) == 2 for of_one in controls)
    marking = [one for one in plain if "ecn" in one["qdisc_up"].split()]
    assert marking
    assert all(one["tcp"]["ecn"] for one in marking)


def test_the_cells_of_bbr_have_the_parameters_of_googles_tests() -> None:
    cells = {name: bbr_sets.cells_of(name, seed=1, duration=None) for name in bbr_sets.SETS}
    # int(bw * rtt / (1514 * 8) * bdp_of_buf) of their run_tests.sh, at 50 Mbit/s and 30 ms, by hand.
    limits = [one.scenario.qdisc_up for one in cells["bbr-coexist"]]
    assert limits == [f"pfifo limit {number}" for number in (12, 123, 247, 495, 990, 1981)]
    assert [one.scenario.qdisc_up for one in cells["bbr-bufferbloat"]][-1] == "pfifo limit 12384"
    flows = cells["bbr-coexist"][0].scenario.flows
    assert [(flow.congestion_control, flow.start) for flow in flows] == [("cubic", "0ms"), ("bbr", "2000ms")]
    assert [one.scenario.loss_up for one in cells["bbr-loss"]][::10] == [1e-5, 0.2]
    # 100 Mbit/s x 100 ms are 825 frames.
    assert {one.scenario.qdisc_up for one in cells["bbr-shallow"]} == {"pfifo limit 16"}
    assert [len(one.scenario.flows) for one in cells["bbr-shallow"]] == [1, 10, 30]


def test_only_restricts_what_is_drawn_and_nothing_else() -> None:
    only = draw.TRUST.only(["codel", "fq_codel", "reno"])
    for cell, of_all in zip(draw.draw(only, 20, 3), draw.draw(draw.TRUST, 20, 3), strict=True):
        assert cell.qdisc in {"codel", "fq_codel"}
        assert {flow.congestion_control for flow in cell.scenario.flows} == {"reno"}
        assert (cell.link, cell.scenario.rtt) == (of_all.link, of_all.scenario.rtt)
    with pytest.raises(ParamError, match="only is 'codle', but must be one or several of pfifo, "):
        draw.TRUST.only(["codle"])


def test_an_error_of_ten_percent_or_a_millisecond_is_the_same_bar() -> None:
    bars_of = POPULATIONS["trust"].bars
    assert errors.relative_error(1.5, 0.5, least=bars_of.least_ms) == pytest.approx(bars_of.latency[1])
    assert errors.relative_error(44, 40, least=bars_of.least_ms) == pytest.approx(bars_of.latency[1])
    assert bars_of.words == (
        "The bar of latency is a median over the scenarios below 2 % and a 90th percentile below 10 %. That of "
        "goodput is 0.5 % and 3 %."
    )


@pytest.mark.parametrize("count", [0, -1, uniform.MOST + 1])
def test_a_number_of_scenarios_out_of_range_is_refused(count: int) -> None:
    with pytest.raises(ParamError, match=f"count is {count}"):
        draw.draw(draw.RANDOM, count, 1)


def test_a_relative_error_near_zero_is_that_of_a_millisecond() -> None:
    assert errors.relative_error(0.3, 0.1, least=1) == pytest.approx(0.2)
    assert errors.relative_error(22, 20, least=1) == pytest.approx(0.1)
    assert errors.relative_error(0.3, 0.1, least=0) == pytest.approx(2)
    assert errors.relative_error(0.3, 0, least=0) == math.inf
    assert errors.relative_error(0, 0, least=0) == 0


BARS = POPULATIONS["random"].bars


def goodput_errors(values: list[float]) -> dict[str, list[Error]]:
    """Return errors of made-up scenarios: the kernel has 1 Mbit/s and the simulator so much more."""
    found = []
    for number, size in enumerate(values, 1):
        row = Row(
            cell=cell(f"random 1.{number}"), metric=metrics.JUDGED[1], sim=side(1 + size), kernel=side(1), judged=None
        )
        found.append(row)
    return errors.errors_of(found, BARS)


def test_quantiles_of_errors_are_judged() -> None:
    found = goodput_errors([0.01 * k for k in range(1, 12)])  # 0.01 to 0.11
    median, tail = errors.quantiles(found, BARS)
    assert (median.value, tail.value) == (pytest.approx(0.06), pytest.approx(0.10))
    assert (median.judged.verdict, tail.judged.verdict) == ("cannot tell", "agrees")
    assert (median.name, median.n, median.judged.bar) == ("median", 11, 0.05)
    low, high = errors.quantiles(goodput_errors([0.3] * 10), BARS)
    assert (low.judged.verdict, high.judged.verdict) == ("differs", "differs")


def test_a_quantile_no_larger_than_of_the_simulator_itself_is_no_difference() -> None:
    found = goodput_errors([0.3] * 10)
    for own, verdict in (([0.31], "cannot tell"), ([0.29], "differs")):
        itself = {"goodput_up_mbit": {f"random 1.{number}": own for number in range(1, 11)}}
        median, tail = errors.quantiles(found, BARS, itself)
        assert (median.judged.verdict, tail.judged.verdict) == (verdict, verdict)
        assert median.itself == pytest.approx(own[0])


def test_errors_of_the_simulator_against_itself_come_last_among_the_worst() -> None:
    found = goodput_errors([0.2, 0.5, 0.3])
    itself = {"goodput_up_mbit": {"random 1.2": [0.1, 0.6]}}
    assert [error.row.cell.name for error in errors.worst(found, 3, itself)] == [
        "random 1.3",
        "random 1.1",
        "random 1.2",
    ]


def test_the_simulator_is_compared_with_itself_block_by_block() -> None:
    of = of_goodput
    both = Both(cell=cell(), sim=runs(of(8), of(8), of(10), of(10)), kernel=runs(of(5), of(5)))
    found = errors_of_itself([both], BARS)["goodput_up_mbit"][cell().name]
    assert found == [pytest.approx(2 / 8), pytest.approx(2 / 10)]
    few = Both(cell=cell(), sim=runs(of(8), of(8), of(10)), kernel=runs(of(5), of(5)))
    assert errors_of_itself([few], BARS) == {}


def test_an_error_without_bound_does_not_hide_the_others() -> None:
    found = goodput_errors([0.01] * 20)
    found["goodput_up_mbit"].append(Error(row=found["goodput_up_mbit"][0].row, value=math.inf))
    median, tail = errors.quantiles(found, BARS)
    assert (median.value, tail.value) == (pytest.approx(0.01), pytest.approx(0.01))
    entries = drawn_entries("random", [one.row for one in found["goodput_up_mbit"]], found, [median, tail])
    in_json(entries)


def test_the_worst_scenarios_are_named_once_each() -> None:
    found = goodput_errors([0.01, 0.5, 0.2, 0.3, 0.05, 0.4, 0.02])
    found["again"] = [Error(row=found["goodput_up_mbit"][1].row, value=0.6)]
    worst = errors.worst(found, 5)
    assert [error.row.cell.name for error in worst] == [f"random 1.{number}" for number in (2, 6, 4, 3, 5)]
    assert worst[0].value == 0.6


def test_the_guess_of_the_cost_grows_with_rate_and_runs() -> None:
    slow = grid.cells("rrul", grid.read_links("10/10"), named_disciplines(["codel"]))
    fast = grid.cells("rrul", grid.read_links("100/100"), named_disciplines(["codel"]))
    one_way = grid.cells("tcp_1up", grid.read_links("100/100"), named_disciplines(["codel"]))
    once = Repeats(sim=1, kernel=1)
    assert 5 < kernel_seconds(slow, once, 1) < 12
    assert 50 < kernel_seconds(fast, once, 1) < 80
    assert kernel_seconds(one_way, once, 1) < 0.6 * kernel_seconds(fast, once, 1)
    assert kernel_seconds(slow, Repeats(sim=9, kernel=4), 2) == pytest.approx(2 * kernel_seconds(slow, once, 1))
