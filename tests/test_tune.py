"""`sojourn tune` as a user runs it, and what its answer may be trusted for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sojourn import backends
from sojourn.tune import loads
from sojourn.tune.bench import Bench, Scored, Seeds
from sojourn.tune.goals import read_goal
from sojourn.tune.link import read_link
from sojourn.tune.measure import FILE, Journal
from sojourn.tune.search import Request
from sojourn.tune.space import Setting, space
from sojourn.tune.study import compare, judge, tune
from tests.conftest import Cli, assert_one_sentence
from tests.records import Json

#: A search that takes a second or two.
QUICK = ("--rate", "1mbit", "--rtt", "100ms", "--duration", "60s", "--trials", "20", "--seeds", "2")


def bench(journal: Journal | None = None, *, rtt: str = "100ms", workers: int = 1) -> Bench:
    return Bench(
        link=read_link(up="1mbit", down="1mbit", rtt=rtt, direction="up", duration="40s"),
        load=loads.named("rural-low"),
        direction="up",
        backend=backends.SIMULATOR,
        journal=journal or Journal(None),
        workers=workers,
    )


@contextmanager
def _silent(total: int, _step: str) -> Iterator[Callable[[], None]]:
    """Stand for a progress bar; no more runs may be counted than were announced."""
    counted = [0]

    def tick() -> None:
        counted[0] += 1

    yield tick
    assert counted[0] <= total


def made_up(name: str, **samples: list[float]) -> Scored:
    """Return a setting with given samples at one RTT."""
    setting = Setting(values={}, text=f"codel {name}")
    return Scored(setting=setting, name=name, samples={metric: [values] for metric, values in samples.items()})


class TestTheAnswer:
    def test_it_has_what_the_contract_says_and_its_line_is_the_best_setting(self, inside: Cli) -> None:
        found = json.loads(inside("tune", "codel", *QUICK, "--json").stdout)
        assert {"best", "tc", "front", "fresh_seeds"} <= found.keys()
        assert set(found["best"]) == {"target", "interval"}
        assert found["tc"].startswith("tc qdisc replace dev DEV root codel limit 25 target ")
        for mean, low, high in found["fresh_seeds"].values():
            assert low <= mean <= high
        assert {"utilisation", "delay", "fct"} <= found["fresh_seeds"].keys()
        assert {"default", "rural"} <= found["check"].keys()
        assert found["rural"]["verdict"] in {
            "on the front",
            "within its uncertainty of the front",
            "off the front",
        }

    def test_the_front_holds_no_setting_that_another_of_it_dominates(self, inside: Cli) -> None:
        found = json.loads(
            inside("tune", "codel", *QUICK, "--minimise", "delay", "--goal", "utilisation>=50%", "--json").stdout
        )
        points = [(-one["worst"]["utilisation"], one["worst"]["delay"]) for one in found["front"]]
        for a in points:
            for b in points:
                assert a == b or not (a[0] <= b[0] and a[1] <= b[1])

    def test_the_fresh_seeds_are_neither_those_of_the_search_nor_those_of_the_choice(self, inside: Cli) -> None:
        found = json.loads(inside("tune", "codel", *QUICK, "--seed", "7", "--json").stdout)["seeds"]
        kinds = {name: set(range(first, last + 1)) for name, (first, last) in found.items()}
        assert kinds["search"] == {7, 8}
        assert not kinds["fresh"] & (kinds["search"] | kinds["choice"])
        assert not kinds["search"] & kinds["choice"]

    def test_the_numbers_of_the_winner_come_from_runs_with_the_fresh_seeds_alone(self) -> None:
        seeds = Seeds.of(1, search=2, choice=2, fresh=3)
        one = bench()
        request = Request(goals=(), minimise=("delay",), trials=6, seed=1)
        found_space = space("codel", one.link, "up")
        outcome = tune(one, found_space, request, seeds, _silent)
        (again,) = bench().run([("", outcome.best.setting)], seeds.fresh)
        assert outcome.best.samples == again.samples
        (chosen,) = bench().run([("", outcome.best.setting)], [*seeds.search, *seeds.choice])
        assert outcome.best.samples != chosen.samples

    def test_a_search_with_a_time_ends_after_a_batch_and_still_answers(self, inside: Cli) -> None:
        words = ("--rate", "1mbit", "--rtt", "100ms", "--duration", "30s", "--seeds", "1", "--time", "500ms")
        found = json.loads(inside("tune", "codel", *words, "--json").stdout)
        assert 16 <= found["tried"] < 1000
        assert found["tried"] % 16 == 0

    def test_default_and_rural_are_always_among_the_candidates(self) -> None:
        one = bench()
        outcome = tune(
            one,
            space("fq_codel", one.link, "up", ["target=40..50"]),
            Request(goals=(), minimise=("delay",), trials=2, seed=1),
            Seeds.of(1, search=1, choice=1, fresh=1),
            _silent,
        )
        assert [known.name for known in outcome.known] == ["default", "rural"]
        assert [tried.name for tried in outcome.tried[:3]] == ["default", "rural", ""]

    def test_of_a_range_every_candidate_runs_at_every_rtt_with_the_same_seeds_and_the_worst_counts(self) -> None:
        one = bench(rtt="50ms..200ms")
        first, second = one.run(list(space("codel", one.link, "up").references().items()), range(1, 3))
        for scored in (first, second):
            assert [len(values) for values in scored.samples["delay"]] == [2, 2, 2]
        assert first.worst("delay") == max(first.means("delay"))
        assert first.worst("utilisation") == min(first.means("utilisation"))
        assert min(first.means("delay")) < first.mean("delay") < first.worst("delay")

    @pytest.mark.parametrize("qdisc", ["fq_codel", "pie", "red", "sfq"])
    def test_every_discipline_of_the_simulator_can_be_tuned(self, inside: Cli, qdisc: str) -> None:
        words = ("--trials", "3", "--seeds", "1", "--duration", "20s", "--rtt", "50ms", "--minimise", "delay")
        found = json.loads(inside("tune", qdisc, *words, "--json").stdout)
        assert found["tc"].split()[6] == qdisc

    @pytest.mark.parametrize("load", list(loads.LOADS))
    def test_every_load_runs_in_both_directions_and_has_the_metrics_that_it_says(self, load: str) -> None:
        link = read_link(up="2mbit", down="4mbit", rtt="50ms", direction="up", duration="60s")
        for way in ("up", "down"):
            one = Bench(
                link=link,
                load=loads.named(load),
                direction=way,  # type: ignore[arg-type]
                backend=backends.SIMULATOR,
                journal=Journal(None),
                workers=1,
            )
            (scored,) = one.run([("default", space("codel", link, "up").references()["default"])], [1])
            assert set(scored.samples) == set(loads.named(load).metrics)
            assert scored.worst("utilisation") > 0.5
            (measured,) = one.journal.known.values()
            assert all(measured[name] is not None for name in loads.named(load).metrics)

    def test_a_table_a_figure_and_the_json_are_left_in_the_folder(self, inside: Cli, tmp_path: Path) -> None:
        output = inside("tune", "codel", *QUICK, "--out", "out").stdout
        assert "tc qdisc replace dev DEV root codel" in output
        assert "config queue" in output
        assert (tmp_path / "out" / "table.md").read_text().count("\n") > 20
        assert (tmp_path / "out" / "figures" / "front.svg").stat().st_size > 5000
        assert json.loads((tmp_path / "out" / "tune.json").read_text())["qdisc"] == "codel"


class TestDeterminism:
    def test_the_same_command_gives_the_same_bytes_with_any_number_of_workers(self, inside: Cli) -> None:
        texts = {inside("tune", "codel", *QUICK, "--workers", str(number), "--json").stdout for number in (1, 2, 3)}
        assert len(texts) == 1

    def test_another_seed_searches_elsewhere(self, inside: Cli) -> None:
        one, other = (
            json.loads(inside("tune", "codel", *QUICK, "--seed", seed, "--json").stdout) for seed in ("1", "2")
        )
        assert [point["params"] for point in one["front"]] != [point["params"] for point in other["front"]]

    @pytest.mark.slow
    def test_a_killed_search_goes_on_where_it_stopped_and_nothing_is_doubled(self, inside: Cli, tmp_path: Path) -> None:
        whole = inside("tune", "codel", *QUICK, "--json").stdout
        command = [sys.executable, "-m", "sojourn", "tune", "codel", *QUICK, "--out", "out", "--json"]
        killed = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        journal = tmp_path / "out" / FILE
        try:
            for _ in range(3000):
                if journal.exists() and journal.read_bytes().count(b"\n") > 10:
                    break
                time.sleep(0.01)
        finally:
            os.killpg(killed.pid, signal.SIGKILL)
            killed.wait()
        before = journal.read_bytes()
        assert before.count(b"\n") > 10
        assert inside("tune", "codel", *QUICK, "--out", "out", "--json").stdout == whole
        after = journal.read_text()
        assert after.startswith(before[: before.rfind(b"\n") + 1].decode())
        names = [json.loads(line)["run"] for line in after.splitlines()[1:]]
        assert len(names) == len(set(names))
        # And once more: nothing is left to run.
        assert inside("tune", "codel", *QUICK, "--out", "out", "--json").stdout == whole
        assert journal.read_text() == after

    def test_ctrl_c_leaves_whole_files_and_says_how_to_go_on(self, tmp_path: Path) -> None:
        command = [sys.executable, "-m", "sojourn", "tune", "codel", *QUICK, "--trials", "400", "--out", "out"]
        stopped = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        journal = tmp_path / "out" / FILE
        for _ in range(3000):
            if journal.exists() and journal.read_bytes().count(b"\n") > 10:
                break
            time.sleep(0.01)
        stopped.send_signal(signal.SIGINT)
        out, err = stopped.communicate(timeout=60)
        assert stopped.returncode == 130
        assert out == ""
        assert "the same command goes on from there" in err
        assert all(json.loads(line) for line in journal.read_text().splitlines())
        assert not (tmp_path / "out" / "tune.json").exists()

    @pytest.mark.slow
    def test_another_question_is_not_answered_into_the_same_folder(self, inside: Cli) -> None:
        inside("tune", "codel", *QUICK, "--out", "out")
        again = inside("tune", "codel", *QUICK, "--seed", "9", "--out", "out", status=2)
        assert_one_sentence(again, "out is", "--force")
        inside("tune", "codel", *QUICK, "--seed", "9", "--out", "out", "--force")


class TestBadInput:
    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            (("--goal", "utilisation"), "METRIC>=BOUND"),
            (("--goal", "speed>=1"), "one of utilisation"),
            (("--goal", "delay<=rural", "--goal", "delay<=rural"), "twice"),
            (("--minimise", "speed"), "one of delay"),
            (("--load", "bulk", "--minimise", "fct"), "the load bulk has none"),
            (("--load", "city"), "load is 'city'"),
            (("--rtt", "500ms..50ms"), "empty"),
            (("--rate", "fast"), "fast"),
            (("--rate", "1mbit", "--up", "1mbit"), "together"),
            (("--param", "speed=1"), "one of target"),
            (("--param", "target=9..3"), "empty"),
            (("--trials", "0"), "trials is 0"),
            (("--seeds", "0"), "seeds is 0"),
            (("--workers", "0"), "workers is 0"),
            (("--time", "soon"), "time: "),
            (("--limit", "0"), "limit is 0"),
            (("--cc", "fast"), "fast"),
            (("--seed", str(2**64 - 5)), "seed is"),
            (("--map-rates", "1mbit"), "without --map"),
            (("--map",), "out is not given"),
            (("--map", "--out", "out", "--rtt", "5ms"), "leave it out"),
        ],
    )
    def test_it_is_refused_in_one_sentence_before_anything_is_run(
        self, inside: Cli, tmp_path: Path, words: tuple[str, ...], expected: str
    ) -> None:
        assert_one_sentence(inside("tune", "codel", *words, status=2), expected)
        assert list(tmp_path.iterdir()) == []

    def test_a_discipline_without_parameters_or_one_that_is_not_there_is_refused(self, inside: Cli) -> None:
        assert_one_sentence(inside("tune", "pfifo", status=2), "qdisc is 'pfifo'", "codel, fq_codel")
        assert_one_sentence(inside("tune", "pie", "--goal", "delay<=rural", status=2), "pie has no rural setting")

    def test_a_limit_of_packets_is_refused_where_there_is_none(self, inside: Cli) -> None:
        sentence = "limit is 50, but cake has no limit of packets: leave it out"
        assert_one_sentence(inside("tune", "cake", "--limit", "50", status=2), sentence)

    def test_a_goal_that_cannot_be_met_says_how_near_one_can_come(self, inside: Cli) -> None:
        result = inside("tune", "codel", *QUICK, "--goal", "delay<=1ms", status=2)
        assert_one_sentence(result, "goal 'delay<=1ms' cannot be met", "the nearest", "delay ", "target")
        nearest = float(result.stderr.split("came is delay ")[1].split()[0])
        # One packet takes 12 ms, and two flows fill the link: 1 ms is out of reach, but 40 ms is not.
        assert 1 < nearest < 40


class TestJudgements:
    GOOD = [0.95, 0.96, 0.94, 0.95, 0.96, 0.95, 0.94, 0.95]

    def test_a_goal_is_met_not_met_or_cannot_be_told(self) -> None:
        best = made_up("", utilisation=self.GOOD)
        assert judge(read_goal("utilisation>=0.9"), best, []) == "met"
        assert judge(read_goal("utilisation>=0.98"), best, []) == "not met"
        assert judge(read_goal("utilisation>=0.951"), best, []) == "cannot tell"

    def test_differences_are_paired_by_seed_and_turned_to_what_is_better(self) -> None:
        # The spread between seeds is a hundred times the difference; pairs see it.
        base = [100.0, 300.0, 50.0, 500.0, 20.0, 250.0]
        noise = [0.1, -0.1, 0.2, -0.2, 0.0, 0.1]
        known = made_up("rural", delay=base, utilisation=base)
        best = made_up(
            "", delay=[b - 2 + n for b, n in zip(base, noise, strict=True)], utilisation=[b - 2 for b in base]
        )
        assert compare(best, known, "delay").verdict == "better"
        assert compare(best, known, "delay").by_rtt[0].value == pytest.approx(-2, abs=0.1)
        assert compare(best, known, "utilisation").verdict == "worse"
        assert compare(known, known, "delay").verdict == "cannot tell"

    def test_of_several_rtts_each_setting_is_compared_where_it_is_worst(self) -> None:
        setting = Setting(values={}, text="codel")
        best = Scored(setting=setting, name="", samples={"delay": [[10.0] * 6, [50.0] * 6]})
        known = Scored(setting=setting, name="rural", samples={"delay": [[70.0] * 6, [20.0] * 6]})
        found = compare(best, known, "delay")
        assert found.at_worst.value == -20
        assert [one.value for one in found.by_rtt] == [-60, 30]
        assert found.verdict == "better"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """Return the answer for the rural study's link, as the bare command gives it."""
    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "tune", "codel", "--rate", "1mbit", "--rtt", "300ms", "--json"],
        capture_output=True,
        text=True,
        cwd=tmp_path_factory.mktemp("rural"),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: Json = json.loads(done.stdout)
    return answer


@pytest.mark.slow
class TestTheRuralLink:
    def test_the_setting_found_is_on_fresh_seeds_at_least_as_good_as_65_and_300_ms(self, found: Json) -> None:
        """No part of an interval is on the wrong side of no difference: scatter that hides a loss would be."""
        differences = found["differences"]["rural"]
        for metric, better in (("utilisation", 1), ("delay", -1), ("fct", -1)):
            _, low, high = differences[metric]["difference"]
            assert min(better * low, better * high) >= 0, (metric, low, high)
        assert set(found["goals_met"].values()) == {"met"}

    def test_target_matters_more_than_interval_for_the_delay(self, found: Json) -> None:
        delay = found["sensitivity"]["delay"]
        assert delay["surrogate_r2"] > 0.7
        assert delay["st"]["target"] > delay["st"]["interval"]
