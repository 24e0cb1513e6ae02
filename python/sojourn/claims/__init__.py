"""The papers' claims: what each says, as data in our own words, and a function that judges it from runs."""

from sojourn.claims.catalogue import Claim, judge_all, judge_flusher, judge_rural, judge_wifi, load
from sojourn.claims.evidence import Cell, Evidence, Gathering
from sojourn.claims.failures import Failure, failures
from sojourn.claims.verdict import Check, Judgement

__all__ = [
    "Cell",
    "Check",
    "Claim",
    "Evidence",
    "Failure",
    "Gathering",
    "Judgement",
    "failures",
    "judge_all",
    "judge_flusher",
    "judge_rural",
    "judge_wifi",
    "load",
]
