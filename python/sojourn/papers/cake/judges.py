"""The judges of the claims of CAKE's paper: what the rules speak of; no claim needs a function."""

from __future__ import annotations

from sojourn.papers.cake.evidence import AXES
from sojourn.study.cell import Cell, Observation
from sojourn.study.claims import Judges
from sojourn.study.rules import Vocabulary


def total(run: Observation, way: str) -> float:
    """Return the goodput of all TCP flows of a direction, Mbit/s."""
    return sum(_flows(run, way).values())


def goodput(run: Observation, way: str, flow: str) -> float:
    """Return the goodput of a TCP flow, Mbit/s; a marked flow is called by its mark."""
    flows = _flows(run, way)
    return flows[flow if flow in flows else f"tcp_{way}_{flow}"]


def share(run: Observation, way: str, flow: str) -> float:
    """Return what of the goodput of its direction a TCP flow has, per cent."""
    return 100 * goodput(run, way, flow) / total(run, way)


def of_host(run: Observation, host: str) -> float:
    """Return what of the uploads' goodput the flows of a source host have (`"a"` or `"b"`), per cent."""
    return 100 * sum(mbit for name, mbit in run.up.items() if name.startswith(f"{host}_")) / total(run, "up")


def echo(run: Observation, probe: str) -> float | None:
    """Return the mean round-trip time of a probe above the path's, ms."""
    return run.echoes[probe].mean_ms if probe in run.echoes else None


def late(run: Observation, probe: str) -> float | None:
    """Return the 95th percentile of the same, ms."""
    return run.echoes[probe].p95_ms if probe in run.echoes else None


def _flows(run: Observation, way: str) -> dict[str, float]:
    return dict(run.up if way == "up" else run.down)


def described(quantity: str) -> str:
    """Return a quantity with its arguments in words."""
    name, *arguments = quantity.split()
    return " ".join([WORDS[name], *arguments])


def _describe(quantity: str, at: Cell, word: str, other: Cell | None) -> str:
    there = "" if other is None else f", {word} that of {other.words()}"
    return f"{described(quantity)}: {at.words()}{there}"


#: What each quantity is; its arguments follow.
WORDS = {
    "total": "goodput",
    "goodput": "goodput",
    "share": "share of the goodput",
    "of_host": "share of host",
    "echo": "round-trip time above the path's,",
    "late": "95th percentile of the round-trip time above the path's,",
    "voice": "one-way delay of the fixed-rate flow above the path's",
    "voice_loss": "loss of the fixed-rate flow",
}
JUDGES = Judges(
    paper="cake",
    vocabulary=Vocabulary(
        axes=AXES,
        quantities={
            "total": total,
            "goodput": goodput,
            "share": share,
            "of_host": of_host,
            "echo": echo,
            "late": late,
            "voice": lambda run: run.voice_ms,
            "voice_loss": lambda run: run.voice_loss,
        },
        describe=_describe,
    ),
)
