"""What a search for a commit came to, as a value, as JSON and in words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sojourn import tables
from sojourn.bounds import Plain
from sojourn.regress import verdict
from sojourn.regress.pair import interval_plain
from sojourn.regress.quantities import Worse
from sojourn.regress.threshold import Threshold
from sojourn.regress.verdict import PairedDifference
from sojourn.stats import mean_interval
from sojourn.store.run import Run
from sojourn.validate.metric import Metric

FORMAT = "sojourn-kernel-bisect/1"
#: Characters of a commit's hash in tables.
_SHORT = 12


@dataclass(kw_only=True)
class Commit:
    """A commit that git asked about, or an end of the search."""

    #: Git's own name, and the first line of what it says of itself.
    sha: str
    subject: str
    #: `"good"` or `"bad"` for an end of the search.
    role: str = ""
    #: The file of its kernel, what `uname -r` says in it, and its hash; empty for one without.
    kernel: str = ""
    release: str = ""
    sha256: str = ""
    #: `"good"` or `"bad"`; `None` for one that was skipped.
    side: str | None = None
    #: Of its runs, in the order of their seeds.
    values: list[float] = field(default_factory=list)
    #: Why it was skipped; else empty.
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Bisection:
    """What a search came to."""

    #: The name of the experiment, and what makes the search again.
    experiment: str
    command: str
    #: What was measured, which way it is worse, and how far apart good and bad had to be.
    quantity: Metric
    worse: Worse
    threshold: Threshold
    #: Half way between the means of good and bad.
    middle: float
    #: Of the intervals that commits were judged by.
    level: float
    #: How many commits there were.
    range: int
    #: Those that git asked about and both ends, the oldest first.
    commits: tuple[Commit, ...]
    #: The commit that was searched for, and the last good one before it; `None` if skipped commits are in the way.
    first_bad: Commit | None
    last_good: Commit | None
    #: Then those among which it is, each with its subject.
    candidates: tuple[tuple[str, str], ...]
    #: Author, date and subject of the first bad commit.
    said: Mapping[str, str]
    #: What git was told.
    log: str
    #: Those of the last good commit and of the first bad one, by their hashes.
    runs: Mapping[str, tuple[Run, ...]]

    def judged(self) -> PairedDifference | None:
        """Return how the first bad commit differs from the last good one; `None` if it was not found."""
        if self.first_bad is None or self.last_good is None:
            return None
        return verdict.judge(self.last_good.values, self.first_bad.values, rows=1)

    def to_json(self) -> str:
        """Return all but the records as one JSON object of format `sojourn-kernel-bisect/1`."""
        judged = self.judged()
        plain: Mapping[str, Plain] = {
            "format": FORMAT,
            "experiment": self.experiment,
            "command": self.command,
            "metric": self.quantity.name,
            "unit": self.quantity.unit,
            "worse": self.worse,
            "threshold": self.threshold.text,
            "middle": self.middle,
            "level": self.level,
            "range": self.range,
            "first_bad": None if self.first_bad is None else {"sha": self.first_bad.sha, **self.said},
            "last_good": None if self.last_good is None else self.last_good.sha,
            "difference": None if judged is None else interval_plain(judged.difference),
            "candidates": [sha for sha, _ in self.candidates],
            "commits": [
                {
                    "sha": one.sha,
                    "subject": one.subject,
                    "end": one.role or None,
                    "side": one.side,
                    "release": one.release or None,
                    "kernel_sha256": one.sha256 or None,
                    "mean": interval_plain(mean_interval(one.values)) if one.values else None,
                    "values": one.values,
                    "skipped": one.reason or None,
                }
                for one in self.commits
            ],
            "log": self.log.splitlines(),
        }
        return json.dumps(plain, indent=1, allow_nan=False)


def terminal(bisection: Bisection) -> str:
    """Return what was found and the table of the commits."""
    return f"{_outcome(bisection)}\n\n{tables.text(_HEADERS, _rows(bisection), left=3)}\n\n{_note(bisection)}"


def markdown(bisection: Bisection, figures: Sequence[str]) -> str:
    """Return the report; `figures` are the names of the files in `figures/`, without their endings."""
    pictures = "".join(f"\n![{name}](figures/{name}.svg)\n" for name in figures)
    log = "".join(f"    {line}\n" for line in bisection.log.splitlines())
    return (
        f"# {bisection.experiment}: which commit changed {bisection.quantity.title}\n\n{_outcome(bisection)}\n\n"
        f"{tables.markdown(_HEADERS, _rows(bisection), left=3)}\n\n{_note(bisection)}\n{pictures}\n"
        f"    {bisection.command}\n\nWhat git was told (`git bisect replay` takes it):\n\n{log}"
    )


_HEADERS = ("commit", "subject", "verdict", "mean [95 %]", "runs")


def _outcome(bisection: Bisection) -> str:
    if bisection.first_bad is None or bisection.last_good is None:
        names = "\n".join(f"  {sha[:_SHORT]} {subject}" for sha, subject in bisection.candidates)
        return f"The first bad commit is one of these, because the others were skipped:\n\n{names}"
    judged = bisection.judged()
    assert judged is not None
    assert judged.difference is not None
    gap, digits, unit = judged.difference, bisection.quantity.digits, bisection.quantity.unit
    change = tables.interval(gap.value, gap.low, gap.high, digits)
    return (
        f"The first bad commit is {bisection.first_bad.sha}\n"
        f"  {bisection.said['subject']}\n  {bisection.said['author']}, {bisection.said['date']}\n\n"
        f"It changes {bisection.quantity.title} by {change}{' ' if unit else ''}{unit} (95 % interval, "
        f"{gap.n} pairs of runs), against {bisection.last_good.sha[:_SHORT]}."
    )


def _rows(bisection: Bisection) -> list[list[str]]:
    return [_row(one, bisection.quantity.digits) for one in bisection.commits]


def _row(one: Commit, digits: int) -> list[str]:
    interval = mean_interval(one.values) if one.values else None
    return [
        one.sha[:_SHORT],
        one.subject if len(one.subject) <= 60 else f"{one.subject[:57]}...",
        one.side or "skipped",
        "-" if interval is None else tables.interval(interval.value, interval.low, interval.high, digits),
        str(len(one.values)),
    ]


def _note(bisection: Bisection) -> str:
    skipped = "".join(f"\nSkipped: {one.sha[:_SHORT]}, {one.reason}." for one in bisection.commits if one.reason)
    half = tables.number(bisection.middle, bisection.quantity.digits)
    measured = sum(bool(one.values) for one in bisection.commits)
    return (
        f"{measured} kernels were measured for {bisection.range} commits by {bisection.quantity.heading}. A commit is "
        f"good or bad if the interval of its distance to half way (mean {half}), seed by seed, says so at "
        f"{100 * bisection.level:.4g} %.{skipped}"
    )
