"""The rule of thumb of docs/tuning.md, on links that are not in the map, with seeds that the map did not use."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest

from sojourn import backends
from sojourn.tune import loads
from sojourn.tune import map as maps
from sojourn.tune.bench import Bench, Scored
from sojourn.tune.measure import Journal
from sojourn.tune.rule import rule
from sojourn.tune.space import space

#: Rate, RTT in ms. The first three pipes hold fewer than 40 packets, the others more.
SHORT_PIPES = (("700kbit", 60.0), ("1500kbit", 150.0), ("7mbit", 20.0))
LONG_PIPES = (("3mbit", 400.0), ("7mbit", 180.0), ("15mbit", 70.0))
#: Far from the map's seeds, which begin at 1.
SEEDS = range(50_000_001, 50_000_005)
MAP = Path(__file__).parent.parent / "docs" / "data" / "tuning-map.csv"

pytestmark = pytest.mark.slow


@cache
def on(qdisc: str, rate: str, rtt: float) -> dict[str, Scored]:
    """Return the rule's setting beside the default, the rural one and a grid, on one link."""
    link = maps.link_of(rate, rtt)
    bench = Bench(
        link=link,
        load=loads.named("rural-low"),
        direction="up",
        backend=backends.SIMULATOR,
        journal=Journal(None),
        cc=maps.DEFAULT_CC,
        workers=2,
    )
    found = space(qdisc, link, "up")
    common = found.references()["default"].values
    target, interval = rule(link.packet_ms("up"), rtt)
    grid = maps.grid(link)[::3]
    settings = {
        **found.references(),
        "rule": found.fixed_setting({**common, "target": target, "interval": interval}),
        **{f"grid {a:g} {b:g}": found.fixed_setting({**common, "target": a, "interval": b}) for a, b in grid},
    }
    return {one.name: one for one in bench.run(list(settings.items()), SEEDS)}


class TestTheRule:
    def test_it_names_a_packet_time_or_an_eighth_of_the_rtt(self) -> None:
        assert rule(12.0, 100.0) == (12.0, 25.0)
        assert rule(12.0, 300.0) == (12.0, 75.0)
        assert rule(1.2, 300.0) == (37.5, 1200.0)

    @pytest.mark.parametrize("qdisc", maps.QDISCS)
    @pytest.mark.parametrize(("rate", "rtt"), SHORT_PIPES)
    def test_in_a_short_pipe_it_has_less_delay_than_default_and_rural_and_carries_as_much(
        self, qdisc: str, rate: str, rtt: float
    ) -> None:
        found = on(qdisc, rate, rtt)
        for known in ("default", "rural"):
            assert found["rule"].worst("delay") < found[known].worst("delay")
            assert found["rule"].worst("utilisation") > 0.95 * found[known].worst("utilisation")

    @pytest.mark.parametrize("qdisc", maps.QDISCS)
    @pytest.mark.parametrize(("rate", "rtt"), LONG_PIPES)
    def test_in_a_long_pipe_it_carries_more_than_the_default_and_from_150_ms_on_a_twentieth_more(
        self, qdisc: str, rate: str, rtt: float
    ) -> None:
        found = on(qdisc, rate, rtt)
        factor = 1.05 if rtt >= 150 else 1.01
        assert found["rule"].worst("utilisation") > factor * found["default"].worst("utilisation")

    @pytest.mark.parametrize("qdisc", maps.QDISCS)
    @pytest.mark.parametrize(("rate", "rtt"), SHORT_PIPES + LONG_PIPES)
    def test_it_carries_most_of_what_any_setting_carries_at_a_bounded_price_in_delay(
        self, qdisc: str, rate: str, rtt: float
    ) -> None:
        found = on(qdisc, rate, rtt)
        most = max(one.worst("utilisation") for one in found.values())
        best, _ = maps.choose([one for name, one in found.items() if name != "rule"])
        assert found["rule"].worst("utilisation") >= 0.85 * most
        assert found["rule"].worst("delay") <= 2 * best.worst("delay")


class TestTheMapInTheDocs:
    @staticmethod
    def rows() -> list[dict[str, str]]:
        with MAP.open(newline="") as file:
            return list(csv.DictReader(file))

    def test_it_spans_a_quarter_to_a_hundred_megabits_and_10_to_600_milliseconds(self) -> None:
        rows = self.rows()
        assert {row["qdisc"] for row in rows} == {"codel", "fq_codel"}
        assert {row["rate"] for row in rows} >= {"250kbit", "1mbit", "100mbit"}
        assert {float(row["rtt_ms"]) for row in rows} >= {10, 300, 600}
        assert len(rows) == 2 * len(maps.RATES) * len(maps.RTTS_MS)

    def test_its_rule_is_the_rule_of_the_code(self) -> None:
        for row in self.rows():
            target, interval = rule(
                maps.link_of(row["rate"], float(row["rtt_ms"])).packet_ms("up"), float(row["rtt_ms"])
            )
            assert float(row["rule_target_ms"]) == pytest.approx(target, rel=0.01)
            assert float(row["rule_interval_ms"]) == pytest.approx(interval, rel=0.01)

    def test_wherever_the_load_fills_the_link_the_rule_carries_most_of_what_the_best_carries(self) -> None:
        filled = [row for row in self.rows() if row["filled"] == "True"]
        assert len(filled) >= 0.9 * len(self.rows())
        for row in filled:
            assert float(row["rule_utilisation"]) >= 0.85 * float(row["best_utilisation"]), row

    def test_a_cell_of_the_map_is_what_runs_give(self) -> None:
        row = next(
            row for row in self.rows() if (row["qdisc"], row["rate"], row["rtt_ms"]) == ("codel", "1mbit", "300.0")
        )
        bench = Bench(
            link=maps.link_of("1mbit", 300.0),
            load=loads.named("rural-low"),
            direction="up",
            backend=backends.SIMULATOR,
            journal=Journal(None),
            cc=maps.DEFAULT_CC,
            workers=2,
        )
        found = space("codel", bench.link, "up")
        (again,) = bench.run([("default", found.references()["default"])], maps.seeds_of(1).fresh)
        for metric in ("utilisation", "delay", "fct"):
            assert float(row[f"default_{metric}"]) == pytest.approx(again.worst(metric), rel=0.05)
