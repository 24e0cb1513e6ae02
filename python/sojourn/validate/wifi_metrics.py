"""What is compared of a cell: each station's part of the airtime, its goodput, and its pings.

The bars are those the project set itself: shares of the airtime within 0.01; goodput of each flow within 3 %; the
median of each station's pings within 2 ms or 10 %, whichever is larger; their 95th percentile within 20 %.
"""

from __future__ import annotations

from collections.abc import Callable

from sojourn.record import QuantileName, Record, WifiStationRecord
from sojourn.schema import required
from sojourn.study.quantities import QUANTITIES
from sojourn.validate.bars import Bar, Within
from sojourn.validate.metric import Metric, each_run

AIRTIME = Within(least=0.01)
GOODPUT = Within(share=0.03)
MEDIAN = Within(share=0.10, least=2.0)
P95 = Within(share=0.20)

#: What metrics of one kind are called together, by the beginning of their names.
KINDS = (
    ("airtime_", "airtime shares"),
    ("flow_goodput_", "goodput of flows"),
    ("median_", "median pings"),
    ("p95_", "95th percentiles of pings"),
)

Value = Callable[[Record], float | None]


def metrics_of(record: Record) -> tuple[Metric, ...]:
    """Return the metrics of a cell's record: the judged ones, then those that are shown."""
    stations = [one.name for one in required(record.wifi, "wifi").stations]
    echoes = [one.name for one in record.probes if one.kind == "icmp"]
    judged = [
        *(_metric(f"airtime_{name}", f"airtime share of {name}", "", _share(name), AIRTIME, 4) for name in stations),
        *(
            _metric(f"flow_goodput_{one.name}", f"goodput of {one.name}", "Mbit/s", _flow(one.name), GOODPUT)
            for one in record.flows
        ),
        *(_metric(f"median_{name}", f"median of {name}", "ms", _ping(name, "median"), MEDIAN) for name in echoes),
        *(_metric(f"p95_{name}", f"95th percentile of {name}", "ms", _ping(name, "p95"), P95) for name in echoes),
    ]
    shown = [
        _metric("busy", "medium busy", "", lambda record: float(required(record.wifi, "wifi").busy), None, 3),
        _metric(
            "collisions", "collisions", "", lambda record: float(required(record.wifi, "wifi").collisions), None, 0
        ),
        *(
            _metric(f"frames_{name}", f"frames of an aggregate to {name}", "", _frames(name), None, 1)
            for name in stations
        ),
    ]
    return (*judged, *shown)


def _metric(name: str, title: str, unit: str, value: Value, bar: Bar | None, digits: int = 2) -> Metric:
    return Metric(name=name, title=title, unit=unit, measure=each_run(value), bar=bar, digits=digits)


def _station(record: Record, name: str) -> WifiStationRecord | None:
    return next((one for one in required(record.wifi, "wifi").stations if one.name == name), None)


def _share(name: str) -> Value:
    def value(record: Record) -> float | None:
        used = {one.name: _airtime(one) for one in required(record.wifi, "wifi").stations}
        every = sum(used.values())
        return used[name] / every if name in used and every > 0 else None

    return value


def _airtime(station: WifiStationRecord) -> float:
    """Return what was sent to a station and by it, collisions included, ms.

    A simulated access point counts of what stations send only what it receives, as a real one does; the kernel's driver
    counts all of it (`airtime_sent_ms`).
    """
    sent = station.airtime_sent_ms if station.airtime_sent_ms is not None else station.airtime_rx_ms
    return float(station.airtime_tx_ms) + float(sent)


def _frames(name: str) -> Value:
    def value(record: Record) -> float | None:
        one = _station(record, name)
        return one.down.aggregate_frames if one is not None else None

    return value


def _flow(name: str) -> Value:
    return lambda record: QUANTITIES["flow"].read(record, name)


def _ping(name: str, key: QuantileName) -> Value:
    def value(record: Record) -> float | None:
        found = next((one.rtt_ms for one in record.probes if one.name == name), None)
        return getattr(found, key, None)

    return value
