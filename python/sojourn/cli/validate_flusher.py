"""`sojourn validate flusher`: the flusher of the simulator against the daemon on the kernel."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sojourn import backends
from sojourn.cli import options
from sojourn.errors import ParamError, refused
from sojourn.files import check_target, write_file

#: Options of other validations, which mean nothing here.
_OTHERS = ("links", "qdisc", "rtt", "cc", "page", "flows_up", "flows_down", "count", "sequences", "earlier")
DEFAULT_DURATION = "120s"


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.cells import in_world
    from sojourn.kernel.find import find
    from sojourn.study.paper import Profile
    from sojourn.validate import flusher, flusher_page
    from sojourn.validate.execute import Repeats, run_pairs, spec_of
    from sojourn.validate.judge import judge_all
    from sojourn.validate.part import Part, grid_entries, in_json

    _check(args)
    duration = args.duration or DEFAULT_DURATION
    repeats = Repeats(sim=args.sim_repeat or 10, kernel=3 if args.repeat is None else args.repeat)
    seed = 1 if args.seed is None else args.seed
    parts = _parts(args.only, flusher.PARTS)
    only = None if args.only is None else ",".join(parts)
    profile = Profile(duration=duration, long_duration=duration, repeat=1, other_repeat=1)
    cells = flusher.cells_of(parts, flusher.bed(profile, seed))
    kernel = options.one_kernel(args)
    backends.reach(backends.named(spec_of("linux", kernel)))
    folder = None
    if args.out is not None:
        runs = {"linux": repeats.kernel, "sim": repeats.sim}
        name = ("validate", flusher.NAME, only, duration, seed, runs, *filter(None, [kernel]))
        folder = options.result_folder(args, *name)
    means = options.means(args, folder)
    print(f"{len(cells)} cells: {len(cells) * repeats.kernel} runs on the kernel", file=sys.stderr)
    with options.say_how_to_go_on(means.store):
        ((_, ran),) = run_pairs(cells, repeats, in_world(means), kernel=kernel).items()
    rows = judge_all(ran, flusher.METRICS)
    command = f"sojourn validate flusher --duration {duration} --repeat {repeats.kernel} --sim-repeat {repeats.sim}"
    command += "" if only is None else f" --only {only}"
    command += "" if kernel is None else f" --kernel {kernel}"
    facts = {
        "cells": str(len(cells)),
        "runs of a cell": f"kernel {repeats.kernel}, simulator {repeats.sim}; seeds from {seed} on",
        "measured window": duration,
        "kernel": f"Linux {find(kernel).release}",
    }
    part = Part(name=flusher.NAME, command=command, facts=facts, entries=grid_entries(rows), scenarios={})
    entries = in_json(flusher_page.entries(part))
    print(entries if args.json else flusher_page.terminal(part))
    from sojourn.plots import save

    if folder is not None:
        save.write(folder, {"flusher": flusher_page.figure(rows)})
        folder.write("validate.json", f"{entries}\n")
        report = folder.write("validate.md", flusher_page.page(part, command, "figures/flusher.png"))
        print(f"report: {report}", file=sys.stderr)
    if args.document is not None:
        picture = _picture(args.document)
        write_file(picture, save.for_page(save.to_bytes(flusher_page.figure(rows), "png")))
        full = f"{command} --document {args.document.name}"
        write_file(args.document, flusher_page.page(part, full, f"images/{picture.name}"))
        print(f"document: {args.document}", file=sys.stderr)
    if folder is not None:
        folder.finish()
    return 1 if part.differs else 0


def _picture(document: Path) -> Path:
    """Return where the picture of a page is."""
    return document.parent / "images" / f"{document.stem}.webp"


def _parts(only: str | None, known: Sequence[str]) -> tuple[str, ...]:
    """Return the parts that were asked for, in their own order."""
    if only is None:
        return tuple(known)
    named = only.split(",")
    if len(set(named)) < len(named) or not set(named) <= set(known):
        raise refused(only, "only", f"must be parts of flusher, each once: {', '.join(known)}")
    return tuple(part for part in known if part in named)


def _check(args: argparse.Namespace) -> None:
    for option, value in options.explicit(args, _OTHERS):
        raise refused(value, option, "the cells of flusher are those of its paper: leave it out")
    if args.backend not in (None, ["linux"]):
        message = f"backend is {', '.join(args.backend)}, but flusher is compared with linux only"
        raise ParamError(message)
    for option, value in options.explicit(args, ("repeat", "sim_repeat", "workers")):
        if isinstance(value, int) and value < 1:
            raise refused(value, option, "must be at least 1")
    if args.document is not None:
        check_target(args.document, "document", force=args.force)
        check_target(_picture(args.document), "document", force=args.force)
