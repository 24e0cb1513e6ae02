"""What may be asked for at once: runs, trials, workers, memory and time; and plans that begin at once however long."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import sojourn
from sojourn import _native, api, backends, bounds, cells, papers, plan, rounds, runner
from sojourn.cells import Planned
from sojourn.cli import reproduction
from sojourn.cli.main import main
from sojourn.experiments import BUILT_IN
from sojourn.lazy import Lazy, chained, mapped
from sojourn.scenario import Scenario
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore
from sojourn.sweep.file import MOST_CELLS
from sojourn.tune.search import Request, search
from tests.conftest import Cli, assert_one_sentence
from tests.records import Json

HUGE = "9" * 5000
SAYS_HUGE = "a number of about 5000 digits"
SMALL = Scenario(experiment="x", duration="100ms")


def name_of(value: object) -> str:
    """Return the name of a case: pytest cannot write a number of thousands of digits."""
    return bounds.shown(value)


class TestNumbersOnTheCommandLine:
    @pytest.mark.parametrize(
        "value", ["1000001", str(2**63), str(2**64), HUGE, "-" + HUGE, "0", "1.5", "nan", "x" * 5000]
    )
    @pytest.mark.parametrize(
        ("command", "option", "most"),
        [
            (("run", "rrul"), "repeat", bounds.MOST_RUNS),
            (("compare", "rrul", "--qdisc", "codel", "--until-ci", "2%"), "max-repeat", bounds.MOST_RUNS),
            (("run", "rrul"), "workers", bounds.MOST_WORKERS),
            (("tune", "codel", "--rate", "1mbit", "--rtt", "50ms"), "trials", bounds.MOST_TRIALS),
            (("validate", "rrul"), "sim-repeat", bounds.MOST_RUNS),
        ],
    )
    def test_one_sentence_names_field_value_and_rule(
        self, cli: Cli, command: tuple[str, ...], option: str, most: int, value: str
    ) -> None:
        result = cli(*command, f"--{option}", value, status=2)
        assert len(result.stderr) < 500
        number = value.lstrip("-").isdigit()
        rule = ["at least 1"] if value.startswith(("-", "0")) else [f"at most {most}"] if number else ["a whole number"]
        shown = [SAYS_HUGE] if HUGE in value else [] if value.startswith("x") else [value]
        assert_one_sentence(result, option, *shown, *rule)

    @pytest.mark.parametrize("option", ["--seed", "--flows-up", "--stations"])
    def test_any_other_number_of_thousands_of_digits_is_refused_too(self, cli: Cli, option: str) -> None:
        assert_one_sentence(cli("run", "bulk", option, HUGE, status=2), option[2:], SAYS_HUGE)

    def test_a_plan_without_a_store_is_refused_before_its_records_fill_the_memory(self, cli: Cli) -> None:
        began = time.monotonic()
        result = cli("run", "rrul", "--repeat", "1000000", status=2)
        assert_one_sentence(result, "1000000 runs", str(bounds.MOST_UNSTORED), "--out")
        assert time.monotonic() - began < 5


class TestNumbersInFiles:
    @pytest.mark.parametrize("value", ["1_000_001", str(2**63), HUGE, "-" + HUGE])
    def test_repeat_of_a_sweep(self, cli: Cli, tmp_path: Path, value: str) -> None:
        (tmp_path / "s.toml").write_text(f'experiment = "rrul"\nrepeat = {value}\n[vary]\nqdisc = ["codel"]\n')
        result = cli("sweep", str(tmp_path / "s.toml"), "--out", str(tmp_path / "o"), status=2)
        assert_one_sentence(result, "repeat is", SAYS_HUGE if HUGE in value else value.replace("_", ""))
        assert not (tmp_path / "o").exists()

    def test_a_sweep_of_too_many_runs_together(self, cli: Cli, tmp_path: Path) -> None:
        (tmp_path / "s.toml").write_text('experiment = "rrul"\nrepeat = 600000\n[vary]\nrtt = ["1ms", "2ms"]\n')
        result = cli("sweep", str(tmp_path / "s.toml"), "--out", str(tmp_path / "o"), status=2)
        assert_one_sentence(result, "1200000 runs", "1000000")

    @pytest.mark.parametrize(
        ("text", "field"),
        [
            (f"seed = {HUGE}", "seed"),
            (f"[tcp]\nmss = -{HUGE}", "tcp.mss"),
            (f'flows = [{{name = "f", direction = "up", bytes = {HUGE}}}]', "flows[0].bytes"),
        ],
    )
    def test_an_experiment_file(self, cli: Cli, tmp_path: Path, text: str, field: str) -> None:
        (tmp_path / "e.toml").write_text(text + "\n")
        assert_one_sentence(cli("run", str(tmp_path / "e.toml"), status=2), field, SAYS_HUGE)

    def test_a_number_that_is_none_is_told_with_its_field(self, cli: Cli, tmp_path: Path) -> None:
        (tmp_path / "e.toml").write_text("loss_up = nan\n")
        assert_one_sentence(cli("run", str(tmp_path / "e.toml"), status=2), "loss_up is NaN", "finite number")


class TestNumbersInPython:
    @pytest.mark.parametrize("value", [0, -1, 10**6 + 1, 2**64, 10**5000, True, 1.5, "3", None], ids=name_of)
    def test_repeat(self, value: Any) -> None:
        with pytest.raises(sojourn.ParamError, match=r"repeat is .*, but must be"):
            api.repeats(SMALL, value)

    @pytest.mark.parametrize("value", [0, 257, 2**64, 10**5000, 1.5, "3"], ids=name_of)
    def test_workers(self, value: Any) -> None:
        with pytest.raises(sojourn.ParamError, match=r"workers is .*, but must be"):
            runner.run_all([SMALL], workers=value)

    @pytest.mark.parametrize("value", [0, 10_001, 10**5000], ids=name_of)
    def test_trials(self, value: int) -> None:
        request = Request(goals=(), minimise=("delay",), trials=value, seed=1)
        nothing: Any = None
        with pytest.raises(sojourn.ParamError, match=r"trials is .*, but must be"):
            search(nothing, nothing, request, (1,))

    @pytest.mark.parametrize(
        "scenario",
        [
            Scenario(experiment="x", duration="1s", seed=10**5000),
            Scenario(experiment="x", duration="1s", edge_limit=-(10**5000)),
            Scenario(experiment="x", duration="1s", loss_up=float("nan")),
            Scenario(experiment="x", duration="1s", loss_up=10**5000),
            Scenario(experiment="x", duration="1s", seed=object()),  # type: ignore[arg-type]
        ],
    )
    def test_a_scenario(self, scenario: Scenario) -> None:
        with pytest.raises(sojourn.ParamError) as raised:
            scenario.normalized()
        assert len(str(raised.value)) < 300

    def test_options(self) -> None:
        with pytest.raises(sojourn.ParamError, match="flows_up is a number of about 5001 digits"):
            sojourn.run("bulk", flows_up=10**5000)


class Counted:
    """A lazy plan that counts what is made of it."""

    def __init__(self, number: int) -> None:
        self.made = 0
        base = rounds.repeats(SMALL, number)
        self.plan = Lazy(number, lambda place: self._count(base[place]), (0, number - 1))

    def _count(self, scenario: Scenario) -> Scenario:
        self.made += 1
        return scenario


class TestLazyPlans:
    def test_a_million_repeats_begin_at_once(self, tmp_path: Path) -> None:
        counted = Counted(bounds.MOST_RUNS)
        places: list[int] = []

        def stop(place: int, run: Run) -> None:
            places.append(place)
            assert run.seed == place + 1
            if len(places) == 3:
                raise KeyboardInterrupt

        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            runner.run_all(counted.plan, workers=1, store=RunStore(tmp_path / "s"), done=stop)
        assert places == [0, 1, 2]
        assert counted.made < 20
        assert time.monotonic() - began < 10

    def test_so_do_they_in_several_processes(self, tmp_path: Path) -> None:
        counted = Counted(bounds.MOST_RUNS)
        places: list[int] = []

        def stop(place: int, _: Run) -> None:
            places.append(place)
            if len(places) == 50:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            runner.run_all(counted.plan, workers=2, store=RunStore(tmp_path / "s"), done=stop)
        assert counted.made < 200

    def test_rounds_are_not_made_before_they_are_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def run(planned: Sequence[Planned[int]], *_: object) -> list[Run]:
            assert len(planned) == 2 * bounds.MOST_RUNS
            first = Scenario(experiment="x", duration="100ms", seed=1)
            assert planned[bounds.MOST_RUNS] == Planned(cell=1, scenario=first)
            assert planned[-1].scenario.seed == bounds.MOST_RUNS
            raise KeyboardInterrupt

        monkeypatch.setattr(cells, "run", run)
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            cells.grow([(0, SMALL), (1, SMALL)], bounds.MOST_RUNS, None, cells.Means(), together=False)
        assert time.monotonic() - began < 1

    def test_all_of_a_lazy_plan_is_checked_before_it_begins(self, tmp_path: Path) -> None:
        bad = Scenario(experiment="x", duration="1s", rtt="never")
        last = Scenario(experiment="x", duration="100ms", seed=2**64 - 2)
        for parts in ([SMALL, bad], [SMALL, last]):
            made = chained([rounds.repeats(one, 5) for one in parts])
            with pytest.raises(sojourn.ParamError, match="rtt|seed"):
                runner.run_all(made, workers=1, store=RunStore(tmp_path / "s"))
        assert not (tmp_path / "s").exists()

    def test_the_runs_are_those_of_the_list(self, tmp_path: Path) -> None:
        twice = api.repeats(SMALL, 40) * 2
        for number, store in ((1, None), (2, None), (2, RunStore(tmp_path / "s")), (2, RunStore(tmp_path / "s"))):
            runs = runner.run_all(chained([twice]), workers=number, store=store)
            assert [run.seed for run in runs] == [*range(1, 41)] * 2

    @pytest.mark.parametrize("stored", [0, 5])
    def test_the_bar_ends_at_all_runs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stored: int) -> None:
        from sojourn import progress

        bars: list[Any] = []

        class Bar(progress._Bar):
            def __init__(self, *words: Any) -> None:
                super().__init__(*words)
                bars.append(self)
                self.show()

        monkeypatch.setattr(progress, "_Bar", Bar)
        store = RunStore(tmp_path / "s")
        if stored:
            runner.run_all(api.repeats(SMALL, stored), workers=1, store=store)
        runner.run_all(api.repeats(SMALL, 30) * 2, workers=2, store=store, describe="x")
        [bar] = bars
        assert (bar.total, bar.count, bar.bar.n) == (60, 60, 60)
        # What is judged for the time left are the runs that were made.
        assert bar.count - bar.begin_at == 30 - stored
        assert bar.bar.n - bar.bar.initial == 30 - stored


class TestLazySequences:
    def test_they_are_what_lists_are(self) -> None:
        numbers = Lazy(10, lambda place: place * place)
        assert list(numbers) == [place * place for place in range(10)]
        assert list(numbers[2:8:3]) == [4, 25]
        assert numbers[-1] == 81
        with pytest.raises(IndexError):
            numbers[10]
        both = chained([numbers, [], range(3), mapped(str, numbers)])
        assert list(both) == [*numbers, 0, 1, 2, *map(str, numbers)]
        assert list(chained([])) == []

    def test_they_know_what_stands_for_all(self) -> None:
        parts = chained([rounds.repeats(SMALL, 5), rounds.repeats(SMALL, 1), [SMALL, SMALL]])
        assert list(parts.kinds) == [0, 4, 5, 6, 7]
        assert list(mapped(str, parts).kinds) == [0, 4, 5, 6, 7]
        assert list(parts[1:4].kinds) == [0, 1, 2]
        assert [job.seed for job in plan.jobs(rounds.repeats(SMALL, 5, begin=3))] == [4, 5]


def test_the_table_of_limits_is_that_of_the_code() -> None:
    page = Path(__file__).parents[1] / "docs/limits.md"
    table = page.read_text(encoding="utf-8").partition("|---|---|---|\n")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert {name: int(most) for name, most, _ in rows} == {
        **_native.limits(),
        "runs of a plan": bounds.MOST_RUNS,
        "runs of a plan without a store": bounds.MOST_UNSTORED,
        "trials": bounds.MOST_TRIALS,
        "workers": bounds.MOST_WORKERS,
        "combinations of a sweep": MOST_CELLS,
    }


@pytest.mark.parametrize("profile", ["quick", "paper"])
@pytest.mark.parametrize(
    ("paper", "backend"),
    [(paper, backend) for paper in papers.NAMES for backend in ("sim", "linux")],
)
def test_no_plan_of_the_papers_comes_near_the_limits(
    paper: str, backend: str, profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    largest: list[int] = []

    def jobs(scenarios: Sequence[Scenario], *, backend: backends.Backend) -> None:
        made = plan.jobs(scenarios, backend=backend)
        needs = (json.loads(_native.estimate(made[place].text, backend.name)) for place in made.kinds)
        largest.append(max(one["memory"] for one in needs))
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduction, "plan", SimpleNamespace(jobs=jobs))
    words = ["reproduce", paper, "--profile", profile, "--backend", backend, "--out", str(tmp_path / "o")]
    status = main(words)
    if backend == "linux" and not largest:
        assert status == 2  # only the simulator has its cells
        return
    assert largest[0] < (1e8 if backend == "sim" else 2e9)


def built_in() -> Iterator[tuple[str, Scenario]]:
    """Every built-in experiment, as long as the longest of the papers, at the fastest of their rates."""
    for name in BUILT_IN:
        for rate in ("1mbit", "1gbit"):
            yield f"{name} {rate}", api.build(name, rate=rate, duration="600s")


class TestMemoryAndTime:
    @pytest.mark.parametrize(
        ("name", "scenario"), list(built_in()), ids=lambda one: one if isinstance(one, str) else ""
    )
    def test_no_experiment_of_ours_comes_near_the_limits(self, name: str, scenario: Scenario) -> None:
        text = scenario.normalized()
        needs = json.loads(_native.estimate(text))
        assert needs["memory"] < 1e9, name
        assert needs["packets"] < 1e10, name

    def test_a_run_that_would_not_fit_is_refused_by_a_command(self, cli: Cli, tmp_path: Path) -> None:
        flows = "".join(f'[[flows]]\nname = "f{n}"\ndirection = "up"\n' for n in range(300))
        (tmp_path / "e.toml").write_text(f'duration = "1000s"\nsample_interval = "1ms"\n{flows}')
        began = time.monotonic()
        result = cli("run", str(tmp_path / "e.toml"), "--out", str(tmp_path / "o"), status=2)
        assert_one_sentence(result, "300 flows", "1000001 bins", "GB", "at most 4 GB", "sample_interval")
        assert time.monotonic() - began < 5
        assert not (tmp_path / "o").exists()

    def test_who_has_more_memory_may_allow_more(self, monkeypatch: pytest.MonkeyPatch) -> None:
        flows = tuple(sojourn.Flow(name=f"f{n}", direction="up") for n in range(300))
        large = Scenario(experiment="x", duration="1000s", sample_interval="1ms", flows=flows)
        with pytest.raises(sojourn.ParamError, match="at most 4 GB"):
            large.normalized()
        monkeypatch.setenv("SOJOURN_MEMORY", "100gb")
        large.normalized()
        monkeypatch.setenv("SOJOURN_MEMORY", "1mb")
        with pytest.raises(sojourn.ParamError, match="at most 1 MB"):
            large.normalized()
        monkeypatch.setenv("SOJOURN_MEMORY", "plenty")
        with pytest.raises(sojourn.ParamError, match="SOJOURN_MEMORY"):
            large.normalized()
        monkeypatch.delenv("SOJOURN_MEMORY")
        monkeypatch.setenv("SOJOURN_PACKETS", "10")
        with pytest.raises(sojourn.ParamError, match=r"packets, but at most 10 are allowed"):
            SMALL.from_json('{"duration": "10s", "flows": [{"name": "f", "direction": "up"}]}')

    @pytest.mark.parametrize(
        ("changes", "updates"),
        [
            ({"qdisc_up": "dualpi2 tupdate 1us"}, 1e6),
            ({"qdisc_down": "pie tupdate 1ms"}, 1e3),
            ({"qdisc_up": "fq_pie flows 65536 tupdate 1ms"}, 65_536e3),
            ({"service_interval_up": "100us", "service_interval_down": "1ms"}, 11e3),
            ({"qdisc_up": "prio ; qdisc parent 1:1 pie tupdate 1ms ; qdisc parent 1:2 pie tupdate 1ms"}, 2e3),
        ],
        ids=lambda value: next(iter(value.values())) if isinstance(value, dict) else "",
    )
    def test_what_is_done_by_the_clock_is_reckoned(self, changes: dict[str, str], updates: float) -> None:
        def packets(text: dict[str, str]) -> float:
            return float(json.loads(_native.estimate(json.dumps({"duration": "10s", **text})))["packets"])

        idle = {"qdisc_up": "pfifo", "qdisc_down": "pfifo"}
        assert packets(idle | changes) - packets(idle) == pytest.approx(updates * 10 / 10, rel=0.2)
        if updates > 1e7:
            with pytest.raises(sojourn.ParamError, match="packets, but at most 10.11 are allowed, which take a day"):
                Scenario.from_json(json.dumps(idle | changes | {"duration": "86400s"})).normalized()


#: Timers and sizes of which a tiny one makes work without end, and what the sentence about it names.
TINY: dict[str, tuple[dict[str, object], str]] = {
    "pie": ({"qdisc_up": "pie tupdate 1us"}, "pie.tupdate is 1us"),
    "dualpi2": ({"qdisc_up": "dualpi2 tupdate 1ns"}, 'dualpi2.tupdate is "1ns"'),
    "bins": ({"sample_interval": "1ns"}, "sample_interval is 1ns"),
    "rtt": ({"rtt": "1ns"}, "rtt is 1ns"),
    "min_rto": ({"tcp": {"min_rto": "1ns"}}, "tcp.min_rto is 1ns"),
    "echoes": ({"probes": [{"name": "p", "kind": "icmp", "interval": "1ns"}]}, "probes[0].interval is 1ns"),
    "voice": ({"probes": [{"name": "p", "kind": "voip", "frame": "1ns"}]}, "probes[0].frame is 1ns"),
    "transactions": ({"probes": [{"name": "p", "kind": "udp_rr", "rtt": "1ns"}]}, "probes[0].rtt is 1ns"),
    "thin": (
        {"flows": [{"name": "f", "direction": "up", "write": "1b", "write_interval": "1ns"}]},
        "flows[0].write_interval is 1ns",
    ),
    "pages": ({"web": [{"name": "w", "objects": [1], "interval": "1ns", "workers": 1}]}, "web[0].interval is 1ns"),
    "files": (
        {"downloads": [{"name": "d", "direction": "up", "bytes": 1, "gap": "1ns"}]},
        "downloads[0].gap is 1ns",
    ),
}
#: Those of which a tiny one costs little: they are looked at for each packet, not by a clock.
HARMLESS: dict[str, dict[str, object]] = {
    "codel": {"qdisc_up": "codel target 1us interval 1us"},
    "fq_codel": {"qdisc_up": "fq_codel target 1us interval 1us"},
    "pie": {"qdisc_up": "pie target 1us tupdate 1ms"},
    # The kernel takes 256.
    "quantum": {"qdisc_up": "fq_codel quantum 1"},
    "sfq": {"qdisc_up": "sfq quantum 1 perturb 1"},
    "netem": {"qdisc_up": "netem delay 1ns"},
    "tick": {"delay_tick": "1ns"},
    "mss": {"tcp": {"mss": 1}},
    "mac": {
        "wifi": {
            "stations": [{"name": "s", "rate": "ht mcs 7 20mhz"}],
            "codel_target": "1ns",
            "codel_interval": "1ns",
            "aggregate_time": "1ns",
            "airtime_quantum": "1us",
            "quantum": 1,
        }
    },
}


class TestTinyTimers:
    @pytest.mark.parametrize("case", TINY)
    def test_a_timer_that_would_never_let_the_clock_go_on_is_refused(self, case: str) -> None:
        keys, sentence = TINY[case]
        with pytest.raises(sojourn.ParamError) as raised:
            _native.normalize(json.dumps({"duration": "1s", **keys}))
        assert sentence in str(raised.value)
        assert "but must be" in str(raised.value)

    @pytest.mark.parametrize("case", HARMLESS)
    def test_what_is_taken_ends(self, case: str) -> None:
        flows = [{"name": f"f{n}", "direction": "up"} for n in range(4)]
        began = time.process_time()
        _native.run(json.dumps({"duration": "10s", "flows": flows, **HARMLESS[case]}))
        assert time.process_time() - began < 10


class TestHandDrivenDisciplines:
    """Whatever the values are: an answer or one sentence, soon."""

    LAST = 2**62

    @pytest.mark.parametrize(
        "text", ["pie", "pie tupdate 1ms target 1us", "pie dq_rate_estimator", "pie variant rfc8033"]
    )
    def test_146_years_without_a_packet_pass_at_once(self, text: str) -> None:
        q = _native.Qdisc(text)
        began = time.process_time()
        q.enqueue(0, 1500)
        q.enqueue(self.LAST, 1500)
        assert q.dequeue(self.LAST) is not None
        assert time.process_time() - began < 5

    @pytest.mark.parametrize("text", ["sfq quantum 1", "fq_codel quantum 256 memory_limit 2147483648b limit 1000000"])
    def test_packets_of_4_gb_take_no_longer_than_others(self, text: str) -> None:
        q = _native.Qdisc(text)
        began = time.process_time()
        for flow in range(60):
            q.enqueue(0, 2_000_000_000, flow=flow)
            q.enqueue(0, 60, flow=flow)
        while q.dequeue(0) is not None:
            pass
        assert time.process_time() - began < 5

    @pytest.mark.parametrize(
        "value",
        [-1, 2**62 + 1, 2**64, 10**4000, 10**5000, -(10**5000), 1.5, float("nan"), "1" * 5000, None, [0] * 1000],
        ids=range(11),
    )
    @pytest.mark.parametrize("field", ["now_ns", "size", "flow"])
    def test_odd_values_get_a_sentence(self, field: str, value: Any) -> None:
        q = _native.Qdisc("fq_codel")
        words: Json = {"now_ns": 0, "size": 100, "flow": 0, field: value}
        if field == "flow" and value is None:
            assert q.enqueue(**words) == 0
            return
        kind = sojourn.ParamError if type(value) is int else TypeError
        with pytest.raises(kind, match="but must be") as raised:
            q.enqueue(**words)
        assert field in str(raised.value)
        assert len(str(raised.value)) < 300
        assert q.backlog == (0, 0)
