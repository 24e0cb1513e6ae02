"""`sojourn study FILE.toml --out DIR`: a study of one's own, judged and drawn as those of papers are."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from sojourn import _native, backends, bounds
from sojourn.cli import options

_ABOUT = """\
Runs every combination of the lists in FILE.toml, judges the claims of the file by the runs, and draws its exhibits.
Writes into DIR: study.md and report.html (claims, figures, tables), claims.json, figures/, tables/ (mean and 95 %
interval of each quantity in each cell) and every run. Prints the tables and the verdicts.

  title = "Does FQ-PIE protect a call?"
  experiment = "voip"            as in `sojourn sweep`: experiment, its options, repeat, seed
  repeat = 5
  quantities = ["mos"]           one or more of: {quantities}
  [vary]
  qdisc = ["fq_pie", "fq_codel"]
  flows_up = [1, 8, 64]
  [[claims]]                     a mean over the runs of a cell, against a bound or another cell
  says = "FQ-PIE protects a call as well as FQ-CoDel."
  for = ["flows_up"]             for each value of these axes
  of = "mos"
  at = {{ qdisc = "fq_pie" }}
  less = {{ qdisc = "fq_codel" }}
  is = "> -0.1"                  holds if the 95 % interval is above, fails if it is below, else cannot be told
  [[exhibits]]
  title = "The call beside uploads"
  kind = "lines"                 lines (along, lines, panels), heat map (along, up, panels) or table
  along = "flows_up"
  lines = "qdisc"

A claim that fails is a result, not an error: the exit status is then 0, or 1 with --strict. However a study was
stopped, the same command goes on from there.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("study", help="run a study of your own, judge its claims, draw it")
    parser.about = _about
    parser.add_argument("file", metavar="FILE.toml", type=Path, help="the study; see above")
    parser.add_argument("--strict", action="store_true", help="exit with status 1 if a claim fails")
    group = parser.add_argument_group("runs")
    options.add_repeat(group, "runs of each cell (default: the file's, or 10)")
    options.add_workers(group)
    options.add_cluster(group)
    options.add_backend(group)
    options.add_store(group)
    options.add_output(
        parser, "print the claims as a JSON list", "the folder for claims, figures, tables and runs", out_required=True
    )
    parser.set_defaults(handler=handle)


def _about(_: argparse.Namespace) -> str:
    import textwrap

    from sojourn.study.quantities import QUANTITIES

    names = [f"{name} NAME" if known.argument else name for name, known in QUANTITIES.items()]
    lines = textwrap.wrap(", ".join(names), 84)
    return _ABOUT.format(quantities=f"\n{' ' * 33}".join(lines))


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.cli.reproduction import describe_exhibits, write_exhibits
    from sojourn.store.claims import to_json
    from sojourn.study import file

    backend = backends.named(options.backend_of(args))
    study = file.load(args.file, repeat=args.repeat, backend=backend.name)
    number = len(study.cells) * study.sweep.repeat
    bounds.check_plan(number)
    backends.reach(backend)
    texts = [cell.text for cell in study.sweep.cells]
    name = ("study", backend.spec, study.sweep.keys, texts, study.sweep.repeat)
    folder = options.result_folder(args, *name, runs=number)
    means = options.means(args, folder, study.sweep.name, backend)
    with options.say_how_to_go_on():
        outcome = study.run(means)
    from sojourn.report.exhibit import Report, verdicts
    from sojourn.report.result import of_claims, of_records
    from sojourn.store.index import store_beside
    from sojourn.study import page
    from sojourn.study.shown import exhibits

    claims = tuple(study.judge(outcome.evidence))
    shown = tuple(exhibits(study, outcome.evidence))
    whole = Report(
        title=study.head.title,
        reference=study.head.about or "",
        result=of_claims(claims, shown) if claims else of_records(study.axes.names, shown[-1]),
        command=options.command_line(),
        facts=(
            ("runs", f"{outcome.runs}, {study.sweep.repeat} of each of {len(study.cells)} cells"),
            ("back end", backend.name),
            ("version", _native.__version__),
            ("claims", ", ".join(f"{count} {word}" for word, count in verdicts(claims))),
        ),
        setup="Each cell is a combination of the values of the axes: "
        + "; ".join(f"{axis}: {', '.join(map(str, values))}" for axis, values in study.values.items())
        + ".",
        exhibits=shown,
        claims=claims,
        claimed="the study says",
        store=store_beside(means.store, folder),
    )
    write_exhibits(folder, whole)
    folder.write("study.md", page.document(whole, images="figures", form="svg"))
    print(to_json(claims) if args.json else "\n\n".join(describe_exhibits(whole, hidden="")))
    folder.finish()
    print(f"{outcome.runs} runs of {len(study.cells)} cells: {args.out}", file=sys.stderr)
    return 1 if args.strict and any(claim.verdict == "fails" for claim in claims) else 0
