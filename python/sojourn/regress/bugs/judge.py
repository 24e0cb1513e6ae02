"""Plays cases on a kernel and in the simulator, and says whether the bug is there."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from collections.abc import Sequence as Several
from dataclasses import dataclass
from pathlib import Path

from sojourn import drill
from sojourn.backends.linux.guest import carry_out, job_text
from sojourn.bounds import Plain
from sojourn.errors import SojournError, refused
from sojourn.kernel.find import Kernel, find
from sojourn.regress.bugs import readings, sequences
from sojourn.regress.bugs.cases import ABSENT, CANNOT_TELL, PRESENT, Bug
from sojourn.validate.calls import job, kinds

#: Of the guest's random numbers.
_SEED = 1
#: What a guest takes at most, seconds of this machine: at its start, for a play, and for a packet.
_START_S, _PLAY_S, _PACKET_S = 60.0, 10.0, 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found of a bug, in a kernel or in the simulator."""

    #: The kernel, or which of the simulator's behaviours it is.
    where: str
    #: `present`, `absent` or `cannot tell`.
    verdict: str
    #: What was read, in words.
    reading: str
    #: The reading as a number; `None` where it is none.
    value: float | None = None
    #: The readings of the other plays: what each is, and its reading in words.
    also: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> Mapping[str, Plain]:
        """Return it for JSON."""
        also = [{"what": what, "reading": reading} for what, reading in self.also]
        return {
            "where": self.where,
            "verdict": self.verdict,
            "reading": self.reading,
            "value": self.value,
            "also": also,
        }


def kernels(names: Several[str]) -> list[Kernel]:
    """Return the kernels of these names, which must be in virtual time; for none, the one that a run chooses.

    Raises `ParamError` if one is not there or has no virtual time, and `SojournError` if there is none.
    """
    wanted: Several[str | None] = list(dict.fromkeys(names)) or [None]
    found = []
    for name in wanted:
        kernel = find(name)
        if not kernel.virtual_time:
            message = "cases need a kernel in virtual time, because their readings are times: run scripts/kernels"
            if name is not None:
                raise refused(name, "kernel", message)
            raise SojournError(message)
        found.append(kernel)
    return found


def on_kernel(bug: Bug, kernel: Kernel) -> Finding:
    """Return what a kernel has of a bug; raises `SojournError` if the kernel or the agent fails."""
    where = f"Linux {kernel.release}"
    if bug.script:
        return _of_script(bug, where, _drill(bug, kernel))
    missing = [play.qdisc for play in bug.plays if not kinds.there_in(kinds.of(play.qdisc.split()[0]), kernel)]
    if missing:
        return Finding(where=where, verdict=CANNOT_TELL, reading=f"this kernel has no {missing[0].split()[0]}")
    asked = [sequences.sequence(play) for play in bug.plays]
    reworks = {place: sequences.old_flags for place, play in enumerate(bug.plays) if play.old_flags}
    packets = sum(part.packets for play in bug.plays for part in play.parts)
    bound_s = _START_S + _PLAY_S * len(asked) + _PACKET_S * packets
    answer = carry_out(job_text(job.job(asked, kernel, reworks)), kernel, seed=_SEED, bound_s=bound_s)
    seen = job.seen(answer.measured)
    values = [
        readings.value(play, readings.of_kernel(one, saw), bug.scale)
        for play, one, saw in zip(bug.plays, asked, seen, strict=True)
    ]
    return _of_values(bug, where, values)


def in_simulator(bug: Bug) -> list[Finding]:
    """Return what the simulator has of a bug: one for each of its behaviours that the case names."""
    found = []
    for one in bug.simulator:
        if bug.script:
            found.append(_of_script(bug, one.label, _drill(bug, None)))
            continue
        first = bug.plays[0]
        done = readings.of_simulator(first, one.qdisc or first.qdisc)
        found.append(_of_values(bug, one.label, [readings.value(first, done, bug.scale)]))
    return found


def as_json(found: Several[tuple[Bug, Several[Finding], Several[Finding]]]) -> str:
    """Return the results as one JSON object, format `sojourn-kernel-bugs/1`."""
    plain = [
        {
            "name": bug.name,
            "title": bug.title,
            "component": bug.component,
            "what": bug.what,
            "expected": bug.expected,
            "kernels": [one.as_json() for one in there],
            "simulator": [one.as_json() for one in here],
        }
        for bug, there, here in found
    ]
    return json.dumps({"format": "sojourn-kernel-bugs/1", "bugs": plain}, indent=1)


def _of_values(bug: Bug, where: str, values: Several[float]) -> Finding:
    first, *others = values
    also = []
    for play, value in zip(bug.plays[1:], others, strict=False):
        same = play.reading.of == bug.plays[0].reading.of and not play.what
        shown = bug.shown(value) if same else f"{value:.4g}"
        also.append((f"{play.label}: {play.what or bug.what}", shown))
    return Finding(where=where, verdict=bug.verdict(first), reading=bug.shown(first), value=first, also=tuple(also))


def _drill(bug: Bug, kernel: Kernel | None) -> drill.ScriptOutcome:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / bug.script
        script.write_text(bug.script_text())
        return drill.on_ours(script) if kernel is None else drill.on_kernel(script, kernel)


def _of_script(bug: Bug, where: str, outcome: drill.ScriptOutcome) -> Finding:
    """Return what the outcome of a script says: another failure than that of the bug says nothing."""
    if outcome.outcome == drill.PASSED:
        return Finding(where=where, verdict=ABSENT, reading="the script passes")
    sentence = outcome.sentence().removeprefix(outcome.script).lstrip(":")
    place = f"line {sentence}" if outcome.line is not None else sentence.strip()
    shows = outcome.outcome == drill.FAILED and bug.fails in sentence
    return Finding(where=where, verdict=PRESENT if shows else CANNOT_TELL, reading=place)
