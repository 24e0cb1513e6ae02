"""The claims of a paper as data, `claims.toml` of its folder, and what becomes of them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from importlib.resources import files
from statistics import fmean
from typing import TypeVar

import msgspec
from msgspec import Struct, structs

from sojourn import schema
from sojourn.errors import SojournError
from sojourn.store.claims import JudgedClaim
from sojourn.study.evidence import Evidence
from sojourn.study.orders import NOTICEABLE_SETTLED, Agreement, same_order
from sojourn.study.rules import Changes, Reader, Rule, Variables, Vocabulary
from sojourn.study.verdict import Check, Judgement, all_of, any_of

T = TypeVar("T")


class Number(Rule, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number of a note: a rule without a relation, and `each`, the text of a turn of its loop."""

    each: str = ""


class Claim(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One claim of a paper."""

    #: For example `"gbw-rrul-01"`.
    id: str
    #: Of the paper.
    section: str
    #: What it says, in our own words.
    says: str
    #: What is known of the reason for which it fails; empty if nothing is, or it holds.
    why: str = ""
    #: Of the paper, from whose runs it is judged; empty for one that needs runs of all parts.
    part: str = ""
    #: Its cell, as changes to the file's.
    cell: Changes = []
    #: Loops around all of its rules (`sojourn.study.rules`).
    for_: Variables = msgspec.field(name="for", default_factory=dict)
    #: Its rules; without them a function of the paper's judges it.
    checks: list[Rule] = []
    #: What the pairs that must not be there are, of a claim whose rules have `orders`.
    reversed: str = ""
    #: Whether it holds if one of its checks does.
    one_suffices: bool = False
    #: Tables of variables with which it cannot be told, and `because`, the reason.
    cannot_tell: list[dict[str, str]] = []
    #: What its reason ends with; `{...}` stands for one of the `numbers`.
    note: str = ""
    #: By name a rule without a relation, whose mean over the repeats and the turns of its loop the number is; or with
    #: `each`, a text of `{value}` and the loop's variables, the texts of all turns.
    numbers: dict[str, Number] = {}
    #: What of its reading or its bounds was settled or changed after results had been seen: of its own; of a quantity
    #: (table `settled` of the file); and of rules that take small differences for none.
    settled: str = ""
    #: Why it says nothing of the runs, if so: it is arithmetic of the paper, a constant, or a comparison of runs that
    #: cannot differ. Such a claim is judged, but counts neither as held nor as failed.
    by_construction: str = ""

    @property
    def undecided(self) -> JudgedClaim:
        """The claim without runs that tell: its numbers are null."""
        own = {key: getattr(self, key) for key in ("id", "section", "says", "settled", "by_construction")}
        return JudgedClaim(**own, verdict="cannot tell", value=None, low=None, high=None, unit="", reason="")

    def noted(self, shared: Mapping[str, str]) -> Claim:
        """Return it with what was `settled` of all that it is about; `shared` is that of quantities."""
        notes = [self.settled, *(shared.get(name, "") for rule in self.checks for name in rule.quantities)]
        notes += [NOTICEABLE_SETTLED] if any(rule.takes_for_none for rule in self.checks) else []
        return structs.replace(self, settled="; ".join(dict.fromkeys(one for one in notes if one)))


class ClaimFile(Struct, frozen=True, forbid_unknown_fields=True):
    """What `claims.toml` of a paper holds: claims, the cell that each may change, and what was settled of quantities.

    `names`, `cells` and `derived` are as `Reader` has them.
    """

    claims: list[Claim]
    cell: Changes = []
    names: Variables = {}
    cells: dict[str, Changes] = {}
    derived: dict[str, Rule] = {}
    settled: dict[str, str] = {}


def stored(paper: str, name: str, kind: type[T]) -> T:
    """Return a file of a paper (the name of its folder) as a value of a type."""
    text = files(f"sojourn.papers.{paper}").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return schema.convert(tomllib.loads(text), kind)


@lru_cache(maxsize=16)
def claim_file(paper: str) -> ClaimFile:
    """Return the claims of a paper (the name of its folder) as its file has them."""
    return stored(paper, "claims", ClaimFile)


def reader_of(paper: str, vocabulary: Vocabulary, evidence: Evidence, names: Variables | None = None) -> Reader:
    """Return what reads the quantities of a paper's claims from its runs; `names` are more than its claims have."""
    file = claim_file(paper)
    return Reader(
        vocabulary=vocabulary,
        evidence=evidence,
        names={**vocabulary.names, **file.names, **(names or {})},
        cells=file.cells,
        derived=file.derived,
    )


def load(paper: str, prefix: str = "", *, parts: Sequence[str] | None = None) -> list[Claim]:
    """Return claims of a paper (the name of its folder) in the file's order.

    - `prefix`: what their ids begin with.
    - `parts`: of the paper; `None` for all, and the claims that need runs of all.
    """
    file = claim_file(paper)
    claims = [claim.noted(file.settled) for claim in file.claims if claim.id.startswith(prefix)]
    return claims if parts is None else [claim for claim in claims if claim.part in parts]


@dataclass(frozen=True, kw_only=True)
class Judges:
    """The judges of a paper's claims: its rules, and functions for what rules cannot say."""

    #: The name of its folder.
    paper: str
    #: What its rules speak of.
    vocabulary: Vocabulary
    #: Judges of single claims, by id: evidence, and the variables that all rules have.
    by_function: Mapping[str, Callable[..., Judgement]] = field(default_factory=dict)
    #: What the reason of a claim that has rules ends with, by id, where it has numbers of the runs.
    notes: Mapping[str, Callable[..., str]] = field(default_factory=dict)

    def judgement(self, claim: Claim, evidence: Evidence, variables: Variables | None = None) -> Judgement:
        """Return what the runs say of a claim; raises `SojournError` if they do not tell."""
        arguments = variables or {}
        for one in claim.cannot_tell:
            if all(arguments.get(name) == value for name, value in one.items() if name != "because"):
                raise SojournError(one["because"])
        if not claim.checks:
            return self.by_function[claim.id](evidence, **arguments)
        variables, reader = {"part": claim.part, **arguments}, reader_of(self.paper, self.vocabulary, evidence)
        fields = reader.fields(reader.fields({}, claim_file(self.paper).cell, variables), claim.cell, variables)
        noted = self.notes.get(claim.id)
        note = None if noted is None else noted(evidence, **arguments)
        return by_rules(claim, reader, fields, variables, note)

    def judge(self, claims: list[Claim], evidence: Evidence, variables: Variables | None = None) -> list[JudgedClaim]:
        """Return what became of each claim.

        A claim that the runs say nothing about (too short, no probe answered) cannot be told; its numbers are null.
        """
        return [self.judged(claim, evidence, variables) for claim in claims]

    def judged(self, claim: Claim, evidence: Evidence, variables: Variables | None = None) -> JudgedClaim:
        """Return what became of a claim; the reason for which it fails, if known, follows."""
        return outcome(claim, evidence, lambda: self.judgement(claim, evidence, variables))


def by_rules(
    claim: Claim, reader: Reader, fields: Variables, variables: Variables, note: str | None = None
) -> Judgement:
    """Return what the runs say of a claim that has rules, in the cell of the fields; without a note it has its own.

    Raises `SojournError` if they do not tell.
    """
    checks: list[Check] = []
    agreed: list[Agreement] = []
    for turn in reader.loops(claim.for_, variables):
        for rule in claim.checks:
            if rule.orders:
                agreed += reader.agreement(rule, fields, turn)
            else:
                checks += reader.checks(rule, fields, turn)
    note = claim.note if note is None else note
    if claim.numbers:
        numbers = {name: _number(reader, one, fields, variables) for name, one in claim.numbers.items()}
        note = note.format(**numbers)
    if agreed:
        return same_order(agreed, claim.reversed, note=note)
    return (any_of if claim.one_suffices else all_of)(checks, note=note)


def outcome(claim: Claim, evidence: Evidence, judgement: Callable[[], Judgement]) -> JudgedClaim:
    """Return what became of a claim, and by which runs of the evidence; without runs that tell its numbers are null."""
    evidence.run_names.clear()
    try:
        judged = structs.replace(claim.undecided, **asdict(judgement()), runs=list(evidence.run_names))
    except SojournError as error:
        return structs.replace(claim.undecided, reason=str(error), runs=list(evidence.run_names))
    if judged.verdict != "holds" and claim.why:
        judged.reason += f"; why: {claim.why}"
    return judged


def _number(reader: Reader, rule: Number, fields: Variables, variables: Variables) -> float | str:
    """Return a number of a note, or the text of several."""
    turns = list(reader.loops(rule.for_, variables))
    means = [fmean(reader.values(rule, reader.placed(fields, turn), turn)[0].values()) for turn in turns]
    if not rule.each:
        return fmean(means)
    return ", ".join(rule.each.format(**turn, value=value) for turn, value in zip(turns, means, strict=True))
