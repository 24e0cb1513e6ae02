"""`sojourn list`: experiments, pages, disciplines, presets, congestion controls, and what only the kernel has."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

from sojourn import _native, disciplines, tables
from sojourn.experiments import BUILT_IN, Experiment
from sojourn.experiments.options import defaults, own
from sojourn.experiments.pages import pages

_ABOUT = (
    "Lists the experiments, web pages, queue disciplines with their parameters, presets and congestion controls.\n"
    "The part `linux` lists what of disciplines and congestion controls only the linux back end has."
)

PARTS = ("experiments", "pages", "qdiscs", "presets", "cc", "linux")

#: What the kernel has and the simulator has not.
ONLY_LINUX: dict[str, list[dict[str, str]]] = {
    "qdiscs": [],
    "cc": [],
    "words": [
        {
            "text": "cake nat",
            "summary": "hosts before address translation, which needs connection tracking",
        },
        {"text": "cake fwmark 0xff", "summary": "tins by firewall marks under this mask"},
    ],
}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("list", help="list experiments, pages, disciplines and presets", description=_ABOUT)
    parser.add_argument(
        "part", nargs="?", choices=PARTS, metavar="PART", help=f"one of {', '.join(PARTS)} (default: all)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(handler=handle)


def catalogue() -> dict[str, Any]:
    """Return all that there is to list."""
    return {
        "experiments": [
            {"name": one.name, "summary": one.summary, "options": _options(one)} for one in BUILT_IN.values()
        ],
        "pages": [
            {
                "name": page.name,
                "summary": page.summary,
                "objects": len(page.objects),
                "bytes": sum(page.objects),
                "interval": page.interval,
                "source": page.source,
            }
            for page in pages().values()
        ],
        "qdiscs": list(disciplines.MODELLED.values()),
        "presets": json.loads(_native.list_presets()),
        "cc": _native.congestion_controls(),
        "linux": ONLY_LINUX,
    }


def _options(experiment: Experiment) -> list[dict[str, str | int]]:
    """Return what not all experiments take."""
    default = defaults(experiment.options)
    return [
        {"name": name, "help": declared.help, "default": default[name]}
        for name, declared in own(experiment.options).items()
    ]


def handle(args: argparse.Namespace) -> int:
    """Print it."""
    found = catalogue()
    parts = PARTS if args.part is None else (args.part,)
    if args.json:
        print(json.dumps({part: found[part] for part in parts}))
        return 0
    printers: dict[str, Callable[[Any], str]] = {
        "experiments": _experiments,
        "pages": _pages,
        "qdiscs": _qdiscs,
        "presets": _presets,
        "cc": _cc,
        "linux": _linux,
    }
    print("\n\n".join(printers[part](found[part]) for part in parts))
    return 0


def _experiments(found: list[dict[str, Any]]) -> str:
    body = tables.text(["experiment", "what runs"], [[one["name"], one["summary"]] for one in found], left=2)
    return f"{body}\nA TOML file with the keys of a scenario is an experiment too."


def _pages(found: list[dict[str, Any]]) -> str:
    rows = [[one["name"], one["summary"], one["interval"]] for one in found]
    return tables.text(["page (--page)", "what is fetched", "every"], rows, left=2)


def _qdiscs(found: list[dict[str, Any]]) -> str:
    parts = []
    for one in found:
        lines = [f"{one['kind']}: {one['summary']}"]
        lines += [f"    {_parameter(parameter)}" for parameter in one["parameters"]]
        if one.get("source"):
            lines.append(f"    source: {one['source']}")
        parts.append("\n".join(lines))
    return "Queue disciplines (--qdisc TEXT takes what tc takes)\n\n" + "\n".join(parts)


def _parameter(one: dict[str, Any]) -> str:
    default = "" if one["default"] is None else f", default {one['default']}"
    return f"{one['name']} ({one['unit']}{default}): {one['help']}"


def _presets(found: list[dict[str, Any]]) -> str:
    lines = ["Presets (each direction is resolved from its own link rate)", ""]
    for one in found:
        lines.append(f"{one['name']}: {one['summary']}")
        lines += [f"    {rate:>8}  {text}" for rate, text in one["expands"].items()]
    return "\n".join(lines)


def _cc(found: list[str]) -> str:
    return f"Congestion controls (--cc): {', '.join(found)}"


def _linux(found: dict[str, list[dict[str, str]]]) -> str:
    lines = ["On the linux back end also (--backend linux; parameters as tc has them)", ""]
    for one in (*found["qdiscs"], *found["cc"]):
        option = f"--qdisc {one['kind']}" if "kind" in one else f"--cc {one['name']}"
        lines.append(f"{option}: {one['summary']}")
    lines += [f'--qdisc "{one["text"]}": {one["summary"]}' for one in found["words"]]
    return "\n".join(lines)
