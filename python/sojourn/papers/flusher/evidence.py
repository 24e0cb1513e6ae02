"""What the claims about the queue flusher are judged by: of each run the few numbers that its figures are made of."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.record import PathRttRecord, SeriesRecord
from sojourn.schema import required
from sojourn.store.run import Run
from sojourn.study import evidence as kit
from sojourn.study.cell import Axes, Cell, Observation

RENO, CUBIC = TCPS = ("reno", "cubic")
BASES_MS = (10, 50, 100)
BUFFERS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)
THRESHOLDS = (1.5, 1.7, 2.0)
#: The thesis's recommendation (section 6.3.1).
RECOMMENDED = 1.7
FIFO, CODEL, PIE, FQ_CODEL = "fifo", "codel", "pie", "fq_codel"
#: How the flusher decides: the thesis's listings; its text; its text, but without samples of segments that were sent
#: again (Karn's rule, which the thesis does not have); ours.
WRITTEN, DESCRIBED, KARN, ADAPTIVE = "as_written", "as_described", "as_described, Karn", "adaptive"
READINGS = (DESCRIBED, KARN, WRITTEN)
#: What emulates the slow link. The thesis ran all scenarios on both (section 6.2), and does not say which its figures
#: show: netem below HTB, whose limit counts the packets that it delays; or ipfw, whose queue is before the delay.
NETEM, IPFW = EMULATORS = ("netem", "ipfw")
#: Scenes: one flow; four; one that the flusher sees and one that it does not.
ONE, FOUR, FOREIGN, PAIR = "one flow", "four flows", "a foreign flow", "two RTTs"

#: The variant with windows of time, of the length that section 6.3 names.
TIMED = "windows of 100 ms"

#: A packet of 1514 bytes at 5 Mbit/s, ms, and the link's rate as TCP payload, Mbit/s.
SLOT_MS = 1514 * 8 / 5000
CAPACITY_MBIT = 5 * 1448 / 1514
#: The floor of the trigger, ms.
FLOOR_MS = 50.0

#: Ranks at which distributions are kept: every half per cent.
RANKS = np.linspace(0.0, 1.0, 201)


def _words(cell: Cell) -> str:
    queue = f"{cell.buffer} packets" if cell.queue == FIFO else cell.queue
    flusher = f"{cell.reading} {cell.threshold:g}" if cell.active else "passive"
    more = "".join(f", {word}" for word in (cell.variant, "" if cell.scene == ONE else cell.scene) if word)
    return f"{cell.tcp} {cell.base} ms, {queue}, {flusher}{more}"


#: Congestion control, base RTT (ms), packets of the bottleneck's queue (an AQM has 1000), and its discipline; how the
#: flusher decides, whether it sends, and its threshold (0 where it does not matter); what else differs, `""` or a key
#: of `sojourn.papers.flusher.plan.VARIANTS`; and the flows.
AXES = Axes(
    "tcp",
    "base",
    buffer=100,
    queue=FIFO,
    reading=DESCRIBED,
    active=False,
    threshold=0.0,
    variant="",
    scene=ONE,
    words=_words,
)


def passive(tcp: str, base: int, buffer: int = 100, *, queue: str = FIFO) -> Cell:
    """Return a cell in which the flusher only looks."""
    return AXES(tcp, base, buffer, queue)


def active(tcp: str, base: int, buffer: int = 100, threshold: float = RECOMMENDED, *, reading: str = DESCRIBED) -> Cell:
    """Return a cell with a flusher before a FIFO."""
    return AXES(tcp, base, buffer, FIFO, reading, True, threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A run over time, at the end of each bin: time (s) and what is drawn over it; `nan` where there is nothing."""

    t: NDArray[np.float64]
    path_rtt: NDArray[np.float64]
    path_rtt_max: NDArray[np.float64]
    flusher_rtt: NDArray[np.float64]
    flusher_mbit: NDArray[np.float64]
    sender_rtt: NDArray[np.float64]
    goodput: NDArray[np.float64]
    cwnd: NDArray[np.float64]
    backlog: NDArray[np.float64]
    drops: NDArray[np.float64]


Quantity = Callable[[Observation], "float | None"]


def at_rank(run: Observation, rank: float) -> float:
    """Return the round-trip time at a rank between 0 and 1, ms."""
    return float(np.interp(rank, RANKS, run.rtt))


def observe(run: Run, cell: Cell) -> Observation:
    """Return what is kept of a run; the first flow is the measured one.

    The values of the observation:

    rtt
        The flow's round-trip time by synthetic packet pairs at each of `RANKS`, ms.
    mean, std, least, most
        Of the same.
    mbit
        Goodput of all flows together.
    flow_mbit
        Of each.
    per_second
        Goodput of the first flow in each second, sorted.
    cwnd
        Largest congestion window after the first 20 s, packets.
    halvings
        Reductions of the window after the first 20 s.
    flushes, forced
        Times (s) of flushes by threshold, and by the clock; those refused as well.
    packets
        Of all bursts.
    at_flush
        The queue when a flush by threshold began, packets; of flushes for which the flusher's RTT rose above the
        trigger since the last one. One that comes while the queue of the last one still drains does not tell how far a
        queue grows.
    reaction_ms
        From when the flusher's RTT was above the trigger to the flush, of the same.
    near_flush
        Of the tenths of a second with the longest round trips (within 5 %), the share that is within a second and a
        half after a flush; `None` without a flush.
    peaks
        Times the round trip rose above 95 % of the longest.
    flusher_rtt, sender_rtt
        The smoothed RTTs that the flusher and the sender had at the end of each bin, at each of `RANKS`.
    spikes
        Samples of the flusher's throughput above the link's rate, a minute.
    flusher_most
        The largest RTT that the flusher took for true, ms.
    drop_rise
        Mean round trip in bins with a drop, over that in those without; `None` without a drop.
    after
        Goodput and mean RTT from 1 s before a flush to 3 s after it, over all flushes, by tenth of a second.
    together
        How far flows lose at the same time: whether a flow reduces its window in a half second, correlated with whether
        another one does, mean over the pairs of flows. Independent losses give 0, however many there are. `None` with
        fewer than three flows, or for a flow that never reduces its window.
    course
        The run over time.
    """
    record = run.record
    head, series = required(record.flusher, "flusher"), record.series
    flow = record.flows[0]
    name = flow.name
    pairs = required(head.flows[0].rtt, "rtt")
    course = _course(series, name)
    events = head.events
    threshold = tuple(event.t_s for event in events if event.reason == "threshold")
    forced = tuple(event.t_s for event in events if event.reason == "forced")
    values, counts = _histogram(pairs)
    bins = round(1.0 / series.interval_s)
    whole = course.goodput.size // bins * bins
    what = "round trip by packet pairs"
    least, mean, most = (kit.needed(value, what) for value in (pairs.min_ms, pairs.mean_ms, pairs.max_ms))
    trigger = max(cell.threshold * least, FLOOR_MS)
    sent = [event.t_s for event in events if not event.refused]
    crossed = _crossed(course, [event.t_s for event in events], threshold, trigger)
    return Observation(
        seed=run.seed,
        rtt=_quantiles(values, counts, pairs.bin_ms, least, most),
        mean=mean,
        std=float(np.sqrt(np.average((values - mean) ** 2, weights=counts))),
        least=least,
        most=most,
        mbit=sum(one.goodput_mbit for one in record.flows),
        flow_mbit=tuple(one.goodput_mbit for one in record.flows),
        per_second=np.sort(course.goodput[:whole].reshape(-1, bins).mean(axis=1)),
        cwnd=float(np.max(course.cwnd[20 * bins :], initial=0.0)),
        halvings=_reductions(course.cwnd[20 * bins :], bins),
        flushes=threshold,
        forced=forced,
        packets=head.packets,
        at_flush=tuple(max(_before(course, at) - least, 0.0) / SLOT_MS for at, _ in crossed),
        reaction_ms=tuple(1e3 * (at - since) for at, since in crossed),
        near_flush=_near(course, sent, most),
        peaks=_rises(course.path_rtt_max, 0.95 * most),
        flusher_rtt=_ranked(course.flusher_rtt),
        sender_rtt=_required(_ranked(course.sender_rtt)),
        spikes=60.0 * _rises(course.flusher_mbit, 5.0) / float(course.t[-1]),
        flusher_most=float(np.nanmax(course.flusher_rtt, initial=0.0)),
        drop_rise=_drop_rise(course),
        after=_after(course, sent),
        together=_together(series),
        course=course,
    )


def _course(series: SeriesRecord, name: str) -> Course:
    own = required(series.flusher, "series.flusher")[name]

    def column(values: Sequence[float | None]) -> NDArray[np.float64]:
        return np.array([np.nan if value is None else value for value in values], dtype=float)

    t = column(series.t_s)
    nothing = np.full(t.size, np.nan)
    return Course(
        t=t,
        path_rtt=column(required(own.path_rtt_ms, "path_rtt_ms")),
        path_rtt_max=column(required(own.path_rtt_max_ms, "path_rtt_max_ms")),
        flusher_rtt=column(own.rtt_ms) if own.rtt_ms is not None else nothing,
        flusher_mbit=column(own.throughput_mbit) if own.throughput_mbit is not None else nothing,
        sender_rtt=column(required(own.sender_rtt_ms, "sender_rtt_ms")),
        goodput=column(series.goodput_mbit[name]),
        cwnd=column(series.cwnd_segments[name]),
        backlog=column(series.backlog_packets["up"]),
        drops=column(series.drops["up"]),
    )


def _histogram(pairs: PathRttRecord) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    counts = np.array(pairs.bins or [0], dtype=float)
    values = (pairs.first_bin + 0.5 + np.arange(counts.size, dtype=np.float64)) * pairs.bin_ms
    return values, counts


def _quantiles(
    values: NDArray[np.float64], counts: NDArray[np.float64], width: float, least: float, most: float
) -> NDArray[np.float64]:
    upper = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
    edges = np.concatenate([values - width / 2, [values[-1] + width / 2]])
    found: NDArray[np.float64] = np.clip(np.interp(RANKS, upper, edges), least, most)
    return found


def _reductions(cwnd: NDArray[np.float64], bins: int) -> int:
    """Return how often the window fell by more than an eighth, falls within half a second counted once."""
    last, found = -bins, 0
    for i in np.flatnonzero(cwnd[1:] < 0.875 * cwnd[:-1]):
        if i - last > bins / 2:
            found += 1
        last = int(i)
    return found


def _before(course: Course, at: float) -> float:
    """Return the mean round trip in the bin in which `at` is, ms."""
    i = min(int(np.searchsorted(course.t, at)), course.t.size - 1)
    found = course.path_rtt[max(i - 1, 0) : i + 1]
    return float(np.nanmax(found, initial=0.0))


def _crossed(
    course: Course, flushes: Sequence[float], threshold: Sequence[float], trigger: float
) -> list[tuple[float, float]]:
    """Return the flushes by threshold before which the flusher's RTT was not above the trigger, with when it last was.

    Since the flush before it, of whatever cause, that is.
    """
    found = []
    ordered = sorted(flushes)
    for at in threshold:
        before = bisect_left(ordered, at)
        last = ordered[before - 1] if before else 0.0
        below = np.flatnonzero((course.t > last) & (course.t < at) & ~(course.flusher_rtt > trigger))
        if below.size:
            found.append((at, float(course.t[below[-1]])))
    return found


def _near(course: Course, sent: Sequence[float], most: float) -> float | None:
    if not sent:
        return None
    times = course.t[course.path_rtt_max >= 0.95 * most]
    flushes = np.asarray(sent)
    near = [bool(np.any((flushes <= t) & (t <= flushes + 1.5))) for t in times if t > 20.0]
    return float(np.mean(near)) if near else None


def _rises(values: NDArray[np.float64], bound: float) -> int:
    above = values > bound
    return int(np.count_nonzero(above[1:] & ~above[:-1]))


def _ranked(values: NDArray[np.float64]) -> NDArray[np.float64] | None:
    there = values[~np.isnan(values)]
    return np.quantile(there, RANKS) if there.size else None


def _required(values: NDArray[np.float64] | None) -> NDArray[np.float64]:
    return np.zeros(RANKS.size) if values is None else values


def _drop_rise(course: Course) -> float | None:
    """Return the mean round trip in the bins after a drop over that of the others, from 20 s on."""
    dropped = np.diff(course.drops, prepend=0.0) > 0
    there = (course.t > 20.0) & ~np.isnan(course.path_rtt)
    with_drop, without = course.path_rtt[there & dropped], course.path_rtt[there & ~dropped]
    return float(with_drop.mean() / without.mean()) if with_drop.size and without.size else None


def _after(course: Course, sent: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return goodput and round trip around flushes that have none within 3 s before; `None` without such."""
    width = float(course.t[1] - course.t[0])
    before, length = round(1.0 / width), round(4.0 / width)
    rates, rtts, last = [], [], -10.0
    for at in sent:
        first = int(np.searchsorted(course.t, at)) - before
        if at - last > 3.0 and first >= 0 and first + length <= course.t.size:
            rates.append(course.goodput[first : first + length])
            rtts.append(course.path_rtt[first : first + length])
        last = at
    if not rates:
        return None
    rtt = np.array(rtts)
    counted = np.maximum((~np.isnan(rtt)).sum(axis=0), 1)
    return np.mean(rates, axis=0), np.nansum(rtt, axis=0) / counted


def _together(series: SeriesRecord) -> float | None:
    windows = [np.array(values, dtype=float) for values in series.cwnd_segments.values()]
    if len(windows) < 3:
        return None
    width = round(0.5 / series.interval_s)
    falls = np.array([window[1:] < 0.875 * window[:-1] for window in windows])[:, 20 * 2 * width :]
    halves = falls.shape[1] // width
    reduced = falls[:, : halves * width].reshape(len(windows), halves, width).any(axis=2).astype(float)
    if halves == 0 or (reduced.std(axis=1) == 0).any():
        return None
    return float(np.corrcoef(reduced)[np.triu_indices(len(windows), 1)].mean())


#: What was run, on one emulator.
Evidence = kit.Evidence


def mean(run: Observation) -> float:
    """Return the mean round-trip time, ms."""
    return run.mean


def median(run: Observation) -> float:
    """Return the median round-trip time, ms."""
    return at_rank(run, 0.5)


def mbit(run: Observation) -> float:
    """Return the goodput of all flows, Mbit/s."""
    return run.mbit
