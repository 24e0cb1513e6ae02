"""The tables of the Wi-Fi stack's paper, the analytical model among them; what its figures are is `exhibits.toml`'s."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np

from sojourn.errors import SojournError
from sojourn.models import anomaly
from sojourn.papers.wifi_stack.evidence import (
    AIRTIME,
    AXES,
    CLASSES,
    PAPER,
    SCHEMES,
    STATIONS,
    TCP,
    UDP,
    Evidence,
    StationObservation,
    median_ping,
    pooled_ping,
)
from sojourn.papers.wifi_stack.quantities import VOCABULARY
from sojourn.plots.wifi import NAMES
from sojourn.report.table import Table
from sojourn.stats import mean_interval
from sojourn.study.cell import Observation
from sojourn.study.exhibits import Gallery, interval_text, recorded
from sojourn.tables import number

#: Physical rates of the three stations, Mbit/s, and the bytes of a packet of a flood without Ethernet, and its payload.
RATES_MBIT = {"fast1": 144.44, "fast2": 144.44, "slow": 7.22}
PACKET, PAYLOAD = 1500, 1472
#: Preamble of the data and block acknowledgement (with preamble) of each, microseconds: HT with two streams and with
#: one; the answer at 24 and at 6 Mbit/s. The access point's AIFS is 43 us.
PREAMBLE_US = {"fast1": 40.0, "fast2": 40.0, "slow": 36.0}
ACK_US = {"fast1": 32.0, "fast2": 32.0, "slow": 68.0}
OURS = anomaly.Timing(difs=43.0)


def predicted(
    evidence: Evidence, scheme: str, timing: anomaly.Timing = OURS, *, whole: bool = False, counted: bool = False
) -> tuple[anomaly.Predicted, ...]:
    """Return what the analytical model says of the aggregates that were measured with UDP under a scheme.

    `timing` and `whole` are those of `sojourn.models.anomaly.predict`; with `counted` each station has the number of
    aggregates that were measured, too, and else the same. Raises `SojournError` if there are no runs.
    """
    runs = evidence.of(AXES(UDP, scheme))
    stations = []
    for name in STATIONS:
        frames = fmean(run.stations[name].aggregate_frames for run in runs)
        own = timing is OURS
        stations.append(
            anomaly.Station(
                name=name,
                rate_mbit=RATES_MBIT[name],
                aggregate_bytes=frames * PACKET,
                aggregates=aggregates_of(evidence, scheme, name) if counted else 1.0,
                preamble_us=PREAMBLE_US[name] if own else None,
                ack_us=ACK_US[name] if own else None,
            )
        )
    return anomaly.predict(stations, fair=scheme == AIRTIME, timing=timing, whole=whole)


def aggregates_of(evidence: Evidence, scheme: str, name: str) -> float:
    """Return how many aggregates a station had with UDP under a scheme for each one of the slow station."""
    runs = evidence.of(AXES(UDP, scheme))
    return sum(run.stations[name].aggregates for run in runs) / sum(run.stations["slow"].aggregates for run in runs)


def latencies(evidence: Evidence) -> Table | None:
    """Return median and 95th percentile of the pings of Fig. 2."""
    rows, records = [], []
    for scheme in _schemes(evidence, TCP):
        for name, stations in CLASSES.items():
            found = mean_interval(evidence.each(AXES(TCP, scheme), partial(median_ping, stations=stations)))
            tail = float(np.percentile(pooled_ping(evidence, TCP, scheme, stations), 95))
            rows.append((NAMES[scheme], name, interval_text(found), f"{tail:.1f}"))
            records.append({"scheme": scheme, "station": name, "p95_ms": tail} | recorded(found, "median_ms"))
    return _table(
        "fig2-numbers",
        ("scheme", "station", "median (ms)", "95th percentile (ms)"),
        rows,
        records,
        "Median: mean over runs and stations of each run's, with its 95 % interval. Percentile: of all pings.",
    )


def model(evidence: Evidence) -> Table | None:
    """Return what the model says of each station beside what was measured and the numbers of its paper."""
    rows, records = [], []
    for scheme in _schemes(evidence, UDP):
        paper = PAPER.get(scheme, {})
        sums = np.zeros(4)
        each = (
            predicted(evidence, scheme, whole=True),
            predicted(evidence, scheme, anomaly.PAPER),
            predicted(evidence, scheme, whole=True, counted=True),
        )
        for one, theirs, counted in zip(*each, strict=True):
            name, mbits = one.name, (one.rate_mbit, theirs.rate_mbit, counted.rate_mbit)
            size = PACKET * fmean(_of_station(evidence, UDP, scheme, name, _frames))
            share = fmean(_of_station(evidence, UDP, scheme, name, _share))
            goodputs = evidence.each(AXES(UDP, scheme), partial(_flow, name=f"udp_{name}"))
            measured = mean_interval(value * PACKET / PAYLOAD for value in goodputs)
            sums += (*mbits, measured.value)
            aggregates = aggregates_of(evidence, scheme, name)
            rows.append(
                (
                    *(NAMES[scheme], name, f"{size:.0f}", f"{aggregates:.2f}"),
                    *(f"{100 * one.share:.0f} / {100 * share:.0f}", f"{one.base_mbit:.1f}"),
                    *(f"{mbits[0]:.2f}", f"{mbits[1]:.2f}", interval_text(measured, 2)),
                    *(_percent(measured.value, mbits[0]), _percent(measured.value, mbits[2])),
                    *(f"{value:g}" for value in paper.get(name, ())),
                    *(() if paper else ("-",) * 4),
                )
            )
            records.append(
                {
                    "scheme": scheme,
                    "station": name,
                    "aggregate_bytes": size,
                    "aggregates": aggregates,
                    "model_share": one.share,
                    "measured_share": share,
                    "model_base_mbit": one.base_mbit,
                    "model_mbit": mbits[0],
                    "model_counted_mbit": mbits[2],
                    "model_paper_timing_mbit": mbits[1],
                }
                | recorded(measured, "measured_mbit")
            )
        ours, papers, exact, total = map(float, sums)
        stated = [f"{sum(row[place] for row in paper.values()):.1f}" if paper else "-" for place in (2, 3)]
        shown = (
            *(f"{value:.2f}" for value in (ours, papers, total)),
            _percent(total, ours),
            _percent(total, exact),
        )
        rows.append((NAMES[scheme], "total", *("",) * 4, *shown, "", "", *stated))
    return _table(
        "model",
        (
            *("scheme", "station", "aggregate (bytes)", "aggregates", "T(i), model / measured (%)", "R0 (Mbit/s)"),
            *("R(i) (Mbit/s)", "R(i) as in the paper", "measured (Mbit/s)", "measured to model"),
            *("to model with these aggregates", "paper: aggregate", "T(i) (%)", "R(i)", "measured"),
        ),
        rows,
        records,
        "Rates of IP packets of 1500 bytes. With the airtime scheduler airtime is equal, else each station "
        "has the same number of aggregates. R0 and R(i) have this cell's timing (AIFS 43 us, preambles of 36 "
        "and 40 us, block acknowledgements at 24 and 6 Mbit/s) and count the overhead in T(i), so that a "
        "round of aggregates takes what it takes; the paper leaves it out there and has other constants. The "
        "model has no contention: pings are not in it. Aggregates: of a station for each one of the slow station. "
        "Under FIFO and FQ-CoDel a fast station that has no frame in the driver leaves the round, so that it has "
        "fewer; with the numbers that were counted the model is the one in the last column before the paper's.",
    )


def downloads(evidence: Evidence) -> Table | None:
    """Return the numbers of Fig. 4."""
    rows, records = [], []
    for scheme in _schemes(evidence, TCP):
        rates = [evidence.each(AXES(TCP, scheme), partial(_flow, name=f"tcp_{name}")) for name in STATIONS]
        shown = [mean_interval(values) for values in (*rates, map(sum, zip(*rates, strict=True)))]
        frames, air = (
            [fmean(_of_station(evidence, TCP, scheme, name, of)) for name in STATIONS] for of in (_frames, _share)
        )
        lengths, shares = (" / ".join(f"{x:.1f}" for x in frames), " / ".join(f"{100 * x:.0f}" for x in air))
        rows.append((NAMES[scheme], *(interval_text(one, 2) for one in shown), lengths, shares))
        for name, one, length, share in zip(STATIONS, shown, frames, air, strict=False):
            named = {"scheme": scheme, "station": name, "aggregate_frames": length, "airtime_share": share}
            records.append(named | recorded(one, "goodput_mbit"))
    heads = (*(f"{name} (Mbit/s)" for name in (*STATIONS, "total")), "frames in an aggregate", "airtime (%)")
    note = "Means over the runs and 95 % intervals; aggregates and airtime of fast1 / fast2 / slow."
    return _table("fig4-numbers", ("scheme", *heads), rows, records, note, left=1)


def cells(evidence: Evidence) -> Table | None:
    """Return what each station had in each cell."""
    rows, records = [], []
    for one, runs in evidence.cells.items():
        for name in runs[0].stations:
            each = [run.stations[name] for run in runs]
            try:
                ping: float | None = fmean(median_ping(run, (name,)) for run in runs)
            except SojournError:
                ping = None
            numbers: dict[str, float | None] = {
                "mbit": fmean(found.mbit for found in each),
                "airtime_share": fmean(found.airtime_share for found in each),
                "aggregate_frames": fmean(found.aggregate_frames for found in each),
                "queue_ms": fmean(found.queue_ms or 0.0 for found in each),
                "hardware_ms": fmean(found.hardware_ms or 0.0 for found in each),
                "ping_ms": ping,
            }
            rows.append((one.experiment, one.scheme, name, str(len(runs)), *map(number, numbers.values())))
            records.append({"experiment": one.experiment, "scheme": one.scheme, "station": name} | numbers)
    return _table(
        "cells",
        (
            *("experiment", "scheme", "station", "runs", "delivered (Mbit/s)", "airtime share"),
            *("frames in an aggregate", "wait in queues (ms)", "wait below (ms)", "ping, median (ms)"),
        ),
        rows,
        records,
        "Downlink. Delivered: with Ethernet headers. Wait below: from the building of an aggregate to its delivery.",
        left=3,
    )


def _table(
    name: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], records: Sequence[Any], note: str, left: int = 2
) -> Table | None:
    if not rows:
        return None
    return Table(name=name, headers=heads, rows=tuple(rows), records=tuple(records), note=note, left=left)


def _schemes(evidence: Evidence, experiment: str) -> list[str]:
    return [scheme for scheme in SCHEMES if AXES(experiment, scheme) in evidence.cells]


def _of_station(
    evidence: Evidence, experiment: str, scheme: str, name: str, of: Callable[[StationObservation], float]
) -> list[float]:
    return evidence.each(AXES(experiment, scheme), lambda run: of(run.stations[name]))


def _flow(run: Observation, name: str) -> float:
    return run.goodput[name]


def _frames(station: StationObservation) -> float:
    return station.aggregate_frames


def _share(station: StationObservation) -> float:
    return station.airtime_share


def _percent(measured: float, model: float) -> str:
    return f"{100 * (measured / model - 1):+.1f} %"


GALLERY = Gallery(
    paper="wifi_stack",
    vocabulary=VOCABULARY,
    quantities={"flow": _flow},
    functions={"latencies": latencies, "model": model, "downloads": downloads, "cells": cells},
    arrays={"pings": lambda evidence, cell, name: pooled_ping(evidence, cell.experiment, cell.scheme, CLASSES[name])},
)
