"""`sojourn list`: experiments, pages, disciplines, presets, congestion controls, and what only the kernel has."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from sojourn import _native, disciplines, schema, tables
from sojourn.bounds import Plain
from sojourn.experiments import BUILT_IN, Experiment
from sojourn.experiments.options import defaults, own
from sojourn.experiments.pages import pages

_ABOUT = (
    "Lists the experiments, web pages, queue disciplines with their parameters, presets and congestion controls.\n"
    "The part `linux` lists what of disciplines and congestion controls only the linux back end has."
)

PARTS = ("experiments", "pages", "qdiscs", "presets", "cc", "linux")


class OnlyLinux(Struct, frozen=True, kw_only=True):
    """What the kernel has and the simulator has not: disciplines, congestion controls, and words of disciplines."""

    qdiscs: list[dict[str, str]] = []
    cc: list[dict[str, str]] = []
    words: list[dict[str, str]]


class Preset(Struct, frozen=True):
    """A preset, and what it stands for at some rates."""

    expands: dict[str, str]
    name: str
    summary: str


class Catalogue(Struct, frozen=True, kw_only=True):
    """All that there is to list."""

    experiments: list[Mapping[str, Plain]]
    pages: list[Mapping[str, Plain]]
    qdiscs: list[disciplines.Kind]
    presets: list[Preset]
    cc: list[str]
    linux: OnlyLinux


ONLY_LINUX = OnlyLinux(
    words=[
        {
            "text": "cake nat",
            "summary": "hosts before address translation, which needs connection tracking",
        },
        {"text": "cake fwmark 0xff", "summary": "tins by firewall marks under this mask"},
    ]
)


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("list", help="list experiments, pages, disciplines and presets", description=_ABOUT)
    parser.add_argument(
        "part", nargs="?", choices=PARTS, metavar="PART", help=f"one of {', '.join(PARTS)} (default: all)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(handler=handle)


def catalogue() -> Catalogue:
    """Return all that there is to list."""
    return Catalogue(
        experiments=[{"name": one.name, "summary": one.summary, "options": _options(one)} for one in BUILT_IN.values()],
        pages=[
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
        qdiscs=list(disciplines.MODELLED.values()),
        presets=_known_presets(),
        cc=_native.congestion_controls(),
        linux=ONLY_LINUX,
    )


def _options(experiment: Experiment) -> list[Mapping[str, Plain]]:
    """Return what not all experiments take."""
    default = defaults(experiment.options)
    return [
        {"name": name, "help": declared.help, "default": default[name]}
        for name, declared in own(experiment.options).items()
    ]


def handle(args: argparse.Namespace) -> int:
    """Print it."""
    parts = PARTS if args.part is None else (args.part,)
    if args.json:
        plain = msgspec.to_builtins(catalogue())
        print(json.dumps({part: plain[part] for part in parts}))
        return 0
    printers: dict[str, Callable[[], str]] = {
        "experiments": _experiments,
        "pages": _pages,
        "qdiscs": _qdiscs,
        "presets": _presets,
        "cc": _cc,
        "linux": _linux,
    }
    print("\n\n".join(printers[part]() for part in parts))
    return 0


def _known_presets() -> list[Preset]:
    return schema.decoder(list[Preset]).decode(_native.list_presets())


def _experiments() -> str:
    body = tables.text(["experiment", "what runs"], [[one.name, one.summary] for one in BUILT_IN.values()], left=2)
    return f"{body}\nA TOML file with the keys of a scenario is an experiment too."


def _pages() -> str:
    rows = [[page.name, page.summary, page.interval] for page in pages().values()]
    return tables.text(["page (--page)", "what is fetched", "every"], rows, left=2)


def _qdiscs() -> str:
    lines = []
    for kind in disciplines.MODELLED.values():
        lines.append(f"{kind.kind}: {kind.summary}")
        lines += [f"    {_parameter(parameter)}" for parameter in kind.parameters]
        lines += [f"    source: {kind.source}"] if kind.source else []
    return "Queue disciplines (--qdisc TEXT takes what tc takes)\n\n" + "\n".join(lines)


def _parameter(parameter: disciplines.Parameter) -> str:
    default = "" if parameter.default is None else f", default {parameter.default}"
    return f"{parameter.name} ({parameter.unit}{default}): {parameter.help}"


def _presets() -> str:
    lines = ["Presets (each direction is resolved from its own link rate)", ""]
    for preset in _known_presets():
        lines.append(f"{preset.name}: {preset.summary}")
        lines += [f"    {rate:>8}  {text}" for rate, text in preset.expands.items()]
    return "\n".join(lines)


def _cc() -> str:
    return f"Congestion controls (--cc): {', '.join(_native.congestion_controls())}"


def _linux() -> str:
    lines = ["On the linux back end also (--backend linux; parameters as tc has them)", ""]
    for one in (*ONLY_LINUX.qdiscs, *ONLY_LINUX.cc):
        option = f"--qdisc {one['kind']}" if "kind" in one else f"--cc {one['name']}"
        lines.append(f"{option}: {one['summary']}")
    lines += [f'--qdisc "{one["text"]}": {one["summary"]}' for one in ONLY_LINUX.words]
    return "\n".join(lines)
