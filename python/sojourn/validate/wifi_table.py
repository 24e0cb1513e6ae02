"""Table 1 of "Ending the Anomaly" (USENIX ATC 2017): the paper's model and measurement, mac80211 and the simulator."""

from __future__ import annotations

from sojourn import tables
from sojourn.models.anomaly import Station, predict
from sojourn.papers.wifi_stack.evidence import PAPER
from sojourn.validate.entry import Entry
from sojourn.validate.execute import KERNEL, SIM
from sojourn.validate.part import Part

_PACKET = 1500
_TITLES = {"fifo": "FIFO", "airtime": "airtime fairness"}


#: Of the physical layer, Mbit/s, as printed there.
_RATES = {"fast1": 144.4, "fast2": 144.4, "slow": 7.2}

_HEADS = (
    "case",
    "station",
    "frames: paper",
    "kernel",
    "simulator",
    "share: paper",
    "kernel",
    "simulator",
    "Mbit/s: model of the paper",
    "measured there",
    "kernel",
    "simulator",
    "the model with the kernel's aggregates",
)


def anomaly(part: Part, level: int) -> list[str]:
    """Return the table beside the paper's."""
    found = {(entry.qdisc, entry.metric): entry for entry in part.entries}
    rows = []
    for scheme, title in _TITLES.items():
        own = PAPER[scheme]
        predicted = _model(found, scheme)
        for station, (size, percent, modelled, measured) in own.items():
            rows.append(
                [
                    title,
                    station,
                    f"{size / _PACKET:.1f}",
                    *_both(found, scheme, f"frames_{station}", 1),
                    f"{percent / 100:.2f}",
                    *_both(found, scheme, f"airtime_{station}", 3),
                    f"{modelled:.1f}",
                    f"{measured:.1f}",
                    *_both(found, scheme, f"flow_goodput_udp_{station}", 1),
                    tables.number(predicted.get(station), 1),
                ]
            )
        totals = [sum(row[place] for row in own.values()) for place in (2, 3)]
        sums = [
            _sum([_value(found, scheme, f"flow_goodput_udp_{station}", side) for station in own])
            for side in (KERNEL, SIM)
        ]
        words = [f"{total:.1f}" for total in totals] + [tables.number(one, 1) for one in sums]
        total = _sum([predicted.get(station) for station in own])
        rows.append([title, "total", *[""] * 6, *words, tables.number(total, 1)])
    return [
        f'{"#" * level} {part.name}: Table 1 of "Ending the Anomaly"',
        "Aggregates in frames of 1500 bytes; shares of the airtime; UDP goodput. The paper's FIFO is ath9k of 2016 "
        "with its own queues; the last column is the paper's model with the aggregates that mac80211 built.",
        tables.markdown(_HEADS, rows, left=2),
    ]


def _model(found: dict[tuple[str, str], Entry], scheme: str) -> dict[str, float]:
    stations = []
    for name, rate in _RATES.items():
        frames = _value(found, scheme, f"frames_{name}", KERNEL)
        if frames is None:
            return {}
        stations.append(Station(name=name, rate_mbit=rate, aggregate_bytes=frames * _PACKET))
    return {one.name: one.rate_mbit for one in predict(stations, fair=scheme == "airtime")}


def _value(found: dict[tuple[str, str], Entry], scheme: str, metric: str, side: str) -> float | None:
    entry = found.get((scheme, metric))
    return None if entry is None else entry.number(side)


def _both(found: dict[tuple[str, str], Entry], scheme: str, metric: str, digits: int) -> list[str]:
    return [tables.number(_value(found, scheme, metric, side), digits) for side in (KERNEL, SIM)]


def _sum(values: list[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) if len(there) == len(values) else None
