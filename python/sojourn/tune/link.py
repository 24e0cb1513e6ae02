"""The link that is tuned: its rates, the base RTTs that the settings must do for, and what follows from them."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from sojourn.errors import ParamError, refused
from sojourn.scenario import Direction, Scenario
from sojourn.units import bits_per_s, seconds

#: Bytes of a full-sized packet on the wire, as the disciplines count it.
FRAME_BYTES = 1514
#: RTTs that a range is tried at, unless another number is asked for.
DEFAULT_POINTS = 3
MOST_POINTS = 9
#: The rural study's buffer, and the smallest that a link gets: 25 packets, 300 ms at 1 Mbit/s.
FEWEST_PACKETS = 25
#: A run lasts until about so many files could be fetched at half the rate, with the gaps between them.
FILES_A_RUN = 8
FILE_BYTES = 1_700_000
FILE_GAP_S = 9.5
#: And no fewer RTTs than this: TCP needs some to find its rate.
RTTS_A_RUN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A bottleneck and the paths through it."""

    #: Rate text of each direction.
    up: str
    down: str
    #: Base RTTs that every candidate is run at, ascending.
    rtts_ms: tuple[float, ...]
    #: Packets that the queue under test may hold.
    limit: int
    #: Measured window of each run.
    duration_s: float

    def bits_per_s(self, direction: Direction) -> int:
        """Return the rate of a direction."""
        return bits_per_s(self.up if direction == "up" else self.down)

    def packet_ms(self, direction: Direction) -> float:
        """Return how long a full-sized packet takes to send."""
        return FRAME_BYTES * 8e3 / self.bits_per_s(direction)


def read_link(
    *,
    up: str,
    down: str,
    rtt: str,
    direction: Direction,
    points: int | None = None,
    limit: int | None = None,
    duration: str | None = None,
) -> Link:
    """Read a link from the words of the command line.

    Raises `ParamError` if a value is refused, or the range is empty.

    - `up`, `down`: rate texts.
    - `rtt`: a time text, or two with `..` between them.
    - `direction`: that under test, whose rate sets the buffer and the length of a run.
    - `points`: RTTs that a range is tried at.
    - `limit`: packets; by default one bandwidth-delay product at the longest RTT, and at least 25.
    - `duration`: time text; by default as long as eight files of 1.7 MB take at half the rate, with the rural study's
      gaps, and at least 100 of the longest RTT, in tens of seconds: 300 s at 1 Mbit/s.
    """
    low, high = _range_ms(rtt)
    plain = _checked(up=up, down=down)
    number = _points(points, rtt, low, high)
    rtts = tuple(round(low * (high / low) ** (place / max(number - 1, 1)), 1) for place in range(number))
    rate = bits_per_s(plain["up"] if direction == "up" else plain["down"])
    packets = max(FEWEST_PACKETS, math.ceil(rate * high / 8e3 / 1500)) if limit is None else limit
    if packets < 1:
        raise refused(packets, "limit", "must be at least 1 packet")
    if duration is None:
        files = FILES_A_RUN * (2 * FILE_BYTES * 8 / rate + FILE_GAP_S)
        length = 10.0 * math.ceil(max(files, RTTS_A_RUN * high / 1e3) / 10)
    else:
        length = seconds(_checked(duration=duration)["duration"])
    return Link(up=plain["up"], down=plain["down"], rtts_ms=rtts, limit=packets, duration_s=length)


def time_text(ms: float) -> str:
    """Return a time as `tc` reads it, in milliseconds, rounded to the microsecond that it counts in."""
    return f"{round(ms * 1e3) / 1e3:.10g}ms"


def _range_ms(text: str) -> tuple[float, float]:
    first, dots, second = text.partition("..")
    if dots and not (first.strip() and second.strip()):
        raise refused(text, "rtt", "a range has a time on both sides of its dots, such as 50ms..550ms")
    low = _time_ms(first)
    high = _time_ms(second) if dots else low
    if low > high:
        message = f"rtt is {text!r}, which is empty: the first time of a range must not be above the second"
        raise ParamError(message)
    return low, high


def _time_ms(text: str) -> float:
    found = round(seconds(_checked(rtt=text.strip())["rtt"]) * 1e3, 6)
    if found < 0.1:
        raise refused(text.strip(), "rtt", "must be at least 0.1ms to be tuned for")
    return found


def _points(request: int | None, rtt: str, low: float, high: float) -> int:
    if request is None:
        return 1 if low == high else DEFAULT_POINTS
    if not 1 <= request <= MOST_POINTS:
        raise refused(request, "rtts", f"must be from 1 to {MOST_POINTS}")
    if (request == 1) != (low == high):
        raise refused(request, "rtts", f"rtt is {rtt!r}: one RTT has one point, and a range at least two")
    return request


def _checked(**fields: str) -> dict[str, str]:
    """Return the fields as the one validator spells them."""
    scenario = Scenario(experiment="tune", **{"duration": "60s", **fields})  # type: ignore[arg-type]
    found: dict[str, str] = json.loads(scenario.normalized())
    return found
