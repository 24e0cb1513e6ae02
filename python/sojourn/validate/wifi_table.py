"""Table 1 of "Ending the Anomaly" (USENIX ATC 2017): the paper's model and measurement, mac80211 and the simulator."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn import tables
from sojourn.models.anomaly import Station, predict
from sojourn.validate.entry import Entry
from sojourn.validate.execute import KERNEL, SIM
from sojourn.validate.part import Part

_PACKET = 1500
_TITLES = {"fifo": "FIFO", "airtime": "airtime fairness"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the paper's table.

    Attributes
    ----------
    scheme, station
        Of the scenario.
    rate_mbit
        Of the physical layer.
    aggregate_bytes
        Measured.
    share
        T(i).
    model_mbit, measured_mbit
        R(i), and what was measured.
    """

    scheme: str
    station: str
    rate_mbit: float
    aggregate_bytes: int
    share: float
    model_mbit: float
    measured_mbit: float


#: As printed there.
PAPER = (
    Row(scheme="fifo", station="fast1", rate_mbit=144.4, aggregate_bytes=6892, share=0.10, model_mbit=9.7,
        measured_mbit=7.1),
    Row(scheme="fifo", station="fast2", rate_mbit=144.4, aggregate_bytes=7833, share=0.11, model_mbit=11.4,
        measured_mbit=6.3),
    Row(scheme="fifo", station="slow", rate_mbit=7.2, aggregate_bytes=2914, share=0.79, model_mbit=5.1,
        measured_mbit=5.3),
    Row(scheme="airtime", station="fast1", rate_mbit=144.4, aggregate_bytes=28434, share=0.33, model_mbit=42.2,
        measured_mbit=38.8),
    Row(scheme="airtime", station="fast2", rate_mbit=144.4, aggregate_bytes=28557, share=0.33, model_mbit=42.3,
        measured_mbit=35.6),
    Row(scheme="airtime", station="slow", rate_mbit=7.2, aggregate_bytes=2914, share=0.33, model_mbit=2.2,
        measured_mbit=2.0),
)  # fmt: skip

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
    for scheme in _TITLES:
        own = [row for row in PAPER if row.scheme == scheme]
        model = _model(found, own)
        for row in own:
            rows.append(
                [
                    _TITLES[scheme],
                    row.station,
                    f"{row.aggregate_bytes / _PACKET:.1f}",
                    *_both(found, scheme, f"frames_{row.station}", 1),
                    f"{row.share:.2f}",
                    *_both(found, scheme, f"airtime_{row.station}", 3),
                    f"{row.model_mbit:.1f}",
                    f"{row.measured_mbit:.1f}",
                    *_both(found, scheme, f"flow_goodput_udp_{row.station}", 1),
                    tables.number(model.get(row.station), 1),
                ]
            )
        totals = [sum(getattr(row, name) for row in own) for name in ("model_mbit", "measured_mbit")]
        sums = [
            _sum([_value(found, scheme, f"flow_goodput_udp_{row.station}", side) for row in own])
            for side in (KERNEL, SIM)
        ]
        words = [f"{total:.1f}" for total in totals] + [tables.number(one, 1) for one in sums]
        total = _sum([model.get(row.station) for row in own])
        rows.append([_TITLES[scheme], "total", *[""] * 6, *words, tables.number(total, 1)])
    return [
        f'{"#" * level} {part.name}: Table 1 of "Ending the Anomaly"',
        "Aggregates in frames of 1500 bytes; shares of the airtime; UDP goodput. The paper's FIFO is ath9k of 2016 "
        "with its own queues; the last column is the paper's model with the aggregates that mac80211 built.",
        tables.markdown(_HEADS, rows, left=2),
    ]


def _model(found: dict[tuple[str, str], Entry], own: list[Row]) -> dict[str, float]:
    stations = []
    for row in own:
        frames = _value(found, row.scheme, f"frames_{row.station}", KERNEL)
        if frames is None:
            return {}
        stations.append(Station(name=row.station, rate_mbit=row.rate_mbit, aggregate_bytes=frames * _PACKET))
    return {one.name: one.rate_mbit for one in predict(stations, fair=own[0].scheme == "airtime")}


def _value(found: dict[tuple[str, str], Entry], scheme: str, metric: str, side: str) -> float | None:
    entry = found.get((scheme, metric))
    return None if entry is None else entry.number(side)


def _both(found: dict[tuple[str, str], Entry], scheme: str, metric: str, digits: int) -> list[str]:
    return [tables.number(_value(found, scheme, metric, side), digits) for side in (KERNEL, SIM)]


def _sum(values: list[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return sum(there) if len(there) == len(values) else None
