"""The figures of a validation: what of the runs goes into which panel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from sojourn.plots.overlay import Axis, Panel, overlay_grid, scatter_pairs
from sojourn.schema import required
from sojourn.stats import course
from sojourn.stats import transient as transients
from sojourn.store.run import Run
from sojourn.validate.execute import Both
from sojourn.validate.judge import Row
from sojourn.validate.metrics import end_s, samples

Array = npt.NDArray[np.float64]
Line = tuple[Array, Array]

#: Panels of drawn cells in a row.
_IN_A_ROW = 4
#: The time before the flows that the figure of the beginning shows.
_LEAD_S = -2.0


def grid_figures(ran: Sequence[Both], experiment: str) -> dict[str, Figure]:
    """Return the overlays of a grid by name, as far as its runs have what they show."""
    found = {}
    for name, title, axis, panel in _FIGURES:
        panels = [panel(both) for both in ran]
        if any(len(x) for one in panels for x, _ in one.lines.values()):
            found[name] = overlay_grid(panels, axis, title=f"{experiment}: {title}")
    return found


def cells_figure(ran: Sequence[Both], name: str, *, drawn: bool) -> Figure:
    """Return the overlay of the pings of cells; drawn ones stand in order, four in a row."""
    panels: list[Panel] = []
    for place, both in enumerate(ran):
        panel = _panel(both, _rtts, both.cell.link if drawn else "")
        if drawn:
            row, column = divmod(place, _IN_A_ROW)
            panel = replace(panel, row=f"from {both.cell.name}" if column == 0 else panels[-1].row, column=f"+{column}")
        panels.append(panel)
    axis = Axis(x="round-trip time (ms)", y=_SHARE, steps=True, wide_x=True, y_end=1.02, note_low=drawn)
    return overlay_grid(panels, axis, title=f"{name}: round-trip times of all pings and runs")


def scatter_figure(rows: Sequence[Row], title: str, share: float | Mapping[str, float] = 0.1) -> Figure:
    """Return the figure of many scenarios: the judged metrics, the simulator's means over the kernel's.

    `share` is as `sojourn.plots.overlay.scatter_pairs` takes it.
    """
    groups: dict[str, list[tuple[float, float]]] = {}
    units: dict[str, str] = {}
    for row in rows:
        if row.metric.bar is not None and row.sim is not None and row.kernel is not None:
            pair = (row.kernel.interval.value, row.sim.interval.value)
            groups.setdefault(row.metric.title, []).append(pair)
            units[row.metric.title] = row.metric.unit
    return scatter_pairs(groups, units, share=share, title=title)


def _panel(both: Both, line: Callable[[Sequence[Run]], Line], note: str = "") -> Panel:
    lines: dict[str, Line] = {both.pair[1]: line(both.kernel), both.pair[0]: line(both.sim)}
    return Panel(row=both.cell.link, column=both.cell.qdisc, lines=lines, note=note)


def _distribution(values: Sequence[float]) -> Line:
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    # So many points as a panel can show.
    places = np.unique(np.linspace(0, max(len(ordered) - 1, 0), min(len(ordered), 400)).astype(int))
    return ordered[places] if len(ordered) else ordered, (places + 1) / max(len(ordered), 1)


def _rtts(runs: Sequence[Run]) -> Line:
    found = []
    for run in runs:
        for times, values in samples(run.record).values():
            found += [value for time, value in zip(times, values, strict=True) if time >= 0 and value is not None]
    return _distribution(found)


def _voice(runs: Sequence[Run]) -> Line:
    return _distribution(
        [
            delay
            for run in runs
            for voice in run.record.series.voip.values()
            for delay in voice.delay_ms
            if delay is not None
        ]
    )


def _pages(runs: Sequence[Run]) -> Line:
    clients = [client for run in runs for client in run.record.web]
    return _distribution([fetch.time_s for client in clients for fetch in client.fetches])


def _window(both: Both) -> Panel:
    """Return the window of the first flow over time, of the first seed."""
    flows = both.kernel[0].record.flows
    if not flows:
        return Panel(row=both.cell.link, column=both.cell.qdisc)
    name = flows[0].name

    def line(runs: Sequence[Run]) -> Line:
        series = runs[0].record.series
        times, values = series.t_s, series.cwnd_segments.get(name, [])
        there = [(time, value) for time, value in zip(times, values, strict=False) if value is not None]
        return np.array([time for time, _ in there]), np.array([float(value) for _, value in there])

    return _panel(both, line)


def _spacing(both: Both) -> Panel:
    """Return the drops since the flows began, the mean of the runs, and the mean gap between two of a flow."""
    flows = both.kernel[0].record.flows
    way = "up" if not flows or any(flow.direction == "up" for flow in flows) else "down"
    gaps = [_mean_gap(runs, way) for runs in (both.kernel, both.sim)]
    words = [f"{gap:.0f}" if gap is not None else "-" for gap in gaps]
    return _panel(both, lambda runs: _cumulative(runs, way), f"{way}: gap {words[0]} / {words[1]} ms")


def _cumulative(runs: Sequence[Run], way: str) -> Line:
    series = [run.record.series for run in runs]
    length = min(len(one.drops.get(way, [])) for one in series)
    if not any(any(one.drops.get(way, [])) for one in series):
        return np.zeros(0), np.zeros(0)
    total = np.mean([one.drops[way][:length] for one in series], axis=0)
    return np.asarray(series[0].t_s[:length], dtype=np.float64), np.asarray(total, dtype=np.float64)


def _mean_gap(runs: Sequence[Run], way: str) -> float | None:
    flows = [flow for run in runs for flow in run.record.flows if flow.direction == way]
    by_flow = [required(flow.drop_gaps_ms, "drop_gaps_ms") for flow in flows]
    gaps = [(gap.count, gap.mean) for gap in by_flow]
    total = sum(count for count, mean in gaps if mean is not None)
    return sum(count * mean for count, mean in gaps if mean is not None) / total if total else None


def _beginning(runs: Sequence[Run]) -> Line:
    """Return the mean latency over time, of all probes and runs."""
    records = [run.record for run in runs]
    latencies = [samples(record) for record in records]
    end = min(min(end_s(record) for record in records), transients.WINDOW_S)
    if not any(latencies) or end <= 0:
        return np.zeros(0), np.zeros(0)
    found = course(latencies, start_s=_LEAD_S, end_s=end)
    mean = found.mean_ms
    there = np.isfinite(mean)
    return found.t_s[there], mean[there]


_SHARE = "share not above"


def _shares(x: str) -> Axis:
    return Axis(x=x, y=_SHARE, steps=True, wide_x=True, y_end=1.02)


_FIGURES: tuple[tuple[str, str, Axis, Callable[[Both], Panel]], ...] = (
    (
        "rtt_cdf",
        "round-trip times of all probes and runs",
        _shares("round-trip time (ms)"),
        lambda both: _panel(both, _rtts),
    ),
    (
        "voice_cdf",
        "one-way delay of voice, means of 200 ms",
        _shares("delay (ms)"),
        lambda both: _panel(both, _voice),
    ),
    ("page_cdf", "page fetch times", _shares("page fetch time (s)"), lambda both: _panel(both, _pages)),
    (
        "cwnd",
        "congestion window of the first flow, first seed",
        Axis(x="time since the flows started (s)", y="window (segments)"),
        _window,
    ),
    (
        "drops",
        "drops since the flows started, mean of the runs; mean gap between two of a flow, kernel / simulator",
        Axis(x="time since the flows started (s)", y="drops (packets)", note_low=True),
        _spacing,
    ),
    (
        "settle",
        "latency while the flows start, mean of the runs",
        Axis(x="time since the flows started (s)", y="round-trip time (ms)", wide_y=True, from_zero=False),
        lambda both: _panel(both, _beginning),
    ),
)
