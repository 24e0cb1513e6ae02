"""Worlds beside the declared one: the same claims, judged where one thing of the set-up is otherwise.

The verdicts that count are those of the declared world (`world` of `paper.toml`). The others say which sentence hangs
on what: they stand beside it, in `worlds` of each claim, and as columns of the page's list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from sojourn.backends import for_many
from sojourn.errors import ParamError
from sojourn.store.claims import JudgedClaim

if TYPE_CHECKING:
    from sojourn.report.table import Table
    from sojourn.study.reproduction import Request

#: What a field of a plan's bed is set to.
Setting = str | bool | int | float | tuple[str, ...]
#: What asks for all worlds of a paper.
ALL = "all"


class World(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A world beside the declared one; what it does not name is as in the declared one."""

    #: As tables have it.
    name: str
    #: What is otherwise, in words.
    about: str
    #: Whose loss recovery flows have.
    tcp: str | None = None
    #: Window of each run.
    duration: str | None = None
    #: Window of the runs of `Paper.long`; without it `duration`, if that is there.
    long_duration: str | None = None
    #: Runs of each cell, at most: fewer if fewer are asked for.
    repeat: int | None = None
    #: What makes the runs: `"sim"` or `"linux"`.
    backend: str = "sim"
    #: Of the paper; empty for all that there are.
    parts: tuple[str, ...] = ()
    #: What else is otherwise: fields of the `Bed` of the paper's plan.
    settings: dict[str, Setting] = {}

    def request(self, declared: Request) -> Request | None:
        """Return what is asked for in this world beside a request; `None` if none of the parts can be judged here."""
        there = self.parts or declared.paper.parts_on(self.backend)
        parts = tuple(part for part in declared.run_parts if part in there)
        if not parts:
            return None
        profile = declared.profile
        duration = self.duration or profile.duration
        profile = replace(
            profile,
            duration=duration,
            long_duration=self.long_duration or self.duration or profile.long_duration,
            repeat=min(self.repeat or profile.repeat, profile.repeat),
            other_repeat=min(self.repeat or profile.other_repeat, profile.other_repeat),
        )
        backend = for_many(self.backend, "reproduce")
        return replace(
            declared,
            backend=backend,
            profile=profile,
            parts=declared.parts if parts == declared.run_parts else parts,
            tcp=self.tcp or (declared.tcp if backend.name == "sim" else declared.paper.tcp_on(backend.name, None)),
            stated_tcp=None,
            settings=self.settings,
        )


def chosen(known: Mapping[str, World], text: str | None) -> tuple[World, ...]:
    """Return the worlds that `NAME[,NAME...]` or `all` names, in the paper's order; of `None`, none.

    Raises `ParamError` if there is no such world.
    """
    if text is None:
        return ()
    names = list(known) if text == ALL else text.split(",")
    for name in names:
        if name not in known:
            there = ", ".join(known) or "none"
            message = f"worlds has {name!r}, but must be {ALL!r} or some of: {there}"
            raise ParamError(message)
    return tuple(world for name, world in known.items() if name in names)


def beside(judged: Iterable[JudgedClaim], name: str, verdicts: Mapping[str, str]) -> None:
    """Write into each claim what became of it in another world; one that was not judged there is left out."""
    for claim in judged:
        if claim.id in verdicts:
            claim.worlds[name] = verdicts[claim.id]


def about(known: Mapping[str, World], claims: Iterable[JudgedClaim]) -> tuple[str, ...]:
    """Return a sentence for each world beside the declared one that is data of the paper: what is otherwise."""
    from sojourn.report.exhibit import worlds_of

    return tuple(f"{name}: {known[name].about}." for name in worlds_of(claims) if name in known)


_HEADS = (
    "world",
    "claims",
    "by construction",
    "hold",
    "fail",
    "cannot tell",
    "hold only here",
    "hold only in the first",
)


def table(claims: Sequence[JudgedClaim], declared: str) -> Table:
    """Return how many claims hold, fail and cannot be told in each world, the declared one, in words, first."""
    from sojourn.report.exhibit import worlds_of
    from sojourn.report.table import Table

    rows: list[tuple[str, ...]] = [(declared, *_counts(claims), "", "")]
    for name in worlds_of(claims):
        there = [claim for claim in claims if name in claim.worlds]
        moved = [(claim.verdict, claim.worlds[name]) for claim in there if not claim.by_construction]
        gained = sum(here != "holds" == elsewhere for here, elsewhere in moved)
        lost = sum(here == "holds" != elsewhere for here, elsewhere in moved)
        verdicts = _counts([structs.replace(claim, verdict=claim.worlds[name]) for claim in there])
        rows.append((name, *verdicts, str(gained), str(lost)))
    return Table(
        name="worlds",
        headers=_HEADS,
        rows=tuple(rows),
        records=tuple(
            {"claim": claim.id, "world": name, "verdict": verdict}
            for claim in claims
            for name, verdict in {declared: claim.verdict, **claim.worlds}.items()
        ),
        note="The first world was declared before the runs, and its verdicts are those that are counted. Each other "
        "differs from it in what its name says. Claims by construction are in no other column.",
        left=1,
    )


def _counts(claims: Sequence[JudgedClaim]) -> tuple[str, ...]:
    from sojourn.report.exhibit import verdicts

    found = {"by construction": 0, **dict(verdicts(claims))}
    return (str(len(claims)), *(str(found[word]) for word in ("by construction", "holds", "fails", "cannot tell")))
