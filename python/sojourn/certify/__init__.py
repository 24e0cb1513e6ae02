"""The test cases of a draft as data, and what becomes of a congestion control in each."""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

from sojourn.backends import Backend
from sojourn.errors import ParamError
from sojourn.scenario import Flow, Scenario
from sojourn.study.verdict import Check, all_of
from sojourn.units import bits_per_s

#: What an opportunity of a trace carries, bits; a frame of ours, and its payload, bytes.
_OPPORTUNITY, _FRAME, _PAYLOAD = 1504 * 8, 1514, 1448


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """What became of a case."""

    #: Its section of the draft's appendix, and its title.
    section: str
    title: str
    #: `holds`, `fails`, `cannot tell` or `not runnable`.
    verdict: str
    #: The comparisons with their numbers and intervals, or why it cannot be run.
    reason: str
    #: Whose bounds they are, and how the case was read.
    bound: str = ""


def load(name: str) -> dict[str, Any]:
    """Return the cases of a draft, as its file has them."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def certify(name: str, flow: Flow, seeds: Sequence[int], backend: Backend) -> Iterator[Certified]:
    """Run each case with each seed; one that the back end refuses is not runnable there.

    Raises `ParamError` if it refuses the flow, and as `Backend.run`.
    """
    book = load(name)
    Scenario(experiment="certify", flows=(flow,), **book["scenario"]).normalized(backend.name)
    for number, case in enumerate(book["cases"], 1):
        section, title = f"A.{number}", case["title"]
        why = case.get("not_runnable")
        if "steps" in case and backend.name != "sim":
            why = f"the rate steps, and a link of the back end {backend.name} has one"
        if why:
            yield Certified(section=section, title=title, verdict="not runnable", reason=why)
            continue
        with tempfile.TemporaryDirectory() as folder:
            scenario = _scenario(book["scenario"], case, flow, Path(folder) / "trace")
            try:
                texts = [replace(scenario, seed=seed).normalized(backend.name) for seed in seeds]
                records = [json.loads(backend.run(text)) for text in texts]
            except ParamError as error:
                yield Certified(section=section, title=title, verdict="not runnable", reason=str(error))
                continue
        rate = case["steps"][-1][0] if "steps" in case else bits_per_s(str(scenario.up)) / 1e6
        checks = [_check(bar, records, rate) for bar in case["bars"]]
        known = [check for check in checks if check is not None]
        if len(known) < len(checks):
            why = "a run does not have what is compared"
            yield Certified(section=section, title=title, verdict="cannot tell", reason=why, bound=case["bound"])
            continue
        found = all_of(known)
        yield Certified(section=section, title=title, verdict=found.verdict, reason=found.reason, bound=case["bound"])


def _scenario(common: dict[str, Any], case: dict[str, Any], flow: Flow, trace: Path) -> Scenario:
    keys = {**common, **case.get("scenario", {})}
    if "steps" in case:
        trace.write_text("".join(f"{at}\n" for at in _opportunities(case["steps"])), encoding="ascii")
        keys["trace_up"] = str(trace)
        del keys["up"]
    return Scenario(experiment="certify", flows=(replace(flow, **case.get("flow", {})),), **keys)


def _opportunities(steps: Sequence[tuple[float, float]]) -> Iterator[int]:
    """Yield when a packet may leave, ms; each step is Mbit/s, and for how many seconds. 2 s come before the window."""
    steps = [(steps[0][0], steps[0][1] + 2), *steps[1:]]
    begin = 0.0
    for mbit, seconds in steps:
        for number in range(round(mbit * 1e6 * seconds / _OPPORTUNITY)):
            yield round(begin + (number + 1) * _OPPORTUNITY / mbit / 1e3)
        begin += 1e3 * seconds


def _check(bar: dict[str, Any], records: Sequence[dict[str, Any]], rate: float) -> Check | None:
    from sojourn.stats import mean_interval

    relation, bound = bar["is"].split()[0], float(bar["is"].split()[1])
    values = [_read(bar["of"], record, bar["from"], bar["to"], rate) for record in records]
    there = [value for value in values if value is not None]
    if len(there) < len(values):
        return None
    unit = "%" if bar["of"].startswith(("share", "loss")) else "packets"
    what = f"{bar['of'].replace('_', ' ')} from {bar['from']} s to {bar['to']} s"
    found = mean_interval(there)
    # A claim that something is no worse fails only where it clearly is. A case must clearly hold as well.
    if found.low is not None and found.high is not None and found.low <= bound <= found.high and found.low < found.high:
        relation = relation.rstrip("=")
    return Check(what=what, interval=found, relation=relation, bound=bound, unit=unit)


def _read(of: str, record: dict[str, Any], begin: float, end: float, rate: float) -> float | None:
    """Return a quantity of the bins between two times: share of the rate or loss (%), queue or window (packets).

    It is `None` if the record does not have it.
    """
    series = record["series"]
    bins = [at for at, time in enumerate(series["t_s"]) if begin < time <= end]
    kind, _, how = of.partition("_")
    if kind == "loss":
        passed, lost = (_gains(series[key]["up"], bins) for key in ("packets", "drops"))
        return 100 * lost / (passed + lost) if passed + lost else None
    name = record["flows"][0]["name"]
    if kind == "queue":
        column = series["backlog_packets"]["up"]
    elif kind == "window":
        column = series["cwnd_segments"][name]
    else:
        column = [100 * mbit * _FRAME / _PAYLOAD / rate for mbit in series["goodput_mbit"][name]]
    there = [float(column[at]) for at in bins if column[at] is not None]
    statistics: dict[str, Callable[[list[float]], float]] = {"min": min, "max": max, "median": median, "": fmean}
    return statistics[how](there) if there else None


def _gains(counts: Sequence[int], bins: Sequence[int]) -> int:
    """Return by how much a running count grew."""
    return sum(later - before for before, later in pairwise([counts[at] for at in bins]))
