"""The outcome in words: tables for a terminal, tune.json, and the sentences about goals and the rural setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sojourn import tables
from sojourn.bounds import Plain
from sojourn.stats import Interval, mean_interval
from sojourn.tune import answer
from sojourn.tune.bench import Bench, Scored, Seeds
from sojourn.tune.goals import METRICS
from sojourn.tune.search import Request
from sojourn.tune.space import Setting, Space
from sojourn.tune.study import Compared, Tuning, compare, interval_at_worst

if TYPE_CHECKING:
    from sojourn.report import Figure, Report

FORMAT = "sojourn-tune/1"
#: Digits of numbers in tune.json: more would be noise.
_DIGITS = 6


def whole(outcome: Tuning, bench: Bench, space: Space, request: Request, seeds: Seeds) -> Mapping[str, Plain]:
    """Return what tune.json holds."""
    link, load = bench.link, bench.load
    best = outcome.best
    verdict, says = rural(outcome, request)
    text = best.setting.text
    return {
        "format": FORMAT,
        "qdisc": space.qdisc,
        "link": {
            "up": link.up,
            "down": link.down,
            "rtts_ms": list(link.rtts_ms),
            "limit": link.limit,
            "packet_ms": _short(link.packet_ms(bench.direction)),
        },
        "load": {
            "name": load.name,
            "direction": bench.direction,
            "congestion_control": bench.cc or load.congestion_control,
            "duration_s": link.duration_s,
        },
        "backend": bench.backend.name,
        "goals": [goal.text for goal in request.goals],
        "minimise": list(request.minimise),
        "searched": [
            {"name": knob.name, "low": _short(knob.low), "high": _short(knob.high), "unit": knob.unit}
            for knob in space.knobs
        ],
        "tried": len(outcome.tried) - len(outcome.known),
        "seeds": {
            name: [kind.start, kind.stop - 1]
            for name, kind in (("search", seeds.search), ("choice", seeds.choice), ("fresh", seeds.fresh))
        },
        "best": {name: _short(value) for name, value in best.setting.values.items()},
        "tc": answer.leaf(text),
        "tc_shaped": answer.shaped(text, getattr(link, bench.direction)),
        "sqm": answer.sqm(text, link, bench.direction),
        "fresh_seeds": {name: _triple(interval_at_worst(best, name)[1]) for name in load.metrics},
        "goals_met": outcome.met,
        "check": {name: _checked(one, load.metrics, link.rtts_ms) for name, one in named(outcome).items()},
        "differences": {
            name: {
                metric: {
                    "verdict": found.verdict,
                    "difference": _triple(found.at_worst),
                    "by_rtt": [
                        {"rtt_ms": rtt, "difference": _triple(one)}
                        for rtt, one in zip(link.rtts_ms, found.by_rtt, strict=True)
                    ],
                }
                for metric, found in differences(outcome, known, load.metrics).items()
            }
            for name, known in ((one.name, one) for one in outcome.known)
        },
        "rural": None if verdict is None else {"verdict": verdict, "says": says},
        "front_seeds": ["search", "choice"],
        "front": [_point(one, request, load.metrics) for one in outcome.front],
        "sensitivity": {
            name: None
            if found is None
            else {
                "surrogate_r2": _short(found.r2),
                "s1": {knob: _short(value) for knob, value in found.s1.items()},
                "st": {knob: _short(value) for knob, value in found.st.items()},
            }
            for name, found in outcome.sensitivity.items()
        },
    }


def differences(outcome: Tuning, known: Scored, metrics: Sequence[str]) -> dict[str, Compared]:
    """Return how the best differs from a known setting in each metric, by fresh seeds."""
    return {name: compare(outcome.best, known, name) for name in metrics}


def rural(outcome: Tuning, request: Request) -> tuple[str | None, str]:
    """Return where the rural setting is, in a few words and in a sentence.

    The words are `"on the front"`, `"within its uncertainty of the front"` or `"off the front"`.

    It is off if another setting is, by fresh seeds, nowhere worse for certain and somewhere better for certain. That
    setting is the one that led by most by the seeds before.
    """
    known = next((one for one in outcome.known if one.name == "rural"), None)
    if known is None:
        return None, ""
    here = words_of(known.setting)
    if outcome.rival is None:
        return "on the front", f"the rural setting ({here}) is on the front: of the settings tried none dominates it"
    found = {name: compare(outcome.rival, known, name) for name in request.axes}
    verdicts = {one.verdict for one in found.values()}
    rival = words_of(outcome.rival.setting)
    leads = "; ".join(_lead(name, one) for name, one in found.items())
    if "better" in verdicts and "worse" not in verdicts:
        return "off the front", f"the rural setting ({here}) is off the front: {rival} is ahead of it ({leads})"
    return (
        "within its uncertainty of the front",
        f"the rural setting ({here}) is within its uncertainty of the front: {rival} came nearest to dominating it "
        f"({leads})",
    )


def words_of(setting: Setting) -> str:
    """Return a setting without its limit, in short."""
    words = setting.text.split()[1:]
    if words[:1] == ["limit"] and len(words) > 2 and "depth" not in words:
        words = words[2:]
    return " ".join(words)


def unreachable(outcome: Tuning, bench: Bench, space: Space, request: Request) -> str:
    """Return the sentence about goals that no setting meets: how near one can come, by fresh seeds."""
    goal = max(request.goals, key=lambda goal: outcome.best.shortfall_of(goal, outcome.known))
    metric = METRICS[goal.metric]
    place, found = interval_at_worst(outcome.best, goal.metric)
    here = f" at an RTT of {bench.link.rtts_ms[place]:g}ms" if len(bench.link.rtts_ms) > 1 else ""
    ends = (
        "" if found.low is None or found.high is None else f" ({metric.text(found.low)} to {metric.text(found.high)})"
    )
    others = ", with all goals together," if len(request.goals) > 1 else ""
    return (
        f"goal {goal.text!r} cannot be met{others} by {space.qdisc} on this link: the nearest that "
        f"{len(outcome.tried)} settings came is {goal.metric} {metric.text(found.value)}{ends}{here}, with "
        f"{words_of(outcome.best.setting)}"
    )


def terminal(outcome: Tuning, bench: Bench, space: Space, request: Request) -> str:
    """Return what is printed."""
    link = bench.link
    text = outcome.best.setting.text
    parts = [_title(bench, space, request, outcome), _check_table(outcome, bench)]
    _, says = rural(outcome, request)
    if says:
        parts.append(says)
    if outcome.met:
        parts.append("\n".join(f"goal {goal}: {met}" for goal, met in outcome.met.items()))
    if any(outcome.sensitivity.values()):
        parts.append(_sensitivity_table(outcome, space))
    parts.append(answer.leaf(text))
    shaped = answer.shaped(text, getattr(link, bench.direction))
    parts.append("\n".join(["# where this device is to be the bottleneck", *shaped]))
    snippet = answer.sqm(text, link, bench.direction)
    if snippet is not None:
        parts.append("# OpenWrt, /etc/config/sqm\n" + snippet.rstrip("\n"))
    return "\n\n".join(parts)


def _title(bench: Bench, space: Space, request: Request, outcome: Tuning) -> str:
    link = bench.link
    rtts = ", ".join(f"{rtt:g}" for rtt in link.rtts_ms)
    request_text = "; ".join([*(goal.text for goal in request.goals), *(f"least {name}" for name in request.minimise)])
    return (
        f"{space.qdisc} on {link.down}/{link.up} (down/up), RTT {rtts} ms, load {bench.load.name} {bench.direction}, "
        f"{len(outcome.tried)} settings, {len(outcome.front)} on the front\n"
        f"wanted: {request_text}"
    )


def report_of(outcome: Tuning, bench: Bench, space: Space, request: Request, front: Figure, command: str) -> Report:
    """Return the report of a search; `front` is its figure."""
    from sojourn.report import Exhibit, Report
    from sojourn.report.result import shown
    from sojourn.report.table import Table

    text = outcome.best.setting.text
    numbers = {
        name: ", ".join(
            f"{metric} {shown(interval_at_worst(one, metric)[1], METRICS[metric].unit)}" for metric in request.axes
        )
        for name, one in named(outcome).items()
    }
    others = "".join(
        f" The {one.name} setting has {numbers[one.name]}." for one in outcome.known if one.setting.text != text
    )
    _, says = rural(outcome, request)
    heading, wanted = _title(bench, space, request, outcome).split("\n")
    lines = [*answer.shaped(text, getattr(bench.link, bench.direction))]
    return Report(
        title=f"Parameters of {space.qdisc} for a link",
        reference=f"{heading}; {wanted}.",
        result=f"The best setting is {text}: {numbers['best']}.{others}",
        command=command,
        facts=(*outcome.met.items(), ("back end", bench.backend.name)),
        setup="The numbers are of seeds that the search did not use, each at the RTT where it is worst.",
        exhibits=(
            Exhibit(
                name="check",
                title="The best setting beside the known ones",
                figures=(front,),
                table=Table.of("check", _checked_rows(outcome, bench), "Means and their 95 % intervals."),
                paragraphs=tuple(
                    filter(None, [says, answer.leaf(text), "Where this device is to be the bottleneck:", *lines])
                ),
            ),
        ),
    )


def _check_table(outcome: Tuning, bench: Bench) -> str:
    """Return the table of the fresh seeds, for a terminal."""
    headers, rows = _checked_rows(outcome, bench)
    note = "mean [95 % interval]" + ("; each at the RTT where it is worst" if len(bench.link.rtts_ms) > 1 else "")
    return tables.text(headers, rows, left=2) + "\n" + note


def _checked_rows(outcome: Tuning, bench: Bench) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of the table of the fresh seeds."""
    metrics = bench.load.metrics
    checked = named(outcome)
    seeds = len(outcome.best.samples[metrics[0]][0])
    headers = [f"{seeds} fresh seeds", "setting", *(_with_unit(name) for name in metrics)]
    rows = []
    for name, one in checked.items():
        cells = [name, words_of(one.setting)]
        for metric in metrics:
            _, found = interval_at_worst(one, metric)
            cells.append(tables.interval(found.value, found.low, found.high, METRICS[metric].digits))
        rows.append(cells)
    for known in outcome.known:
        if known.setting.text == outcome.best.setting.text:
            continue
        cells = [f"best - {known.name}", ""]
        for name, compared in differences(outcome, known, metrics).items():
            widest = compared.at_worst
            cells.append(tables.interval(widest.value, widest.low, widest.high, METRICS[name].digits))
        rows.append(cells)
    return headers, rows


def _sensitivity_table(outcome: Tuning, space: Space) -> str:
    names = [knob.name for knob in space.knobs]
    headers = ["what matters (total Sobol index)", *names, "surrogate R2"]
    rows = []
    for metric, found in outcome.sensitivity.items():
        if found is None:
            rows.append([metric, *["-"] * len(names), "-"])
        else:
            rows.append([metric, *(tables.number(found.st[name]) for name in names), tables.number(found.r2)])
    return tables.text(headers, rows)


def named(outcome: Tuning) -> dict[str, Scored]:
    """Return what was run with fresh seeds, by name."""
    named = {"best": outcome.best} | {one.name: one for one in outcome.known}
    if outcome.rival is not None and outcome.rival.setting.text not in {one.setting.text for one in named.values()}:
        named["rival of rural"] = outcome.rival
    return named


def _checked(one: Scored, metrics: Sequence[str], rtts_ms: Sequence[float]) -> Mapping[str, Plain]:
    return {
        "tc": answer.leaf(one.setting.text),
        "metrics": {
            name: [
                {"rtt_ms": rtt, "mean": _triple(mean_interval(values))}
                for rtt, values in zip(rtts_ms, one.samples[name], strict=True)
            ]
            for name in metrics
        },
    }


def _point(one: Scored, request: Request, metrics: Sequence[str]) -> Mapping[str, Plain]:
    worst: Mapping[str, float] = {name: _short(one.worst(name)) for name in metrics}
    return {
        "name": one.name or None,
        "params": {name: _short(value) for name, value in one.setting.values.items()},
        "tc": answer.leaf(one.setting.text),
        "worst": worst,
        "mean": {name: _short(one.mean(name)) for name in metrics},
        "runs": sum(len(values) for values in one.samples[request.axes[0]]),
    }


def _lead(name: str, found: Compared) -> str:
    """Return by how much."""
    metric = METRICS[name]
    least = found.at_worst
    ends = (
        ""
        if least.low is None or least.high is None
        else f" [{least.low:+.{metric.digits}f}, {least.high:+.{metric.digits}f}]"
    )
    unit = f" {metric.unit}" if metric.unit else ""
    return f"{name} {least.value:+.{metric.digits}f}{ends}{unit}"


def _with_unit(name: str) -> str:
    unit = METRICS[name].unit
    return f"{name} ({unit})" if unit else name


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _triple(found: Interval) -> list[float | None]:
    ends = [None if end is None else _short(end) for end in (found.low, found.high)]
    return [_short(found.value), *ends]
