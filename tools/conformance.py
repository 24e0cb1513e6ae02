"""Run the packetdrill scripts of Linux 7.3 on three kernels and on Sojourn's TCP, and write docs/conformance.md.

    python -m tools.conformance FOLDER   runs the scripts of tools/testing/selftests/net/packetdrill of a kernel's
                                         source, and writes docs/data/conformance.json and the page
    python -m tools.conformance          writes the page from docs/data/conformance.json alone

The reasons of failures are in docs/data/conformance.toml, and for our TCP in crates/sojourn-drill/data/linux-7.3.toml.
tests/test_drill.py says whether the page is current.
"""

import json
import subprocess
import sys
import tomllib
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs/data/conformance.json"
REASONS = ROOT / "docs/data/conformance.toml"
OURS = ROOT / "crates/sojourn-drill/data/linux-7.3.toml"
PAGE = ROOT / "docs/conformance.md"
KERNELS = ("6.1", "6.12", "7.3")
COLUMNS = (*KERNELS, "ours")
WORDS = ("passed", "failed", "not applicable")
FORMAT = "sojourn-conformance/1"
WIDTH = 120

HEAD = """# Conformance of TCP

<!-- Written by tools/conformance.py; do not edit. -->

packetdrill is the conformance suite of Linux's TCP. A script says which segments arrive and which calls an application
makes, and which segments must leave and when. These are the scripts of Linux 7.3
(`tools/testing/selftests/net/packetdrill`). They were run in guests of three kernels in virtual time
([how](kernel.md#packetdrill-scripts)), and against Sojourn's own TCP. Only IPv4 was tested.
"""


def run(folder: Path) -> Json:
    """Run the scripts everywhere, and return what became of them."""
    tested: Json = {}
    scripts: dict[str, Json] = {}
    for column in COLUMNS:
        where = ["--ours"] if column == "ours" else ["--kernel", column]
        words = [sys.executable, "-m", "sojourn", "kernel", "drill", "--json", *where, str(folder)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(2)
        found = json.loads(done.stdout)
        tested[column] = found["tested"]
        for one in found["scripts"]:
            scripts.setdefault(Path(one.pop("script")).name, {})[column] = plain(one)
    made = [{"script": name, "outcomes": outcomes} for name, outcomes in sorted(scripts.items())]
    return {"format": FORMAT, "kernels": list(KERNELS), "tested": tested, "scripts": made}


def plain(one: Json) -> Json:
    """Return an outcome with its sentence."""
    why = {
        "failed": f"line {one.get('line')}: expected {one.get('expected')}, but {one.get('got')}",
        "damaged": f"line {one.get('line')}: expected {one.get('expected')}, but found {one.get('got')}",
        "not applicable": f"it needs {one.get('needs')}, and {one.get('why')}",
    }.get(one["outcome"])
    return {"outcome": one["outcome"], **({} if why is None else {"why": why})}


def reasons() -> dict[tuple[str, str], str]:
    """Return why scripts fail, by script and column."""
    found = {}
    for one in tomllib.loads(REASONS.read_text())["reason"]:
        for column in one["on"]:
            found[one["script"], column] = " ".join(one["why"].split())
    for one in tomllib.loads(OURS.read_text())["script"]:
        if one["outcome"] == "failed":
            found[one["name"], "ours"] = " ".join(one["why"].split())
    return found


def page(data: Json) -> str:
    """Return the page."""
    lines = [HEAD, "## Outcomes", "", f"| | {' | '.join(data['tested'][column] for column in COLUMNS)} |"]
    lines.append("|---|" + "---:|" * len(COLUMNS))
    for word in WORDS:
        counts = (sum(one["outcomes"][column]["outcome"] == word for one in data["scripts"]) for column in COLUMNS)
        lines.append(f"| {word} | {' | '.join(map(str, counts))} |")
    why = reasons()
    lines += ["", "## What failed", "", "| script | on | what came | why |", "|---|---|---|---|"]
    for one in data["scripts"]:
        same: dict[tuple[str, str], list[str]] = {}
        for column in COLUMNS:
            found = one["outcomes"][column]
            if found["outcome"] == "failed":
                reason = why.get((one["script"], column), "not explained yet")
                same.setdefault((found["why"], reason), []).append(column)
        for (what, reason), columns in same.items():
            lines.append(f"| {cell(one['script'])} | {', '.join(columns)} | {cell(what)} | {text(reason)} |")
    lines += ["", "## What was not applicable", "", "| what a script needs | 6.1 | 6.12 | 7.3 | ours |"]
    lines.append("|---|" + "---:|" * len(COLUMNS))
    needs: dict[str, dict[str, int]] = {}
    for one in data["scripts"]:
        for column in COLUMNS:
            found = one["outcomes"][column]
            if found["outcome"] == "not applicable":
                count = needs.setdefault(found["why"].removeprefix("it needs "), dict.fromkeys(COLUMNS, 0))
                count[column] += 1
    for what, count in sorted(needs.items()):
        need, _, because = what.partition(", and ")
        cells = " | ".join(str(count[column] or "") for column in COLUMNS)
        lines.append(f"| {cell(need)}: {text(because)} | {cells} |")
    lines += ["", "## All scripts", "", f"| script | {' | '.join(COLUMNS)} |", "|---|" + "---|" * len(COLUMNS)]
    for one in data["scripts"]:
        cells = " | ".join(one["outcomes"][column]["outcome"] for column in COLUMNS)
        lines.append(f"| {cell(one['script'])} | {cells} |")
    return "\n".join(lines) + "\n"


def cell(words: str) -> str:
    """Return text of a script as code in a table."""
    return "`" + words.replace("|", "\\|") + "`"


def text(words: str) -> str:
    """Return a reason as text in a table."""
    return words.replace("|", "\\|").replace("<", "\\<").replace("_", "\\_")


def main() -> None:
    """Do what the command line says."""
    parser = ArgumentParser(prog="conformance", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path)
    folder: Path | None = parser.parse_args().folder
    if folder is not None:
        if not folder.is_dir():
            parser.error(f"folder is {folder}, but must be a folder of scripts")
        DATA.write_text(json.dumps(run(folder), indent=1) + "\n")
    PAGE.write_text(page(json.loads(DATA.read_text())))


if __name__ == "__main__":
    main()
