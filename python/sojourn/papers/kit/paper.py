"""The papers that can be reproduced: what is known of them before anything is run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How much is run.

    Attributes
    ----------
    duration
        Time text: the measured window of each run.
    long_duration
        The same of the RTT fairness runs of good-bad-wifi, and of the TCP downloads of wifi-stack.
    repeat
        Runs of each cell.
    other_repeat
        Of good-bad-wifi: runs of each cell with the other congestion control, which only orders are read from; 0 for
        none. Of rural: runs of each cell of the emulated bed and the satellite path. Of flusher: of each cell of what
        the thesis supposes and did not run. Of wifi-stack: of each small cell. Of wifi-next-steps: none.
    """

    duration: str
    long_duration: str
    repeat: int
    other_repeat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A paper.

    Attributes
    ----------
    name
        What one types.
    reference
        Authors, title, where and when.
    parts
        What can be asked for with `--only`, and what it is.
    profiles
        By name.
    """

    name: str
    reference: str
    parts: dict[str, str]
    profiles: dict[str, Profile]


GOOD_BAD_WIFI = Paper(
    name="good-bad-wifi",
    reference=(
        "T. Høiland-Jørgensen, P. Hurtig, A. Brunstrom: The Good, the Bad and the WiFi: Modern AQMs in a residential "
        "setting. Computer Networks, 2015"
    ),
    parts={
        "rrul": "section 5.1: Fig. 2 and the claims about it",
        "voip": "section 5.2: Fig. 3, Table 2 and their claims",
        "web": "section 5.3: Figs. 4 and 5 and their claims",
        "fairness": "section 6.1: Fig. 6 and its claims",
        "transient": "section 6.2: Fig. 7 and its claims",
        "wifi": "section 7: Figs. 9, 10 and 11, Table 3 and their claims",
    },
    profiles={
        "quick": Profile(duration="60s", long_duration="150s", repeat=4, other_repeat=2),
        "paper": Profile(duration="140s", long_duration="600s", repeat=30, other_repeat=6),
    },
)

RURAL = Paper(
    name="rural",
    reference=(
        "C. Kulatunga, N. Kuhn, G. Fairhurst, D. Ros: Tackling Bufferbloat in Capacity-limited Networks. EuCNC 2015, "
        "pp. 381-385"
    ),
    parts={
        "lambda": "section IV-B: Fig. 3 and the claims about it",
        "tau": "sections IV-C and IV-D: Fig. 4 and its claims",
        "rtt": "section IV-E: Fig. 5 and its claims",
        "two-rtt": "section IV-F: Fig. 6 and its claim",
        "emulation": "sections III and V-A: Figs. 2 and 7 and their claims",
        "satellite": "section V-B: Fig. 8 and its claims",
    },
    profiles={
        "quick": Profile(duration="300s", long_duration="300s", repeat=8, other_repeat=5),
        "paper": Profile(duration="300s", long_duration="300s", repeat=100, other_repeat=10),
    },
)

WIFI_STACK = Paper(
    name="wifi-stack",
    reference=(
        "T. Høiland-Jørgensen: Bufferbloat mitigation in the WiFi stack - status and next steps. Netdev 2.2, 2017"
    ),
    parts={
        "latency": "section 3.2: Fig. 2 and the claims about latency",
        "airtime": "section 3.2: Fig. 3, the analytical model, and their claims",
        "throughput": "section 3.2: Fig. 4 and its claims",
        "mechanisms": "sections 2 to 4: how the stack works",
    },
    profiles={
        "quick": Profile(duration="30s", long_duration="120s", repeat=6, other_repeat=3),
        "paper": Profile(duration="30s", long_duration="120s", repeat=30, other_repeat=10),
    },
)

WIFI_NEXT_STEPS = Paper(
    name="wifi-next-steps",
    reference=(
        "The next steps of T. Høiland-Jørgensen: Bufferbloat mitigation in the WiFi stack - status and next steps. "
        "Netdev 2.2, 2017, section 4"
    ),
    parts={
        "hardware": "section 4.1: less in the hardware queue, airtime queue limits, building late",
        "retries": "section 4.1: giving frames up by age",
        "dense": "section 4.1: shorter aggregates and the four schemes with 1 to 64 stations",
        "policies": "section 4.2: weights, groups, caps, minimum rates",
        "accounts": "section 4.2: scheduling by credits, airtime charged late",
        "demote": "section 4.3: soft admission to voice and video",
        "qos": "section 4.3: fairness before priority",
        "voice": "section 4.3: voice in other aggregates",
    },
    profiles={
        "quick": Profile(duration="10s", long_duration="10s", repeat=3, other_repeat=0),
        "paper": Profile(duration="30s", long_duration="30s", repeat=5, other_repeat=0),
    },
)

FLUSHER = Paper(
    name="flusher",
    reference=(
        "H. B. Jahre: Fighting fire with fire: Eliminating standing queues with large UDP packet floods. Master's "
        "thesis, University of Oslo, 2015"
    ),
    parts={
        "grid": "sections 6.3 and 6.3.1: Figs. 6.2 to 6.20 and the claims about them",
        "aqm": "sections 6.3.2 and 6.3.3: Figs. 6.21 to 6.30 and their claims",
        "logs": "sections 4.7, 4.8 and 5.3.4: Figs. 4.8, 4.9 and 5.2 to 5.4 and their claims",
        "conjectures": "chapters 3, 4 and 6: what the thesis supposes and did not run",
        "adaptive": "section 6.5: the flusher adaptive beside the thesis's",
    },
    profiles={
        "quick": Profile(duration="300s", long_duration="300s", repeat=3, other_repeat=3),
        "paper": Profile(duration="300s", long_duration="300s", repeat=20, other_repeat=10),
    },
)

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (GOOD_BAD_WIFI, RURAL, WIFI_STACK, WIFI_NEXT_STEPS, FLUSHER)}
