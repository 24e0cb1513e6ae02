"""The papers' claims: what each says, as data in our own words, and a function that judges it from runs."""

from sojourn.claims.catalogue import Claim, judge_all, load
from sojourn.claims.evidence import Evidence
from sojourn.claims.verdict import Check, Judgement

__all__ = ["Check", "Claim", "Evidence", "Judgement", "judge_all", "load"]
