"""What the claims of seed 000 are said of: numbers of a run, of several runs of a seed, and of mean curves.

Fetch times of a run are the mean over its fetches, as in Figs. 4 and 5; the delay of voice is induced one-way delay,
the mean of each 200 ms less the delay without a queue.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

import numpy as np

from sojourn.errors import SojournError
from sojourn.papers.good_bad_wifi.curves import START_BINS, StartUp
from sojourn.papers.good_bad_wifi.evidence import (
    AQMS,
    AXES,
    DISCIPLINES,
    FAIR,
    FIFO,
    LINKS,
    PURE_SCHEDULERS,
    VOIP,
    VOIP_RRUL,
    Evidence,
    goodput,
    induced_latency,
)
from sojourn.papers.good_bad_wifi.observation import (
    BIN_S,
    START_S,
    STEADY_FROM_S,
    FlowObservation,
    PageObservation,
    VoiceObservation,
    known,
)
from sojourn.stats import jain
from sojourn.stats.fetches import mean_fetch_s
from sojourn.study.cell import Cell, Observation
from sojourn.study.evidence import BySeed
from sojourn.study.redraw import Drawn
from sojourn.study.rules import Statistic, Vocabulary

#: The flow whose losses are looked at, and those whose effective round-trip times are compared (ms).
SHORTEST, LONGEST = 10.0, 500.0


def steady(value: float | None, run: Observation) -> float:
    """Return a quantity of the steady state; raises `SojournError` if the run is not long enough."""
    return known(value, run, f"steady state: duration is too short for it, as it begins after {STEADY_FROM_S:g} s")


def wait(run: Observation) -> float:
    """Return the mean sojourn time of both directions (ms)."""
    return fmean(known(end.wait_ms, run, "sojourn time") for end in (run.up, run.down))


def drop_percent(run: Observation) -> float:
    """Return the share of packets dropped in the steady state (per cent)."""
    dropped = sum(steady(end.drops, run) for end in (run.up, run.down))
    return 100 * dropped / sum(steady(end.packets, run) for end in (run.up, run.down))


def entries(run: Observation) -> float:
    """Return how often CoDel entered its dropping state in a minute."""
    found = fmean(known(end.entries, run, "count of CoDel's dropping states") for end in (run.up, run.down))
    return found / (run.duration_s / 60)


def voice(run: Observation) -> VoiceObservation:
    """Return the voice flow of a run."""
    found = known(run.voice, run, "voice flow")
    if not found.delay_ms.size:
        message = f"the run with seed {run.seed} has no delay of voice: no packet arrived"
        raise SojournError(message)
    return found


def median_delay(run: Observation) -> float:
    """Return the median induced one-way delay (ms)."""
    return float(np.median(voice(run).delay_ms))


def voice_loss(run: Observation) -> float:
    """Return the share of voice packets lost (per cent)."""
    return known(run.voice, run, "voice flow").loss_percent


def voice_lost(run: Observation) -> int:
    """Return how many voice packets were lost."""
    return known(run.voice, run, "voice flow").lost


def tail(run: Observation) -> float:
    """Return the 99th percentile of the delay of voice over its median."""
    return float(np.percentile(voice(run).delay_ms, 99)) / max(median_delay(run), 1e-9)


def early_tail(run: Observation) -> float:
    """Return the share of the delays beyond the 99th percentile that are of the start-up."""
    stream = voice(run)
    if run.duration_s <= 2 * START_S:
        message = f"duration is too short to tell a tail of the start-up: {run.duration_s:g} s"
        raise SojournError(message)
    beyond = stream.delay_ms >= np.percentile(stream.delay_ms, 99)
    return float((stream.t_s[beyond] <= START_S).mean())


def own_queue(run: Observation) -> float:
    """Return the share of 200 ms in which a voice packet waits longer than the time between two (per cent)."""
    stream = voice(run)
    return 100 * float((stream.most_ms > stream.frame_ms).mean())


def pages(run: Observation) -> PageObservation:
    """Return the fetches of a run."""
    found = known(run.pages, run, "page fetches")
    if not found.time_s.size:
        message = f"the run with seed {run.seed} has no completed fetch"
        raise SojournError(message)
    return found


def fetch_time(run: Observation) -> float:
    """Return the mean fetch time (s)."""
    return float(pages(run).time_s.mean())


def whole_fetch(run: Observation) -> float:
    """Return the mean fetch time (s), with the fetch that the end of the run cut off (`sojourn.stats.fetches`)."""
    found = known(run.pages, run, "web client")
    return mean_fetch_s([float(time) for time in found.time_s], found.unfinished_s)


def syn_dropped(run: Observation) -> float:
    """Return the share of SYN packets dropped upstream (per cent)."""
    offered = known(run.up.syn_offered, run, "count of SYN packets at the bottleneck")
    if not offered:
        message = f"the run with seed {run.seed} sent no SYN packet up"
        raise SojournError(message)
    return 100 * known(run.up.syn_dropped, run, "count of dropped SYN packets") / offered


def flow_of(run: Observation, rtt_ms: float) -> FlowObservation:
    """Return the flow with this base round-trip time."""
    return known(next((flow for flow in run.flows if flow.rtt_ms == rtt_ms), None), run, f"flow of {rtt_ms:g} ms")


def fairness(run: Observation) -> float:
    """Return Jain's index over the flows' goodput."""
    return jain(flow.goodput for flow in run.flows)


def unevenness(run: Observation) -> float | None:
    """Return the variation of the times between drops of the longest flow: 1 if independent, 0 if evenly spaced.

    `None` with too few drops.
    """
    flow = flow_of(run, LONGEST)
    known(flow.gaps, run, "times between the drops of a flow")
    return flow.gaps_cv


def rtt_ratio(run: Observation) -> float:
    """Return the longest over the shortest effective round-trip time: the base and the mean sojourn time."""
    long, short = (
        flow.rtt_ms + known(flow.wait_ms, run, "sojourn time of a flow")
        for flow in (flow_of(run, LONGEST), flow_of(run, SHORTEST))
    )
    return long / short


def window_growth(run: Observation) -> float:
    """Return the mean window of the shortest flow in its first 30 s, less that after (segments)."""
    flow = flow_of(run, SHORTEST)
    short = "window after its early time: duration is too short for it"
    return known(flow.early_window, run, short) - known(flow.late_window, run, short)


def timeouts(run: Observation, rtt_ms: str) -> float:
    """Return the retransmission timeouts of a flow in a minute."""
    return known(flow_of(run, float(rtt_ms)).timeouts, run, "count of timeouts by flow") / (run.duration_s / 60)


def start_excess(run: Observation) -> float:
    """Return the mean round trip of the start-up above the steady level (ms)."""
    level = known(run.settled_ms, run, "latency after the start-up: duration is too short for it")
    return float(np.nanmean(run.curve_ms[:START_BINS])) - level


def spike(run: Observation) -> float:
    """Return the highest mean of 200 ms after the start-up, less the median (ms)."""
    late = run.curve_ms[round(START_S / BIN_S) :]
    late = late[~np.isnan(late)]
    if not late.size:
        message = f"the run with seed {run.seed} has no echo after the start-up: it is too short"
        raise SojournError(message)
    return float(late.max() - np.median(late))


def peak_ratio(run: Observation) -> float:
    """Return the highest mean of 1 s of the start-up over the steady latency, both as induced latency."""
    idle = known(run.before_ms, run, "round-trip time before the flows")
    level = known(run.settled_ms, run, "steady latency: it is too short")
    seconds = np.nanmean(run.curve_ms[: round(START_S / BIN_S)].reshape(-1, round(1 / BIN_S)), axis=1)
    return (float(np.nanmax(seconds)) - idle) / max(level - idle, 1e-6)


def up_over_down(run: Observation) -> float:
    """Return the goodput up over that down."""
    if run.goodput_down == 0:
        message = f"the run with seed {run.seed} has no goodput down"
        raise SojournError(message)
    return run.goodput_up / run.goodput_down


QUANTITIES: dict[str, Callable[..., float | None]] = {
    "latency": induced_latency,
    "goodput": goodput,
    "ack_drops": lambda run: run.up.ack_drops,
    "wait": wait,
    "queue_std": lambda run: fmean(steady(end.queue_std, run) for end in (run.up, run.down)),
    "burstiness": lambda run: fmean(steady(end.burstiness, run) for end in (run.up, run.down)),
    "drop_percent": drop_percent,
    "entries": entries,
    "window": lambda run: fmean(known(flow.window, run, "window of a flow") for flow in run.flows),
    "flow_wait": lambda run: fmean(known(flow.wait_ms, run, "sojourn time of a flow") for flow in run.flows),
    "delay": median_delay,
    "voice_loss": voice_loss,
    "voice_lost": voice_lost,
    "tail": tail,
    "early_tail": early_tail,
    "own_queue": own_queue,
    "fetch": fetch_time,
    "whole_fetch": whole_fetch,
    "syn_dropped": syn_dropped,
    "jain": fairness,
    "flow_goodput": lambda run, rtt_ms: flow_of(run, float(rtt_ms)).goodput,
    "unevenness": unevenness,
    "rtt_ratio": rtt_ratio,
    "window_growth": window_growth,
    "timeouts": timeouts,
    "start_excess": start_excess,
    "spike": spike,
    "peak_ratio": peak_ratio,
    "up_over_down": up_over_down,
}


def lack(evidence: Evidence, cell: Cell, side: str) -> BySeed:
    """Return the goodput that the cell lacks against the best discipline, per cent of the best's."""
    each = {
        qdisc: evidence.by_seed(cell.replaced(qdisc=qdisc), lambda run: goodput(run, side)) for qdisc in DISCIPLINES
    }
    best = max(each.values(), key=lambda values: fmean(values.values()))
    return {seed: 100 * (1 - value / best[seed]) for seed, value in each[cell.qdisc].items() if seed in best}


def gain_over_sfq(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the latency of sfq less that of the cell (ms), of the seeds without a hash collision in either.

    Of all seeds if there is no such.
    """
    pairs = paired_with_sfq(evidence, cell)
    clean = [(mine, sfq) for mine, sfq in pairs if not mine.collisions and not sfq.collisions]
    return {mine.seed: induced_latency(sfq) - induced_latency(mine) for mine, sfq in clean or pairs}


def paired_with_sfq(evidence: Evidence, cell: Cell) -> list[tuple[Observation, Observation]]:
    """Return the runs of a cell with those of sfq, of each seed that both have."""
    others = {run.seed: run for run in evidence.of(cell.replaced(qdisc="sfq"))}
    return [(run, others[run.seed]) for run in evidence.of(cell) if run.seed in others]


def over_mean(evidence: Evidence, cell: Cell, quantity: str) -> BySeed:
    """Return a quantity over its mean of all disciplines."""
    of = QUANTITIES[quantity]
    mean = fmean(fmean(evidence.each(cell.replaced(qdisc=qdisc), of)) for qdisc in DISCIPLINES)
    return {seed: value / mean for seed, value in evidence.by_seed(cell, of).items()}


def fetch_over_fair(evidence: Evidence, cell: Cell) -> BySeed:
    """Return the fetch time over the mean of the fair queueing disciplines."""
    fair = [evidence.by_seed(cell.replaced(qdisc=qdisc), whole_fetch) for qdisc in FAIR]
    mine = evidence.by_seed(cell, whole_fetch)
    return {
        seed: value / fmean(each[seed] for each in fair)
        for seed, value in mine.items()
        if all(seed in each for each in fair)
    }


def of_start(statistic: Callable[..., float]) -> Callable[..., Statistic]:
    """Return what makes a statistic of the start-up of one cell, which arguments may follow, of an evidence."""

    def of(evidence: Evidence, cell: Cell, *arguments: str) -> Statistic:
        start = StartUp(evidence.of(cell))
        return (lambda drawn: statistic(start, drawn, *map(float, arguments))), start.n

    return of


def above_fifo_at_peak(evidence: Evidence, cell: Cell) -> Statistic:
    """Return how far the curve is above FIFO's where it peaks (ms)."""
    mine, fifo = StartUp(evidence.of(cell)), StartUp(evidence.of(cell.replaced(qdisc=FIFO)))

    def gap(drawn: Drawn) -> float:
        place = mine.peak_place(drawn)
        return float(mine.curve(drawn)[place] - fifo.curve(drawn)[place])

    return gap, min(mine.n, fifo.n)


VOCABULARY = Vocabulary(
    axes=AXES,
    names={
        "LINKS": LINKS,
        "DISCIPLINES": DISCIPLINES,
        "OTHERS": (*AQMS, *FAIR),
        "AQMS": AQMS,
        "FAIR": FAIR,
        "NOT_FAIR": (FIFO, *AQMS),
        "PURE_SCHEDULERS": PURE_SCHEDULERS,
        "NOT_PURE": tuple(qdisc for qdisc in DISCIPLINES if qdisc not in PURE_SCHEDULERS),
        "VOICE": (VOIP, VOIP_RRUL),
    },
    quantities=QUANTITIES,
    series={
        "lack": lack,
        "gain_over_sfq": gain_over_sfq,
        "over_mean": over_mean,
        "fetch_over_fair": fetch_over_fair,
    },
    curves={
        "peak": of_start(StartUp.peak),
        "induced_peak": of_start(StartUp.induced_peak),
        "induced_second": of_start(StartUp.induced_second),
        "rise": of_start(lambda start, drawn: start.peak(drawn) - start.steady(drawn)),
        "induced_peak_over_steady": of_start(
            lambda start, drawn: start.induced_peak(drawn) / start.induced_steady(drawn)
        ),
        "settling": of_start(lambda start, drawn, share=1.0: share * start.settling(drawn)),
        "above_fifo_at_peak": above_fifo_at_peak,
    },
)
