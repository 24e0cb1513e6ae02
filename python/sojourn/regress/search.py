"""The search for the commit that made a kernel worse: build, measure, judge, tell git."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sojourn import tables
from sojourn.cells import InWorld, repeats
from sojourn.errors import ParamError, SojournError, refused
from sojourn.regress import quantities, sides
from sojourn.regress.bisection import Bisection, Commit
from sojourn.regress.commits import Builder, UnusableError
from sojourn.regress.quantities import Worse
from sojourn.regress.repository import Next, Repository, printable
from sojourn.regress.sides import BAD, GOOD, Judge
from sojourn.regress.threshold import Threshold
from sojourn.scenario import Scenario
from sojourn.store.run import Run
from sojourn.validate.metric import Metric

#: Characters of a commit's hash in what people read.
SHORT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is searched for."""

    #: Git's own names of both commits.
    good: str
    bad: str
    #: How these were asked for.
    names: tuple[str, str]
    #: Only commits that change something there count; empty for all.
    paths: tuple[str, ...]
    #: What is run, with its first seed.
    scenario: Scenario
    #: What is measured.
    metric: str
    #: Which way it is worse.
    worse: Worse
    #: How far apart good and bad must be.
    threshold: Threshold
    #: Runs of each commit: at first, and at most.
    repeat: int
    most: int
    #: What makes the search again.
    command: str


def check_order(repository: Repository, request: Request) -> list[str]:
    """Return the commits of a search, the oldest first.

    Raises `ParamError` if both names are of one commit, good comes after bad, or no commit is between them.
    """
    good, bad = request.names
    if request.good == request.bad:
        raise refused(bad, "bad", f"must name another commit than good, which is {good!r}")
    if repository.is_ancestor(request.bad, request.good):
        message = (
            f"good is {good!r}, but must not come after bad, which is {bad!r}: a bisect finds the commit that made "
            "a later kernel worse"
        )
        raise ParamError(message)
    between = repository.between(request.good, request.bad, request.paths)
    if not between:
        message = f"path is {', '.join(request.paths)}, but no commit from {good!r} to {bad!r} changes anything there"
        raise ParamError(message)
    return between


def search(
    request: Request, repository: Repository, builder: Builder, run: InWorld, say: Callable[[str], None]
) -> Bisection:
    """Find the first bad commit.

    Raises `ParamError` if the request is refused, and `SojournError` if good or bad cannot be measured, or they do not
    differ by the threshold.

    - `say`: called with a sentence for each step.
    """
    order = check_order(repository, request)
    looks = sides.looks(request.repeat, request.most)
    judge = Judge.for_search(request.worse, request.threshold, commits=len(order), looks=len(looks))
    bench = _Bench(request=request, repository=repository, builder=builder, run=run, judge=judge, say=say)
    bench.check_ends(looks)
    answer = repository.begin(request.good, request.bad, request.paths)
    while answer.first_bad is None and not answer.candidates:
        commit = repository.next()
        _say_left(answer, say)
        answer = repository.tell(bench.word_for(commit, looks), commit)
    return bench.bisection(answer, order)


def _say_left(answer: Next, say: Callable[[str], None]) -> None:
    if answer.left is not None:
        steps = "1 step" if answer.steps == 1 else f"{answer.steps} steps"
        say(f"commits left after the next one: {answer.left}, about {steps}")


@dataclass(kw_only=True)
class _Bench:
    """Measures commits, and keeps what was found of each."""

    request: Request
    repository: Repository
    builder: Builder
    run: InWorld
    judge: Judge
    say: Callable[[str], None]
    commits: dict[str, Commit] = field(default_factory=dict)
    runs: dict[str, tuple[Run, ...]] = field(default_factory=dict)
    quantity: Metric | None = None

    def check_ends(self, looks: tuple[int, ...]) -> None:
        """Measure good and bad, until it is certain that they differ by the threshold.

        Raises `SojournError` if they do not, one cannot tell, or one of them cannot be measured.
        """
        request = self.request
        ends = ((GOOD, request.good), (BAD, request.bad))
        apart: bool | None = None
        good: list[float] = []
        bad: list[float] = []
        for count in looks:
            for word, commit in ends:
                try:
                    self._measure(commit, count, word)
                except UnusableError as error:
                    message = f"{word} is {request.names[word == BAD]!r}, which cannot be measured: {error}"
                    raise SojournError(message) from error
            good, bad = (self._values(commit, count) for _, commit in ends)
            apart = self.judge.apart(good, bad)
            if apart is not None:
                break
        assert self.quantity is not None
        digits, unit = self.quantity.digits, f" {self.quantity.unit}" if self.quantity.unit else ""
        means = [sum(values) / len(values) for values in (good, bad)]
        shown = f"{request.metric} {tables.number(means[0], digits)}{unit} and {tables.number(means[1], digits)}{unit}"
        if not apart:
            how = "do not differ" if apart is False else "cannot be told to differ"
            message = (
                f"good and bad {how} by the threshold {request.threshold.text}: they have {shown} in {len(good)} runs "
                f"each, and {request.worse} is worse"
            )
            raise SojournError(message)
        for word, commit in ends:
            self.commits[commit].side = word
        self.say(f"good and bad differ by more than {request.threshold.text}: {shown}")

    def word_for(self, commit: str, looks: tuple[int, ...]) -> str:
        """Return what to tell git about a commit."""
        for count in looks:
            try:
                self._measure(commit, count)
            except UnusableError as error:
                return self._skip(commit, str(error))
            # The ends have the same seeds; what they have is not measured again.
            for end in (self.request.good, self.request.bad):
                self._measure(end, count)
            values, good, bad = (self._values(one, count) for one in (commit, self.request.good, self.request.bad))
            side = self.judge.side(values, good, bad)
            if side is not None:
                self.commits[commit].side = side
                self.say(f"{self._name(commit)} is {side}: {self._mean(values)} in {count} runs")
                return side
        return self._skip(commit, f"{looks[-1]} runs cannot tell whether it is good or bad")

    def bisection(self, answer: Next, order: list[str]) -> Bisection:
        """Return what the search came to, with as many runs of the last good commit as of the first bad one."""
        assert self.quantity is not None
        last_good = None
        if answer.first_bad is not None:
            before = [
                commit
                for commit in (self.request.good, *order)
                if commit in self.commits
                and self.commits[commit].side == GOOD
                and self.repository.is_ancestor(commit, answer.first_bad)
            ]
            last_good = before[-1] if before else self.request.good
            count = max(len(self.runs[one]) for one in (last_good, answer.first_bad))
            for one in (last_good, answer.first_bad):
                self._measure(one, count)
        for commit in self.commits:
            self.commits[commit].values = self._values(commit, len(self.runs.get(commit, ())))
        good, bad = (self.commits[one].values for one in (self.request.good, self.request.bad))
        places = {commit: place for place, commit in enumerate((self.request.good, *order))}
        return Bisection(
            experiment=self.request.scenario.experiment,
            command=self.request.command,
            quantity=self.quantity,
            worse=self.request.worse,
            threshold=self.request.threshold,
            middle=(sum(good) / len(good) + sum(bad) / len(bad)) / 2,
            level=self.judge.level,
            range=len(order),
            # A merge base of good and bad may be among them, which comes before all.
            commits=tuple(sorted(self.commits.values(), key=lambda one: places.get(one.sha, -1))),
            first_bad=None if answer.first_bad is None else self.commits[answer.first_bad],
            last_good=None if last_good is None else self.commits[last_good],
            candidates=tuple((one, self.repository.subject(one)) for one in answer.candidates),
            said={} if answer.first_bad is None else self.repository.said(answer.first_bad),
            log=self.repository.log(),
            runs={} if last_good is None else {one: self.runs[one] for one in (last_good, str(answer.first_bad))},
        )

    def _measure(self, commit: str, count: int, word: str | None = None) -> None:
        """Have so many runs of a commit.

        Raises `UnusableError` if it has no kernel, a run fails in it, or a run has no value.
        """
        if len(self.runs.get(commit, ())) >= count:
            return
        known = self.commits.setdefault(
            commit, Commit(sha=commit, subject=self.repository.subject(commit), role=word or "")
        )
        name = self._name(commit)
        if not known.kernel:
            self.say(name)
            began = time.monotonic()
            kernel = self.builder.kernel_of(commit)
            if kernel.anew:
                self.say(f"{name}: its kernel was built in {time.monotonic() - began:.0f} s")
            known.kernel, known.release, known.sha256 = (
                str(kernel.built.linux),
                kernel.built.release,
                kernel.built.sha256,
            )
        try:
            plan = repeats([(commit, self.request.scenario, count)])
            runs = self.run(plan, f"linux:{known.kernel}", commit[:SHORT])[commit]
        except ParamError:
            raise
        except SojournError as error:
            message = f"a run fails in its kernel: {error}"
            raise UnusableError(message) from error
        if self.quantity is None:
            [self.quantity] = quantities.chosen([self.request.metric], runs[0])
        if any(quantities.value(self.quantity, run) is None for run in runs):
            message = f"a run has no {self.request.metric}"
            raise UnusableError(message)
        self.runs[commit] = runs

    def _values(self, commit: str, count: int) -> list[float]:
        assert self.quantity is not None
        found = [quantities.value(self.quantity, run) for run in self.runs.get(commit, ())[:count]]
        return [value for value in found if value is not None]

    def _skip(self, commit: str, reason: str) -> str:
        # It may hold what a guest or a compiler said.
        reason = printable(" ".join(reason.split()))
        self.commits[commit].reason = reason
        self.say(f"{self._name(commit)} is skipped: {reason}")
        return "skip"

    def _mean(self, values: list[float]) -> str:
        assert self.quantity is not None
        number = tables.number(sum(values) / len(values), self.quantity.digits)
        return f"{self.request.metric} {number}{' ' if self.quantity.unit else ''}{self.quantity.unit}"

    def _name(self, commit: str) -> str:
        return f"{commit[:SHORT]} ({self.commits[commit].subject})"
