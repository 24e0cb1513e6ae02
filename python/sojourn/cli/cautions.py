"""What to know of a scenario before its numbers are believed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: A full frame of Ethernet, bytes.
_FRAME = 1514

#: With fewer packets in front of it, a packet is spared from the step.
_SPARED = 2

_TIME = re.compile(r" step_thresh ([0-9.]+)(s|ms|us) ")
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_RATE = re.compile(r"([0-9.]+)(bit|kbit|mbit|gbit)")
_BITS = {"bit": 1.0, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def cautions(scenario: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each setting that runs, but not as its user may think.

    Parameters
    ----------
    scenario
        As it was normalized: every discipline with all its words.
    """
    found = []
    for way in ("up", "down"):
        text, rate = str(scenario.get(f"qdisc_{way}")), _RATE.fullmatch(str(scenario.get(way)))
        step, least = _TIME.search(text), re.search(r" min_qlen_step (\d+)", text)
        if not text.startswith("dualpi2 ") or not (rate and step and least) or int(least[1]) >= _SPARED:
            continue
        frame_s = _FRAME * 8 / (float(rate[1]) * _BITS[rate[2]])
        if float(step[1]) * _SECONDS[step[2]] < frame_s:
            found.append(
                f"qdisc_{way} is dualpi2 with step_thresh {step[1]}{step[2]}, but one packet takes "
                f"{frame_s * 1e3:.2f}ms at {rate[0]}: nearly every packet of L4S flows is marked, and they starve; "
                f"min_qlen_step {_SPARED} spares them"
            )
    return found
