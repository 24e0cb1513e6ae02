"""What the claims about the Wi-Fi stack are said of: numbers of a run."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean

from sojourn.errors import SojournError
from sojourn.papers.kit.rules import Vocabulary
from sojourn.papers.wifi_stack.evidence import (
    CLASSES,
    SCHEMES,
    STATIONS,
    STREAMS,
    Cell,
    Seen,
    VoiceSeen,
    mean_of,
    median_ping,
)

#: The reasons under which a record counts packets dropped for want of room.
NO_ROOM = ("queue_limit", "memory_limit")


def latency(seen: Seen, of: str) -> float:
    """Return the latency of a class of stations, or of all (ms)."""
    return median_ping(seen, tuple(seen.stations) if of == "all" else CLASSES[of])


def goodput(seen: Seen, prefix: str, of: str) -> float:
    """Return the goodput of a station of a class (Mbit/s); `prefix` is that of its flows."""
    return fmean(seen.goodput[f"{prefix}_{name}"] for name in CLASSES[of])


def total(seen: Seen) -> float:
    """Return the goodput of all stations (Mbit/s)."""
    return sum(seen.goodput.values())


def waits_above(seen: Seen, name: str) -> float:
    """Return a station's mean time in the flow queues less that from the building of an aggregate on (ms)."""
    one = seen.stations[name]
    return (one.queue_ms or 0.0) - (one.hardware_ms or 0.0)


def no_room(seen: Seen, name: str) -> float:
    """Return how many packets to a station were dropped for want of room."""
    return float(sum(seen.stations[name].drops.get(reason, 0) for reason in NO_ROOM))


def voice(seen: Seen, name: str) -> VoiceSeen:
    """Return a voice stream.

    Raises
    ------
    SojournError
        If there is none of this name.
    """
    if name not in seen.voices:
        message = f"the run with seed {seen.seed} has no voice stream {name}"
        raise SojournError(message)
    return seen.voices[name]


def score(seen: Seen) -> float:
    """Return the mean opinion score of the voice stream."""
    found = voice(seen, "voip").mos
    if found is None:
        message = f"the run with seed {seen.seed} has no score of its voice stream"
        raise SojournError(message)
    return found


def held(seen: Seen) -> float:
    """Return how many aggregates there are between building and delivery, by Little's law."""
    one = seen.stations["fast1"]
    return one.aggregates / seen.duration_s * (one.hardware_ms or 0.0) / 1000


def packets(seen: Seen, tid: str) -> float:
    """Return how many packets of a traffic identifier were sent to the first station."""
    return float(seen.stations["fast1"].tids.get(int(tid), 0))


QUANTITIES: dict[str, Callable[..., float]] = {
    "latency": latency,
    "goodput": goodput,
    "total": total,
    "share": lambda seen, name: seen.stations[name].airtime_share,
    "aggregate": lambda seen, of: mean_of(seen, CLASSES[of], lambda one: one.aggregate_frames),
    "frames": lambda seen: seen.stations["fast1"].aggregate_frames,
    "waits_above": waits_above,
    "no_room": no_room,
    "loss": lambda seen, name: 100 * seen.loss[f"udp_{name}"],
    "voice_delay": lambda seen, name: voice(seen, name).delay_ms,
    "score": score,
    "held": held,
    "packets": packets,
}

VOCABULARY: Vocabulary[Cell, Seen] = Vocabulary(
    cell=Cell,
    fields=Cell._fields,
    quantities=QUANTITIES,
    names={"SCHEMES": SCHEMES, "STATIONS": STATIONS, "A_THIRD": STREAMS / 3, "ABOUT_A_THIRD": STREAMS / 3 + 0.05},
)
