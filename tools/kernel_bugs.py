"""Look for the known bugs of Linux in three kernels and in the simulator, and write docs/kernel-bugs.md.

    python -m tools.kernel_bugs --measure   plays all cases; writes docs/data/kernel-bugs.json and the page; 2 min
    python -m tools.kernel_bugs             writes the page from docs/data/kernel-bugs.json and the cases alone

The cases are in python/sojourn/regress/bugs. tests/test_kernel_bugs.py says whether the page is current.
"""

import json
import subprocess
import sys
import textwrap
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from sojourn.regress.bugs import cases, words
from sojourn.regress.bugs.judge import Finding

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs/data/kernel-bugs.json"
PAGE = ROOT / "docs/kernel-bugs.md"
KERNELS = ("6.1", "6.12", "7.3")
WIDTH = 120

HEAD = """# Known bugs of the kernel

<!-- Written by tools/kernel_bugs.py; do not edit. -->

This project measures queue disciplines and TCP of Linux, and compares them with models that were written anew from
standards and papers. On the way some bugs of Linux were met. Each is a case here: a scenario of a few seconds, the
reading that shows the bug, and what is right. Only what contradicts a standard, the manual, or what the code itself
says is called a bug. [What surprises](#surprises) and contradicts none of these is at the end.

`sojourn kernel bugs` plays the cases on any kernel in virtual time, and says of each whether the bug is present:

<!-- not run: kernel -->

    sojourn kernel bugs --kernel 7.3
    sojourn kernel bugs red-idle pie-probability --kernel 6.1 --kernel 7.3
    sojourn kernel bugs --kernel 7.3 --report red-idle

The exit status is 1 if a bug is present, so the command is a test of a repair. `--report` prints the text for the
maintainers with the values that were measured. [A bench for kernel developers](guides/kernel-developers.md) says how to
build a kernel of your own.
"""


def measure() -> Json:
    """Play all cases on all kernels."""
    words_ = [sys.executable, "-m", "sojourn", "kernel", "bugs", "--json"]
    for name in KERNELS:
        words_ += ["--kernel", name]
    done = subprocess.run(words_, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(2)
    found: Json = json.loads(done.stdout)
    return found


def page(data: Json) -> str:
    """Return the page."""
    found = {one["name"]: one for one in data["bugs"]}
    bugs = cases.bugs()
    tested = [one["where"] for one in data["bugs"][0]["kernels"]]
    lines = [HEAD, "## Overview", "", f"| bug | {' | '.join(tested)} |", "|---|" + "---|" * len(tested)]
    for bug in bugs:
        verdicts = (one["verdict"] for one in found[bug.name]["kernels"])
        lines.append(f"| [{bug.title}](#{bug.name}) | {' | '.join(verdicts)} |")
    for bug in bugs:
        lines += ["", *section(bug, found[bug.name])]
    lines += ["", "## Surprises", "", prose("These contradict no rule that we know of. They cost us time.")]
    for one in cases.surprises():
        lines += ["", prose(f"**{one.title}.** In `{one.component}`. {one.text}")]
    return "\n".join(lines) + "\n"


def section(bug: cases.Bug, found: Json) -> list[str]:
    """Return the lines about a bug."""
    lines = [f"## {bug.name}", "", prose(f"**{bug.title}.** In `{bug.component}`."), ""]
    lines += [prose(f"*What is right:* {bug.expected} ({bug.what})."), "", prose(bug.rule), ""]
    lines += [prose(f"*Why:* {bug.cause}"), "", "| where | reading | verdict |", "|---|---|---|"]
    for one in found["kernels"]:
        lines.append(f"| {one['where']} | {cell(one['reading'], bug)} | {one['verdict']} |")
        lines += [f"| {one['where']}, {also['what']} | {cell(also['reading'], bug)} | |" for also in one["also"]]
    for one in found["simulator"]:
        lines.append(f"| simulator, {one['where']} | {cell(one['reading'], bug)} | {one['verdict']} |")
    there = [Finding(**{**one, "also": ()}) for one in found["kernels"]]
    lines += ["", "Text for the maintainers:", "", "```text", words.report(bug, there), "```"]
    return lines


def cell(reading: str, bug: cases.Bug) -> str:
    """Return a reading in a table; what a script says as code."""
    return "`" + reading.replace("|", "\\|") + "`" if bug.script else reading


def prose(text: str) -> str:
    """Return a text in lines."""
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, break_long_words=False)


def main() -> None:
    """Do what the command line says."""
    parser = ArgumentParser(prog="kernel_bugs", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    if parser.parse_args().measure:
        DATA.write_text(json.dumps(measure(), indent=1) + "\n")
    PAGE.write_text(page(json.loads(DATA.read_text())))


if __name__ == "__main__":
    main()
