"""The parts of `sojourn tune` that run nothing: fronts, goals, ranges, indices, and command lines."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn import _native
from sojourn.errors import ParamError, SojournError
from sojourn.tune import answer
from sojourn.tune.bench import Seeds
from sojourn.tune.front import dominates, front, hypervolume, layers, order
from sojourn.tune.goals import read_goal, read_objectives
from sojourn.tune.link import Link, read_link
from sojourn.tune.measure import FILE, Journal, measures
from sojourn.tune.search import SAMPLERS, Request, propose
from sojourn.tune.sensitivity import Points, fit, of_settings, sobol_indices
from sojourn.tune.space import QDISCS, Knob, Space, space
from tests import optional
from tests.records import record_of


def rural_link(rtt: str = "300ms") -> Link:
    return read_link(up="1mbit", down="1mbit", rtt=rtt, direction="up")


def vectors(size: int) -> st.SearchStrategy[list[tuple[float, ...]]]:
    return st.lists(st.tuples(*[st.integers(0, 6).map(float)] * size), min_size=1, max_size=24)


class TestFronts:
    def test_dominance_is_nowhere_worse_and_somewhere_better(self) -> None:
        assert dominates((1, 2), (1, 3))
        assert dominates((0, 0), (1, 3))
        assert not dominates((1, 3), (1, 3))
        assert not dominates((0, 4), (1, 3))

    def test_a_front_worked_out_by_hand(self) -> None:
        # (2, 3) is beaten by (2, 2), (5, 5) by all; the second (1, 4) is the first again.
        points = [(1, 4), (2, 2), (2, 3), (4, 1), (5, 5), (1, 4)]
        assert front(points) == [0, 1, 3]
        assert layers(points) == [[0, 1, 3], [2, 5], [4]]

    def test_the_front_of_schaffers_first_problem_is_from_0_to_2(self) -> None:
        # J. D. Schaffer 1985: minimise x^2 and (x - 2)^2; no x in [0, 2] dominates another, all others are dominated.
        xs = [place / 10 for place in range(-50, 51)]
        found = [xs[place] for place in front([(x * x, (x - 2) ** 2) for x in xs])]
        assert found == [x for x in xs if 0 <= x <= 2]

    def test_the_front_of_fonseca_and_flemings_problem_lies_between_its_two_optima(self) -> None:
        # C. Fonseca, P. Fleming 1995, two variables: the front is x1 = x2 in [-1/sqrt 2, 1/sqrt 2].
        steps = [place / 10 for place in range(-20, 21)]
        points = [(a, b) for a in steps for b in steps]
        edge = 1 / math.sqrt(2)

        def judge(point: tuple[float, float]) -> tuple[float, float]:
            return (
                1 - math.exp(-sum((x - edge) ** 2 for x in point)),
                1 - math.exp(-sum((x + edge) ** 2 for x in point)),
            )

        found = [points[place] for place in front([judge(point) for point in points])]
        assert {a for a, b in found if a == b} >= {x for x in steps if abs(x) <= edge}
        assert all(abs(a - b) <= 0.1 + 1e-9 and abs(a) <= edge + 0.1 for a, b in found)

    @given(vectors(3))
    def test_nothing_in_a_front_is_dominated_and_all_else_is_dominated_or_a_repeat(
        self, points: list[tuple[float, ...]]
    ) -> None:
        found = front(points)
        for place, point in enumerate(points):
            beaten = any(dominates(other, point) for other in points)
            assert (place in found) == (not beaten and point not in points[:place])

    @given(vectors(2))
    def test_layers_hold_every_place_once(self, points: list[tuple[float, ...]]) -> None:
        assert sorted(place for layer in layers(points) for place in layer) == list(range(len(points)))

    def test_a_hypervolume_worked_out_by_hand(self) -> None:
        # Two rectangles below (4, 4): 3 x 1 and 1 x 3, which share 1 x 1.
        assert hypervolume([(1, 3), (3, 1)], (4, 4)) == 5
        assert hypervolume([(1, 3), (3, 1), (3, 3), (9, 0)], (4, 4)) == 5
        # The unit cube's corner, and a box of 2 x 1 x 1 beside it.
        assert hypervolume([(1, 1, 1)], (2, 2, 2)) == 1
        assert hypervolume([(1, 1, 1), (0, 1, 1.5)], (2, 2, 2)) == 1 + 0.5

    @settings(max_examples=50, deadline=None)
    @given(vectors(3))
    def test_the_hypervolume_is_that_of_counted_unit_cubes(self, points: list[tuple[float, ...]]) -> None:
        cells = sum(
            any(all(p <= c for p, c in zip(point, (x, y, z), strict=True)) for point in points)
            for x in range(7)
            for y in range(7)
            for z in range(7)
        )
        assert hypervolume(points, (7, 7, 7)) == cells

    def test_settings_that_meet_the_goals_come_first_and_the_others_by_how_near_they_are(self) -> None:
        assert order(costs=[3, 1, 2, 9], shortfalls=[0, 0.5, -1, 0.1]) == [2, 0, 3, 1]


class TestGoals:
    def test_bounds_are_read_with_their_units(self) -> None:
        assert read_goal("utilisation>=0.9").bound == 0.9
        assert read_goal("utilisation >= 90%").bound == 0.9
        assert read_goal("delay<=40").bound == read_goal("delay<=40ms").bound == read_goal("delay<=40000us").bound == 40
        assert read_goal("fct<=2.5s").bound == 2500
        assert read_goal("fct<=rural").bound == "rural"

    @pytest.mark.parametrize(
        ("text", "word"),
        [
            ("utilisation", "METRIC>=BOUND"),
            ("utilisation>0.9", "METRIC>=BOUND"),
            ("speed>=0.9", "must be one of"),
            ("utilisation<=0.9", "must say >="),
            ("delay>=5ms", "must say <="),
            ("utilisation>=1.5", "a share"),
            ("utilisation>=40ms", "a share"),
            ("delay<=0", "a time above 0"),
            ("delay<=90%", "a time above 0"),
            ("delay<=best", "a time above 0"),
            ("loss<=nan", "a share"),
        ],
    )
    def test_what_is_no_goal_is_refused_in_one_sentence(self, text: str, word: str) -> None:
        with pytest.raises(ParamError, match="goal is") as raised:
            read_goal(text)
        assert word in str(raised.value)
        assert "\n" not in str(raised.value)

    def test_the_worst_rtt_decides_whether_a_goal_is_met(self) -> None:
        goal = read_goal("utilisation>=0.8")
        assert goal.shortfall([0.9, 0.8], {}) == 0
        assert goal.shortfall([0.9, 0.6], {}) == pytest.approx(0.25)
        assert read_goal("delay<=50ms").shortfall([20, 75], {}) == pytest.approx(0.5)

    def test_a_goal_of_a_reference_is_judged_rtt_by_rtt(self) -> None:
        goal = read_goal("delay<=rural")
        assert goal.shortfall([10, 30], {"rural": [10, 40]}) == 0
        assert goal.shortfall([20, 30], {"rural": [10, 40]}) == 1.0

    @pytest.mark.parametrize(
        ("names", "word"),
        [(["speed"], "one of"), (["delay", "delay"], "twice"), (["utilisation"], "make it a goal"), (["delay,"], "''")],
    )
    def test_what_cannot_be_minimised_is_refused(self, names: list[str], word: str) -> None:
        with pytest.raises(ParamError, match=word):
            read_objectives(names)

    def test_objectives_may_be_given_with_commas_or_one_by_one(self) -> None:
        assert read_objectives(["delay,fct", "loss"]) == ("delay", "fct", "loss")


class TestLinks:
    def test_the_rural_link_has_the_studys_buffer_and_run_length(self) -> None:
        link = rural_link()
        assert (link.limit, link.duration_s, link.rtts_ms) == (25, 300, (300,))
        assert link.packet_ms("up") == pytest.approx(12.112)

    def test_a_range_is_tried_at_its_ends_and_at_their_geometric_mean(self) -> None:
        assert rural_link("50ms..450ms").rtts_ms == (50, 150, 450)
        assert rural_link("50ms..50ms").rtts_ms == (50,)

    @pytest.mark.parametrize(
        ("rtt", "points", "word"),
        [
            ("550ms..50ms", None, "empty"),
            ("50ms..", None, "both sides"),
            ("..50ms", None, "both sides"),
            ("soon", None, "soon"),
            ("50us", None, "0.1ms"),
            ("10ms..20ms", 1, "at least two"),
            ("10ms", 3, "one point"),
            ("10ms..20ms", 99, "from 1 to 9"),
        ],
    )
    def test_a_bad_range_is_refused(self, rtt: str, points: int | None, word: str) -> None:
        with pytest.raises(ParamError, match=word):
            read_link(up="1mbit", down="1mbit", rtt=rtt, direction="up", points=points)


class TestSpaces:
    @pytest.mark.parametrize("qdisc", QDISCS)
    @pytest.mark.parametrize("rate", ["250kbit", "1mbit", "100mbit"])
    @pytest.mark.parametrize("rtt", ["10ms", "50ms..550ms"])
    def test_every_corner_of_every_space_is_a_discipline(self, qdisc: str, rate: str, rtt: str) -> None:
        link = read_link(up=rate, down=rate, rtt=rtt, direction="up")
        found = space(qdisc, link, "up")
        for corner in range(2 ** len(found.knobs)):
            values = {
                knob.name: (knob.high if corner >> place & 1 else knob.low) for place, knob in enumerate(found.knobs)
            }
            _native.expand_qdisc(found.setting(values).text, link.bits_per_s("up"))

    def test_the_known_settings_are_in_the_space(self) -> None:
        for rate in ("250kbit", "1mbit", "100mbit"):
            for rtt in ("1ms", "300ms", "600ms"):
                link = read_link(up=rate, down=rate, rtt=rtt, direction="up")
                for qdisc in ("codel", "fq_codel"):
                    found = space(qdisc, link, "up")
                    known = found.references()
                    assert list(known) == ["default", "rural"]
                    assert all(found.holds(setting) for setting in known.values())

    def test_the_rural_setting_is_the_preset_of_the_studys_table(self) -> None:
        text = space("codel", rural_link(), "up").references()["rural"].text
        assert _native.expand_qdisc(text, 10**6) == _native.expand_qdisc("rural:codel", 10**6)

    def test_what_is_run_has_three_digits_so_that_what_is_printed_was_run(self) -> None:
        found = space("codel", rural_link(), "up").setting({"target": 65.4321, "interval": 301.5})
        assert found.text == "codel limit 25 target 65.4ms interval 302ms"
        assert found.values == {"target": 65.4, "interval": 302}

    def test_a_parameter_can_be_fixed_or_have_another_range(self) -> None:
        found = space("codel", rural_link(), "up", ["interval=0.3s", "target=20..40"])
        assert [(knob.name, knob.low, knob.high) for knob in found.knobs] == [("target", 20, 40)]
        assert found.setting({"target": 30}).text == "codel limit 25 target 30ms interval 300ms"
        assert not found.holds(found.references()["default"])

    @pytest.mark.parametrize(
        ("parameters", "word"),
        [
            (["speed=3"], "one of target, interval"),
            (["target"], "NAME=LOW..HIGH"),
            (["target=50..20"], "empty"),
            (["target=50..50"], "empty"),
            (["target=5mbit"], "a time above 0"),
            (["target=0..5"], "a time above 0"),
            (["target=5", "target=6"], "already"),
            (["target=5", "interval=100"], "left to search"),
        ],
    )
    def test_a_bad_parameter_is_refused(self, parameters: list[str], word: str) -> None:
        with pytest.raises(ParamError, match="param") as raised:
            space("codel", rural_link(), "up", parameters)
        assert word in str(raised.value)

    @pytest.mark.parametrize("backend", ["sim", "linux"])
    def test_of_cake_the_rtt_is_searched(self, backend: str) -> None:
        found = space("cake", rural_link(), "up", (), backend)
        assert found.setting({"rtt": 300}).text == "cake rtt 300ms"

    def test_an_unknown_discipline_is_refused(self) -> None:
        with pytest.raises(ParamError, match="to be tuned"):
            space("pfifo", rural_link(), "up")


class TestSeeds:
    @given(st.integers(0, 2**63), st.integers(1, 1000), st.integers(1, 3000), st.integers(1, 6000))
    def test_no_seed_is_of_two_steps(self, first: int, search: int, choice: int, fresh: int) -> None:
        seeds = Seeds.of(first, search=search, choice=choice, fresh=fresh)
        assert not set(seeds.search) & set(seeds.choice)
        assert not set(seeds.search) & set(seeds.fresh)
        assert not set(seeds.choice) & set(seeds.fresh)
        assert [len(kind) for kind in (seeds.search, seeds.choice, seeds.fresh)] == [search, choice, fresh]


class TestSensitivity:
    @staticmethod
    def ishigami(points: Points) -> Points:
        x, y, z = points.T
        return np.asarray(np.sin(x) + 7 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x))

    #: T. Ishigami, T. Homma 1990, with a = 7 and b = 0.1; the indices follow from the integrals.
    FIRST = {"x": 0.3139, "y": 0.4424, "z": 0.0}
    TOTAL = {"x": 0.5576, "y": 0.4424, "z": 0.2437}

    def test_the_indices_of_ishigamis_function_are_the_analytic_ones(self) -> None:
        s1, st_ = sobol_indices(self.ishigami, list("xyz"), [(-math.pi, math.pi)] * 3, seed=1, sample=4096)
        assert s1 == pytest.approx(self.FIRST, abs=0.02)
        assert st_ == pytest.approx(self.TOTAL, abs=0.02)

    def test_a_surrogate_of_few_settings_tells_the_knobs_of_a_product_apart(self) -> None:
        # With the logarithm of each knob uniform, a log a + b log c has the shares a^2 and b^2 of the variance.
        knobs = (Knob(name="a", low=1, high=100, unit="ms"), Knob(name="c", low=10, high=1000, unit="ms"))
        draws = np.random.default_rng(3).random((48, 2))
        tried = [{"a": 100**u, "c": 10 * 100**v} for u, v in draws]
        values = [3 * math.log(one["a"]) + math.log(one["c"]) for one in tried]
        found = of_settings(knobs, tried, values, seed=1)
        assert found is not None
        assert found.r2 > 0.98
        assert found.st["a"] == pytest.approx(0.9, abs=0.03)
        assert found.st["c"] == pytest.approx(0.1, abs=0.03)

    def test_a_surrogate_of_noise_says_that_it_tells_nothing(self) -> None:
        random = np.random.default_rng(4)
        _, r2 = fit(random.random((60, 2)), random.random(60), seed=1)
        assert r2 < 0.3

    def test_a_metric_that_never_varies_depends_on_nothing(self) -> None:
        knobs = (Knob(name="a", low=1, high=100, unit="ms"),)
        found = of_settings(knobs, [{"a": 1.0 + n} for n in range(20)], [5.0] * 20, seed=1)
        assert found is not None
        assert found.st == {"a": 0.0}

    def test_too_few_settings_have_no_indices(self) -> None:
        knobs = (Knob(name="a", low=1, high=100, unit="ms"),)
        assert of_settings(knobs, [{"a": 5.0}] * 30, [1.0] * 30, seed=1) is None


class TestSearch:
    @staticmethod
    def two_knobs() -> Space:
        knobs = tuple(Knob(name=name, low=1, high=100, unit="ms") for name in ("target", "interval"))
        return Space(qdisc="codel", knobs=knobs, fixed={}, limit=25)

    @pytest.mark.parametrize("sampler", SAMPLERS)
    def test_the_same_seed_proposes_the_same_settings(self, sampler: str) -> None:
        def trace(seed: int) -> list[dict[str, float]]:
            request = Request(goals=(), minimise=("delay", "fct"), trials=50, seed=seed, sampler=sampler)
            return [one for one, _ in propose(self.two_knobs(), request, lambda v: (v["target"], 1 / v["interval"]))]

        assert trace(1) == trace(1)
        assert trace(1) != trace(2)

    def test_the_search_comes_nearer_to_an_analytic_front_than_points_spread_evenly(self) -> None:
        # Schaffer's problem in the logarithm of one knob; the other knob is a penalty that vanishes at its lower end.
        def judge(values: dict[str, float]) -> tuple[float, float]:
            x = 4 * math.log10(values["target"]) - 3  # from -3 to 5, the front from 0 to 2
            penalty = 10 * math.log10(values["interval"])
            return x * x + penalty, (x - 2) ** 2 + penalty

        def volume(sampler: str, seed: int) -> float:
            request = Request(goals=(), minimise=("delay", "fct"), trials=96, seed=seed, sampler=sampler)
            return hypervolume([vector for _, vector in propose(self.two_knobs(), request, judge)], (6, 6))

        assert sum(volume("tpe", seed) > volume("spread", seed) for seed in range(5)) >= 4


class TestMeasures:
    RECORD = {
        "scenario": {"up": "1mbit", "down": "10mbit", "duration": "10s"},
        "summary": {"fct_ms": 1234.5},
        "flows": [
            {"name": "bulk", "sojourn_ms": {"mean": 99.0}},
            {"name": "thin_1", "writes": {}, "sojourn_ms": {"mean": 4.0}},
            {"name": "thin_2", "writes": {}, "sojourn_ms": {"mean": 6.0}},
        ],
        "bottleneck": {
            "up": {
                "bytes": 1_000_000,
                "packets": 900,
                "drops": {"congestion": 60, "queue_limit": 40},
                "sojourn_ms": {"mean": 20.0, "p95": 50.0},
            }
        },
    }

    def test_measures_are_those_of_the_direction_under_test(self) -> None:
        assert measures(record_of(self.RECORD), "up") == {
            "utilisation": 0.8,
            "delay": 20.0,
            "delay_p95": 50.0,
            "fct": 1234.5,
            "loss": 0.1,
            "thin_delay": 5.0,
        }

    def test_a_journal_gives_back_what_was_added_and_drops_a_line_that_was_cut(self, tmp_path: Path) -> None:
        first = Journal(tmp_path)
        first.add("a", {"delay": 1.0})
        first.add("b", {"delay": None})
        first.close()
        whole = (tmp_path / FILE).read_bytes()
        (tmp_path / FILE).write_bytes(whole + b'{"run": "c", "mea')
        again = Journal(tmp_path)
        assert again.known == {"a": {"delay": 1.0}, "b": {"delay": None}}
        again.close()
        assert (tmp_path / FILE).read_bytes() == whole

    def test_two_processes_do_not_write_one_journal(self, tmp_path: Path) -> None:
        first = Journal(tmp_path)
        with pytest.raises(SojournError, match="in use"):
            Journal(tmp_path)
        first.close()

    @pytest.mark.parametrize("text", ["{}\n", "no\n", '{"format": "sojourn-tune-journal/1"}\n[]\n'])
    def test_what_is_no_journal_is_refused(self, tmp_path: Path, text: str) -> None:
        (tmp_path / FILE).write_text(text)
        with pytest.raises(SojournError, match="journal"):
            Journal(tmp_path)


#: A private network namespace, so that nothing of this machine is touched.
_NAMESPACE = ("unshare", "--user", "--map-root-user", "--net")
_LACKS = "qdisc kind is unknown"


def _tc(line: str) -> str:
    """Return what `tc` says of a line; empty, or that the kernel lacks the discipline, if tc itself accepts it."""
    for name in ("tc", "unshare"):
        optional.program(name)
    if subprocess.run([*_NAMESPACE, "true"], capture_output=True, check=False).returncode:
        optional.USER_NAMESPACES.skip()
    words = line.replace("dev DEV", "dev lo").split()
    done = subprocess.run([*_NAMESPACE, *words], capture_output=True, text=True, check=False)
    return "" if _LACKS in done.stderr else done.stderr


class TestAnswers:
    @pytest.mark.parametrize("qdisc", QDISCS)
    def test_tc_accepts_the_line_of_every_discipline(self, qdisc: str) -> None:
        found = space(qdisc, rural_link("50ms..550ms"), "up", (), "linux")
        for share in (0.0, 0.37, 1.0):
            values = {knob.name: knob.low * (knob.high / knob.low) ** share for knob in found.knobs}
            assert _tc(answer.leaf(found.setting(values).text)) == ""
        for setting in found.references().values():
            assert _tc(answer.leaf(setting.text)) == ""

    def test_tc_refuses_a_line_that_is_wrong(self) -> None:
        assert _tc(answer.leaf("codel limit 25 target 65ms intervall 300ms")) != ""
        assert _tc(answer.leaf("red limit 37850 min 9000 max 9462 avpkt 1514 burst 1 probability 0.02")) != ""

    def test_tc_accepts_the_line_of_the_shaper(self) -> None:
        root, _, _ = answer.shaped("codel limit 25 target 65ms interval 300ms", "1mbit")
        assert _tc(root) == ""

    def test_cake_shapes_by_itself(self) -> None:
        (line,) = answer.shaped("cake rtt 300ms", "1mbit")
        assert line == "tc qdisc replace dev DEV root cake bandwidth 1mbit rtt 300ms"
        assert _tc(line) == ""

    def test_the_openwrt_section_has_each_option_once_and_the_rates_in_kbit(self) -> None:
        link = read_link(up="1mbit", down="10mbit", rtt="300ms", direction="up")
        text = answer.sqm("fq_codel limit 25 target 65ms interval 300ms quantum 300", link, "up")
        assert text is not None
        options = [line.split(maxsplit=2)[1:] for line in text.splitlines()[1:]]
        found = {name: value.strip("'") for name, value in options}
        assert len(found) == len(options)
        assert (found["upload"], found["download"], found["qdisc"]) == ("1000", "10000", "fq_codel")
        assert (found["elimit"], found["etarget"]) == ("25", "default")
        assert found["eqdisc_opts"] == "target 65ms interval 300ms quantum 300"
        assert "iqdisc_opts" not in found

    def test_sqm_scripts_have_no_red(self) -> None:
        assert answer.sqm("red limit 37850", rural_link(), "up") is None


def test_nothing_of_the_search_is_loaded_with_sojourn() -> None:
    slow = {"optuna", "SALib", "scipy", "pandas", "polars"}
    code = f"import sys, sojourn, sojourn.cli; print(sorted({slow} & set(sys.modules)))"
    import sys

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == []
