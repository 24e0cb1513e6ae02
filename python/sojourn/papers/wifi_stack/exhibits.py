"""The figures and tables of the Wi-Fi stack's paper, drawn from what was observed of the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import fmean

import numpy as np

from sojourn.errors import SojournError
from sojourn.models import anomaly
from sojourn.papers.wifi_stack.evidence import (
    AIRTIME,
    CLASSES,
    FIFO,
    SCHEMES,
    STATIONS,
    TCP,
    UDP,
    Cell,
    Evidence,
    Seen,
    median_ping,
    pooled_ping,
)
from sojourn.plots.wifi import NAMES, airtime_shares, ping_cdf, throughput_bars
from sojourn.report.exhibit import Exhibit, draw
from sojourn.report.table import Table
from sojourn.stats import Interval, mean_interval
from sojourn.tables import interval

#: Physical rates of the three stations, Mbit/s, and the bytes of a packet of a flood without Ethernet, and its payload.
RATES_MBIT = {"fast1": 144.44, "fast2": 144.44, "slow": 7.22}
PACKET, PAYLOAD = 1500, 1472
#: Preamble of the data and block acknowledgement (with preamble) of each, microseconds: HT with two streams and with
#: one; the answer at 24 and at 6 Mbit/s. The access point's AIFS is 43 us.
PREAMBLE_US = {"fast1": 40.0, "fast2": 40.0, "slow": 36.0}
ACK_US = {"fast1": 32.0, "fast2": 32.0, "slow": 68.0}
OURS = anomaly.Timing(difs=43.0)

#: Table 1 of "Ending the Anomaly": aggregate (bytes), share (percent), R(i) and what was measured of each station.
PAPER: dict[str, dict[str, tuple[int, int, float, float]]] = {
    FIFO: {"fast1": (6892, 10, 9.7, 7.1), "fast2": (7833, 11, 11.4, 6.3), "slow": (2914, 79, 5.1, 5.3)},
    AIRTIME: {"fast1": (28434, 33, 42.2, 38.8), "fast2": (28557, 33, 42.3, 35.6), "slow": (2914, 33, 2.2, 2.0)},
}


def exhibits(evidence: Evidence) -> tuple[Exhibit, ...]:
    """Return every figure and table that there are runs for, in the order of the paper."""
    makers: tuple[Callable[[Evidence], Iterator[Exhibit]], ...] = (_fig2, _fig3, _model, _fig4, _cells_table)
    return tuple(one for make in makers for one in make(evidence))


def predicted(
    evidence: Evidence, scheme: str, timing: anomaly.Timing = OURS, *, whole: bool = False, counted: bool = False
) -> tuple[anomaly.Predicted, ...]:
    """Return what the analytical model says of the aggregates that were measured with UDP under a scheme.

    `timing` and `whole` are those of `sojourn.models.anomaly.predict`; with `counted` each station has the number of
    aggregates that were measured, too, and else the same.

    Raises
    ------
    SojournError
        If there are no runs.
    """
    runs = evidence.of(Cell(UDP, scheme))
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
    runs = evidence.of(Cell(UDP, scheme))
    return sum(run.stations[name].aggregates for run in runs) / sum(run.stations["slow"].aggregates for run in runs)


def _fig2(evidence: Evidence) -> Iterator[Exhibit]:
    schemes = [scheme for scheme in SCHEMES if Cell(TCP, scheme) in evidence.cells]
    if not schemes:
        return
    samples = {
        scheme: {name: pooled_ping(evidence, TCP, scheme, stations) for name, stations in CLASSES.items()}
        for scheme in schemes
    }
    rows, records = [], []
    for scheme in schemes:
        for name, stations in CLASSES.items():
            found = mean_interval(
                evidence.each(Cell(TCP, scheme), lambda seen, stations=stations: median_ping(seen, stations))  # type: ignore[misc]
            )
            tail = float(np.percentile(samples[scheme][name], 95))
            rows.append((NAMES[scheme], name, _shown(found), f"{tail:.1f}"))
            records.append({"scheme": scheme, "station": name, "p95_ms": tail} | _record(found, "median_ms"))
    yield Exhibit(
        name="fig2",
        title="Fig. 2: latency with TCP downloads",
        section="3.2",
        says="Distribution of the round-trip times of pings while each station downloads; the paper leaves the airtime "
        "scheduler out, as it changes nothing.",
        figures=(draw("fig2", "All pings of all runs; of the fast stations, both.", ping_cdf(samples)),),
        table=Table(
            name="fig2-numbers",
            headers=("scheme", "station", "median (ms)", "95th percentile (ms)"),
            rows=tuple(rows),
            records=tuple(records),
            note="Median: mean over runs and stations of each run's, with its 95 % interval. Percentile: of all pings.",
        ),
        claims=tuple(f"wst-{number:02}" for number in (1, 2, 3, 4, 5, 7, 8, 9, 19, 31)),
    )


def _fig3(evidence: Evidence) -> Iterator[Exhibit]:
    schemes = [scheme for scheme in SCHEMES if Cell(UDP, scheme) in evidence.cells]
    if schemes:
        shares = {scheme: {name: _airtime(evidence, scheme, name) for name in STATIONS} for scheme in schemes}
        yield Exhibit(
            name="fig3",
            title="Fig. 3: airtime of each station",
            section="3.2",
            says="Shares of the airtime with UDP to all stations, both directions of each counted.",
            figures=(draw("fig3", "Means over the runs; dashed: thirds.", airtime_shares(shares)),),
            claims=("wst-10", "wst-15", "wst-18"),
        )


def _airtime(evidence: Evidence, scheme: str, name: str) -> list[float]:
    return evidence.each(Cell(UDP, scheme), lambda seen: seen.stations[name].airtime_share)


def _model(evidence: Evidence) -> Iterator[Exhibit]:
    schemes = [scheme for scheme in SCHEMES if Cell(UDP, scheme) in evidence.cells]
    if not schemes:
        return
    rows: list[tuple[str, ...]] = []
    records = []
    for scheme in schemes:
        sums = [0.0, 0.0, 0.0]
        exact = 0.0
        for one, counted, theirs in zip(
            predicted(evidence, scheme, whole=True),
            predicted(evidence, scheme, whole=True, counted=True),
            predicted(evidence, scheme, anomaly.PAPER),
            strict=True,
        ):
            name = one.name

            def goodput(seen: Seen, name: str = name) -> float:
                return seen.goodput[f"udp_{name}"] * PACKET / PAYLOAD

            frames = fmean(evidence.each(Cell(UDP, scheme), partial(_frames, name)))
            measured = mean_interval(evidence.each(Cell(UDP, scheme), goodput))
            share = fmean(_airtime(evidence, scheme, name))
            paper = PAPER.get(scheme, {}).get(name)
            sums = [a + b for a, b in zip(sums, (one.rate_mbit, theirs.rate_mbit, measured.value), strict=True)]
            exact += counted.rate_mbit
            rows.append(
                (
                    NAMES[scheme],
                    name,
                    f"{frames * PACKET:.0f}",
                    f"{aggregates_of(evidence, scheme, name):.2f}",
                    f"{100 * one.share:.0f} / {100 * share:.0f}",
                    f"{one.base_mbit:.1f}",
                    f"{one.rate_mbit:.2f}",
                    f"{theirs.rate_mbit:.2f}",
                    _shown(measured, 2),
                    _percent(measured.value, one.rate_mbit),
                    _percent(measured.value, counted.rate_mbit),
                    *(("-",) * 4 if paper is None else tuple(f"{value:g}" for value in paper)),
                )
            )
            records.append(
                {
                    "scheme": scheme,
                    "station": name,
                    "aggregate_bytes": frames * PACKET,
                    "aggregates": aggregates_of(evidence, scheme, name),
                    "model_share": one.share,
                    "measured_share": share,
                    "model_base_mbit": one.base_mbit,
                    "model_mbit": one.rate_mbit,
                    "model_counted_mbit": counted.rate_mbit,
                    "model_paper_timing_mbit": theirs.rate_mbit,
                }
                | _record(measured, "measured_mbit")
            )
        told = PAPER.get(scheme)
        paper_sums = ("-", "-")
        if told is not None:
            paper_sums = (f"{sum(row[2] for row in told.values()):.1f}", f"{sum(row[3] for row in told.values()):.1f}")
        rows.append(
            (
                NAMES[scheme],
                "total",
                *("",) * 4,
                *(f"{value:.2f}" for value in sums),
                _percent(sums[2], sums[0]),
                _percent(sums[2], exact),
                *("", ""),
                *paper_sums,
            )
        )
    yield Exhibit(
        name="model",
        title="The analytical model beside the measurement",
        section="3.2",
        says='The model of "Ending the Anomaly" fed with the aggregate sizes that were measured with UDP, beside what '
        "was measured, and that paper's own Table 1.",
        table=Table(
            name="model",
            headers=(
                "scheme",
                "station",
                "aggregate (bytes)",
                "aggregates",
                "T(i), model / measured (%)",
                "R0 (Mbit/s)",
                "R(i) (Mbit/s)",
                "R(i) as in the paper",
                "measured (Mbit/s)",
                "measured to model",
                "to model with these aggregates",
                "paper: aggregate",
                "T(i) (%)",
                "R(i)",
                "measured",
            ),
            rows=tuple(rows),
            records=tuple(records),
            note="Rates of IP packets of 1500 bytes. With the airtime scheduler airtime is equal, else each station "
            "has the same number of aggregates. R0 and R(i) have this cell's timing (AIFS 43 us, preambles of 36 "
            "and 40 us, block acknowledgements at 24 and 6 Mbit/s) and count the overhead in T(i), so that a "
            "round of aggregates takes what it takes; the paper leaves it out there and has other constants. The "
            "model has no contention: pings are not in it. Aggregates: of a station for each one of the slow station. "
            "Under FIFO and FQ-CoDel a fast station that has no frame in the driver leaves the round, so that it has "
            "fewer; with the numbers that were counted the model is the one in the last column before the paper's.",
        ),
    )


def _fig4(evidence: Evidence) -> Iterator[Exhibit]:
    schemes = [scheme for scheme in SCHEMES if Cell(TCP, scheme) in evidence.cells]
    if not schemes:
        return
    rates = {scheme: {name: _goodput(evidence, scheme, name) for name in STATIONS} for scheme in schemes}
    rows, records = [], []
    for scheme in schemes:
        sums = [sum(run) for run in zip(*rates[scheme].values(), strict=True)]
        shown = [mean_interval(rates[scheme][name]) for name in STATIONS]
        frames = [fmean(evidence.each(Cell(TCP, scheme), partial(_frames, name))) for name in STATIONS]
        air = [
            fmean(evidence.each(Cell(TCP, scheme), lambda seen, name=name: seen.stations[name].airtime_share))  # type: ignore[misc]
            for name in STATIONS
        ]
        rows.append(
            (
                NAMES[scheme],
                *(_shown(one, 2) for one in shown),
                _shown(mean_interval(sums), 2),
                " / ".join(f"{one:.1f}" for one in frames),
                " / ".join(f"{100 * one:.0f}" for one in air),
            )
        )
        for name, one, length, share in zip(STATIONS, shown, frames, air, strict=True):
            records.append(
                {"scheme": scheme, "station": name, "aggregate_frames": length, "airtime_share": share}
                | _record(one, "goodput_mbit")
            )
    yield Exhibit(
        name="fig4",
        title="Fig. 4: throughput of TCP downloads",
        section="3.2",
        says="TCP goodput of each station and the mean of the three.",
        figures=(draw("fig4", "Mean and standard deviation over the runs.", throughput_bars(rates)),),
        table=Table(
            name="fig4-numbers",
            headers=(
                "scheme",
                *(f"{name} (Mbit/s)" for name in STATIONS),
                "total (Mbit/s)",
                "frames in an aggregate",
                "airtime (%)",
            ),
            rows=tuple(rows),
            records=tuple(records),
            note="Means over the runs and 95 % intervals; aggregates and airtime of fast1 / fast2 / slow.",
            left=1,
        ),
        claims=tuple(f"wst-{number:02}" for number in (11, 12, 13, 14, 17, 29)),
    )


def _goodput(evidence: Evidence, scheme: str, name: str) -> list[float]:
    return evidence.each(Cell(TCP, scheme), lambda seen: seen.goodput[f"tcp_{name}"])


def _cells_table(evidence: Evidence) -> Iterator[Exhibit]:
    rows, records = [], []
    for one in evidence.cells:
        runs = evidence.cells[one]
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
            shown = ("-" if value is None else f"{value:.2f}" for value in numbers.values())
            rows.append((one.experiment, one.scheme, name, str(len(runs)), *shown))
            records.append({"experiment": one.experiment, "scheme": one.scheme, "station": name} | numbers)
    if rows:
        yield Exhibit(
            name="cells",
            title="All cells",
            section="2 to 4",
            says="What each station had in each cell, means over the runs.",
            table=Table(
                name="cells",
                headers=(
                    *("experiment", "scheme", "station", "runs", "delivered (Mbit/s)", "airtime share"),
                    *("frames in an aggregate", "wait in queues (ms)", "wait below (ms)", "ping, median (ms)"),
                ),
                rows=tuple(rows),
                records=tuple(records),
                note="Downlink. Delivered: with Ethernet headers. Wait below: from the building of an aggregate to its "
                "delivery.",
                left=3,
            ),
        )


def _percent(measured: float, model: float) -> str:
    return f"{100 * (measured / model - 1):+.1f} %"


def _shown(found: Interval, digits: int = 1) -> str:
    return interval(found.value, found.low, found.high, digits)


def _record(found: Interval, name: str) -> dict[str, float | int | None]:
    return {name: found.value, "low": found.low, "high": found.high, "runs": found.n}


def _frames(name: str, seen: Seen) -> float:
    return seen.stations[name].aggregate_frames
