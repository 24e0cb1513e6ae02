"""What to know of a scenario before its numbers are believed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sojourn.bounds import Plain
from sojourn.units import bits_per_s, seconds

#: A full frame of Ethernet, bytes.
_FRAME = 1514

#: With fewer packets in front of it, a packet is spared from the step.
_SPARED = 2

#: A step in packets has no unit of time, and is not meant here.
_STEP = re.compile(r" step_thresh ([0-9.]+(?:s|ms|us)) ")


def cautions(scenario: Mapping[str, Plain]) -> list[str]:
    """Return a sentence for each setting that runs, but not as its user may think.

    - `scenario`: as it was normalized: every discipline with all its words.
    """
    sentences = []
    for way in ("up", "down"):
        text, rate = str(scenario.get(f"qdisc_{way}")), str(scenario.get(way, ""))
        step, least = _STEP.search(text), re.search(r" min_qlen_step (\d+)", text)
        if not text.startswith("dualpi2 ") or not (rate and step and least) or int(least[1]) >= _SPARED:
            continue
        frame_s = _FRAME * 8 / bits_per_s(rate)
        if seconds(step[1]) < frame_s:
            sentences.append(
                f"qdisc_{way} is dualpi2 with step_thresh {step[1]}, but one packet takes "
                f"{frame_s * 1e3:.2f}ms at {rate}: nearly every packet of L4S flows is marked, and they starve; "
                f"min_qlen_step {_SPARED} spares them"
            )
    return sentences
