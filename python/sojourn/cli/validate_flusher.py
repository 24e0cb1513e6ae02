"""`sojourn validate flusher`: the flusher of the simulator against the daemon on the kernel."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from sojourn import backends
from sojourn.cli import options
from sojourn.errors import ParamError
from sojourn.files import check_target

#: Options of other validations, which mean nothing here.
_OTHERS = ("links", "qdisc", "rtt", "cc", "page", "flows_up", "flows_down", "count", "sequences", "earlier")
DEFAULT_DURATION = "120s"


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.kernel.find import find
    from sojourn.store.folder import ResultFolder, plan_name, write_file
    from sojourn.store.run_store import RunStore
    from sojourn.study.paper import Profile
    from sojourn.study.plan import Means
    from sojourn.validate import flusher, flusher_page
    from sojourn.validate.execute import spec_of

    _check(args)
    duration = args.duration or DEFAULT_DURATION
    repeats = {"linux": 3 if args.repeat is None else args.repeat, "sim": args.sim_repeat or 10}
    seed = 1 if args.seed is None else args.seed
    profile = Profile(duration=duration, long_duration=duration, repeat=1, other_repeat=1)
    bed = flusher.bed(profile, seed)
    parts = _parts(args.only, flusher.PARTS)
    cells = flusher.cells(parts)
    only = None if args.only is None else ",".join(parts)
    for cell in cells:
        bed.scenario(cell).normalized("linux")
    kernel_name = options.one_kernel(args)
    kernel = backends.named(spec_of("linux", kernel_name))
    backends.reach(kernel)
    folder = None
    if args.out is not None:
        name = plan_name("validate", flusher.NAME, only, duration, seed, repeats, *filter(None, [kernel_name]))
        folder = ResultFolder(args.out, force=args.force, plan=name, again=True)
    path = options.store_of(args, folder)
    store = None if path is None else RunStore(path)
    print(f"{len(cells)} cells: {len(cells) * repeats['linux']} runs on the kernel", file=sys.stderr)
    observations = {}
    with options.say_how_to_go_on("the same command goes on from there" if path else "--out DIR keeps finished runs"):
        for backend in (kernel, backends.SIMULATOR):
            means = Means(workers=args.workers, progress=backend.name, store=store, backend=backend)
            observations[backend.name] = flusher.run(bed, cells, repeats[backend.name], means)
    compared = flusher.compare(observations["sim"], observations["linux"])
    entries = [row.to_plain() for row in compared.rows]
    print(json.dumps(entries, indent=1, allow_nan=False) if args.json else flusher_page.terminal(compared))
    command = (
        f"sojourn validate flusher --duration {duration} --repeat {repeats['linux']} --sim-repeat {repeats['sim']}"
    )
    command += "" if only is None else f" --only {only}"
    command += "" if kernel_name is None else f" --kernel {kernel_name}"
    facts = {
        "cells": str(len(cells)),
        "runs of a cell": f"kernel {repeats['linux']}, simulator {repeats['sim']}; seeds from {seed} on",
        "measured window": duration,
        "kernel": f"Linux {find(kernel_name).release}",
    }
    if folder is not None:
        for form, data in flusher_page.figure(compared).items():
            folder.write(f"figures/flusher.{form}", data)
        folder.write("validate.json", json.dumps(entries, indent=1, allow_nan=False) + "\n")
        report = folder.write("validate.md", flusher_page.page(compared, command, facts, "figures/flusher.png"))
        print(f"report: {report}", file=sys.stderr)
    if args.document is not None:
        from sojourn.plots.save import for_page

        picture = _picture(args.document)
        write_file(picture, for_page(flusher_page.figure(compared)["png"]))
        full = f"{command} --document {args.document.name}"
        write_file(args.document, flusher_page.page(compared, full, facts, f"images/{picture.name}"))
        print(f"document: {args.document}", file=sys.stderr)
    if folder is not None:
        folder.finish()
    return 1 if compared.differs else 0


def _picture(document: Path) -> Path:
    """Return where the picture of a page is."""
    return document.parent / "images" / f"{document.stem}.webp"


def _parts(only: str | None, known: Sequence[str]) -> tuple[str, ...]:
    """Return the parts that were asked for, in their own order."""
    if only is None:
        return tuple(known)
    named = only.split(",")
    for i, name in enumerate(named):
        if name not in known or name in named[:i]:
            message = f"only is {only!r}, but must be parts of flusher, each once: {', '.join(known)}"
            raise ParamError(message)
    return tuple(part for part in known if part in named)


def _check(args: argparse.Namespace) -> None:
    for name in _OTHERS:
        value = getattr(args, name)
        if value is not None:
            option = {"earlier": "with"}.get(name, name.replace("_", "-"))
            message = f"{option} is {value!r}, but the cells of flusher are those of its paper: leave it out"
            raise ParamError(message)
    if args.backend not in (None, ["linux"]):
        message = f"backend is {', '.join(args.backend)}, but flusher is compared with linux only"
        raise ParamError(message)
    for name in ("repeat", "sim_repeat", "workers"):
        value = getattr(args, name)
        if value is not None and value < 1:
            message = f"{name.replace('_', '-')} is {value}, but must be at least 1"
            raise ParamError(message)
    if args.document is not None:
        check_target(args.document, "document", force=args.force)
        check_target(_picture(args.document), "document", force=args.force)
