"""What is known of a paper before anything is run: `paper.toml` of its folder."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files

from sojourn import schema
from sojourn.errors import refused
from sojourn.study.worlds import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How much is run."""

    #: Time text: the measured window of each run.
    duration: str
    #: The same of the runs that `Paper.long` names.
    long_duration: str
    #: Runs of each cell.
    repeat: int
    #: Runs of each of the cells that `Paper.other` names; 0 for none.
    other_repeat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A paper."""

    #: What one types.
    name: str
    #: Its package below `sojourn.papers`.
    folder: str
    #: As reports have them; the reference is authors, title, where and when.
    title: str
    reference: str
    #: What is run and shown, for help.
    about: str
    #: What was run, for reports; on the kernel both.
    setup: str
    setup_on_kernel: str = ""
    #: What can be asked for with `--only`, and what it is.
    parts: Mapping[str, str]
    #: By name.
    profiles: Mapping[str, Profile]
    #: Who says what the claims say.
    claimed: str = "the paper says"
    #: The world whose verdicts are counted, declared before the runs: what of the set-up could be otherwise, and what
    #: it is. Verdicts in other worlds stand beside them.
    world: Mapping[str, str] = field(default_factory=dict)
    #: Worlds whose verdicts can stand beside those, by name.
    worlds: Mapping[str, World] = field(default_factory=dict)
    #: By back end, whose loss recovery flows have; empty if the paper has no kernel to be like.
    tcp: Mapping[str, str] = field(default_factory=dict)
    #: The parts that a real kernel can run; `None` if it can run all. And why not the others.
    kernel_parts: tuple[str, ...] | None = None
    kernel_lacks: str = ""
    #: The exhibit whose table is too long or too plain for a terminal.
    hidden: str
    #: How often cells are run, with marks for the fields of `Profile`.
    repeats: str
    #: Which cells have a number of their own, and which runs have a window of their own.
    other: str = ""
    long: str = ""

    def parts_on(self, backend: str) -> tuple[str, ...]:
        """Return the parts that a back end can run, in the order of the paper."""
        limited = None if backend == "sim" else self.kernel_parts
        return tuple(part for part in self.parts if limited is None or part in limited)

    def check_parts(self, parts: tuple[str, ...] | None, backend: str) -> None:
        """Raise `ParamError` if the back end cannot run the paper, or one of the parts that are asked for."""
        there = self.parts_on(backend)
        if not there:
            raise refused(backend, "backend", f"{self.name} needs sim: {self.kernel_lacks}")
        for part in parts or ():
            if part not in there:
                known = ", ".join(there)
                raise refused(part, "only", f"on the {backend} back end must be one of {known}: {self.kernel_lacks}")

    def tcp_on(self, backend: str, tcp: str | None) -> str:
        """Return whose loss recovery flows have on a back end, if a variant is asked for or not; it is not checked.

        Raises `ParamError` if the paper has no kernel to be like, but a variant is asked for.
        """
        if tcp is None:
            return self.tcp.get(backend, "linux-6.1")
        if not self.tcp:
            raise refused(tcp, "tcp", f"{self.name} has no kernel of a paper to be like: leave it out")
        return tcp

    def describe(self, claims: int) -> str:
        """Return what is run, the parts and the profiles, for help; `claims` is how many are judged."""
        rows = [f"{self.title} ({claims} claims)", "", *textwrap.wrap(self.about, 118), "", "parts (--only):"]
        rows += [f"  {part:<14} {about}" for part, about in self.parts.items()]
        rows += ["", "profiles (--profile):"]
        for name, profile in self.profiles.items():
            long = f" ({self.long} {profile.long_duration})" if self.long else ""
            other = f" ({self.other} {profile.other_repeat})" if self.other else ""
            rows.append(f"  {name:<14} {profile.duration}{long} x {profile.repeat}{other}")
        if self.worlds:
            rows += ["", "worlds beside the declared one (--worlds):"]
            rows += [f"  {name:<14} {world.about}" for name, world in self.worlds.items()]
        return "\n".join(rows)


def read(folder: str) -> Paper:
    """Return the paper of a folder."""
    plain = tomllib.loads(files(f"sojourn.papers.{folder}").joinpath("paper.toml").read_text(encoding="utf-8"))
    profiles = {
        name: Profile(**{"long_duration": one["duration"], "other_repeat": 0, **one})
        for name, one in plain.pop("profiles").items()
    }
    texts = {key: _paragraphs(value) for key, value in plain.items() if isinstance(value, str)}
    worlds = {name: schema.convert({"name": name, **one}, World) for name, one in plain.pop("worlds", {}).items()}
    kernel = plain.get("kernel_parts")
    return Paper(
        name=folder.replace("_", "-"),
        folder=folder,
        profiles=profiles,
        worlds=worlds,
        **{**plain, **texts, "kernel_parts": None if kernel is None else tuple(kernel)},
    )


def _paragraphs(text: str) -> str:
    """Return a text with each of its paragraphs in one line."""
    return "\n\n".join(" ".join(one.split()) for one in text.split("\n\n"))
