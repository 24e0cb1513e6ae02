"""The search for a run in which a measuring flow shares its queue with an upstream data flow.

Two flows seldom meet in 1024 queues, so that a paper's thirty runs may or may not hold such a run. Here seeds are tried
in order until one does: hashes are a function of the seed alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from sojourn import api
from sojourn.papers.good_bad_wifi.evidence import Collision
from sojourn.papers.good_bad_wifi.observation import observe
from sojourn.scenario import Scenario
from sojourn.study.cell import Observation

#: How many seeds are tried. A seed puts one flow into the queue of one of four others with a probability of 0.4 %.
MOST_SEEDS = 3000
#: Hashes do not depend on how long a run takes, so the search runs no longer than this.
SEARCH_DURATION = "100ms"


def find_collision(repeats: Sequence[Observation], scenario: Scenario, *, voice: bool) -> Collision | None:
    """Return a run in which a probe shares its queue with an upstream data flow; the same one each time.

    - `repeats`: what has been run, which is looked through first; then seeds are tried in order from the first not run.
    - `scenario`: of the runs, with any seed.
    - `voice`: whether the probe must be the voice stream.
    """
    for number, run in enumerate(repeats, start=1):
        if (pair := _pair(run, voice=voice)) is not None:
            return Collision(run=run, probe=pair[0], flow=pair[1], tried=number)
    first = max(run.seed for run in repeats) + 1
    short = dataclasses.replace(scenario, duration=SEARCH_DURATION, lead="0s")
    for number in range(MOST_SEEDS):
        seed = first + number
        tried = observe(api.run(dataclasses.replace(short, seed=seed)))
        if (pair := _pair(tried, voice=voice)) is not None:
            run = observe(api.run(dataclasses.replace(scenario, seed=seed)))
            return Collision(run=run, probe=pair[0], flow=pair[1], tried=len(repeats) + number + 1)
    return None


def _pair(run: Observation, *, voice: bool) -> tuple[str, str] | None:
    upstream = {flow.name for flow in run.flows if flow.direction == "up"}
    voice_name = None if not voice or run.voice is None else run.voice.name
    return next(
        (
            (probe, flow)
            for probe, flow in run.collisions
            if flow in upstream and (probe == voice_name if voice else probe != "voip")
        ),
        None,
    )
