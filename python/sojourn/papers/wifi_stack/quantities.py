"""What the claims about the Wi-Fi stack are said of: numbers of a run."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from sojourn.errors import SojournError
from sojourn.papers.wifi_stack.evidence import (
    AXES,
    CLASSES,
    SCHEMES,
    STATIONS,
    STREAMS,
    VoiceObservation,
    mean_of,
    median_ping,
)
from sojourn.study.cell import Observation
from sojourn.study.evidence import needed
from sojourn.study.rules import Vocabulary

#: The reasons under which a record counts packets dropped for want of room.
NO_ROOM = ("queue_limit", "memory_limit")


def latency(run: Observation, of: str) -> float:
    """Return the latency of a class of stations, or of all (ms)."""
    return median_ping(run, tuple(run.stations) if of == "all" else CLASSES[of])


def goodput(run: Observation, prefix: str, of: str) -> float:
    """Return the goodput of a station of a class (Mbit/s); `prefix` is that of its flows."""
    return fmean(run.goodput[f"{prefix}_{name}"] for name in CLASSES[of])


def total(run: Observation) -> float:
    """Return the goodput of all stations (Mbit/s)."""
    return sum(run.goodput.values())


def waits_above(run: Observation, name: str) -> float:
    """Return a station's mean time in the flow queues less that from the building of an aggregate on (ms)."""
    one = run.stations[name]
    return (one.queue_ms or 0.0) - (one.hardware_ms or 0.0)


def no_room(run: Observation, name: str) -> float:
    """Return how many packets to a station were dropped for want of room."""
    return float(sum(run.stations[name].drops.get(reason, 0) for reason in NO_ROOM))


def voice(run: Observation, name: str) -> VoiceObservation:
    """Return a voice stream; raises `SojournError` if there is none of this name."""
    if name not in run.voices:
        message = f"the run with seed {run.seed} has no voice stream {name}"
        raise SojournError(message)
    return run.voices[name]


def score(run: Observation) -> float:
    """Return the mean opinion score of the voice stream."""
    found = voice(run, "voip").mos
    if found is None:
        message = f"the run with seed {run.seed} has no score of its voice stream"
        raise SojournError(message)
    return found


def held_by_hardware(run: Observation) -> float:
    """Return how many aggregates there are between building and delivery, by Little's law."""
    one = run.stations["fast1"]
    return one.aggregates / run.duration_s * (one.hardware_ms or 0.0) / 1000


def packets(run: Observation, tid: str) -> float:
    """Return how many packets of a traffic identifier were sent to the first station."""
    return float(run.stations["fast1"].tids.get(int(tid), 0))


QUANTITIES: dict[str, Callable[..., float]] = {
    "latency": latency,
    "goodput": goodput,
    "total": total,
    "share": lambda run, name: run.stations[name].airtime_share,
    "aggregate": lambda run, of: mean_of(run, CLASSES[of], lambda one: one.aggregate_frames),
    "frames": lambda run: run.stations["fast1"].aggregate_frames,
    "waits_above": waits_above,
    "no_room": no_room,
    "loss": lambda run, name: 100 * needed(run.loss.get(f"udp_{name}"), "datagrams"),
    "voice_delay": lambda run, name: voice(run, name).delay_ms,
    "score": score,
    "held": held_by_hardware,
    "packets": packets,
}

VOCABULARY = Vocabulary(
    axes=AXES,
    quantities=QUANTITIES,
    names={"SCHEMES": SCHEMES, "STATIONS": STATIONS, "A_THIRD": STREAMS / 3, "ABOUT_A_THIRD": STREAMS / 3 + 0.05},
)
