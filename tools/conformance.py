"""Run packetdrill scripts on kernels and on Sojourn's TCP, and write the pages of conformance.

    python -m tools.conformance --folder DIR                 runs the scripts of Linux 7.3, which are in DIR
                                                             (tools/testing/selftests/net/packetdrill of its source),
                                                             and writes docs/data/conformance.json and the page
    python -m tools.conformance --suite google --folder DIR  does so for those of google/packetdrill (gtests/net/tcp),
                                                             with docs/data/conformance-google.json and its page
    python -m tools.conformance                              writes both pages from the data alone

The reasons of failures are in docs/data/conformance.toml, and of Linux's scripts on our TCP in
crates/sojourn-drill/data/linux-7.3.toml. tests/test_drill.py says whether the pages are current.
"""

import json
import subprocess
import sys
import tomllib
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[1]
REASONS = ROOT / "docs/data/conformance.toml"
OURS = ROOT / "crates/sojourn-drill/data/linux-7.3.toml"
WORDS = ("passed", "failed", "damaged", "not applicable")
FORMAT = "sojourn-conformance/1"

HEAD = """# {title}

<!-- Written by tools/conformance.py; do not edit. -->

{about}"""


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A suite of scripts, and the page of what became of them."""

    #: How its files are named.
    name: str
    title: str
    about: str
    kernels: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """What its scripts are run on."""
        return (*self.kernels, "ours")

    @property
    def data(self) -> Path:
        """Where the outcomes are."""
        return ROOT / f"docs/data/{self.name}.json"

    @property
    def page(self) -> Path:
        """The page."""
        return ROOT / f"docs/{self.name}.md"


SUITES = {
    "linux": Suite(
        name="conformance",
        title="Conformance of TCP",
        about="""\
packetdrill is the conformance suite of Linux's TCP. A script says which segments arrive and which calls an application
makes, and which segments must leave and when. These are the scripts of Linux 7.3
(`tools/testing/selftests/net/packetdrill`). They were run in guests of three kernels in virtual time
([how](kernel.md#packetdrill-scripts)), and against Sojourn's own TCP. Only IPv4 was tested. The public suite, from
which they come, has [a page of its own](conformance-google.md).

The rows of Sojourn's TCP are about the code that runs in simulations, but for one thing: the applications of a
simulation read at once. With such a receiver 112 of the 119 pass as well. The other seven are about data that is not
read, and so say nothing of a simulation: `tcp_ooo-before-and-after-accept`, `tcp_ooo_rcv_mss`, `tcp_rcv_big_endseq`,
`tcp_rcv_neg_window`, `tcp_rcv_wnd_shrink_allowed`, `tcp_rcv_wnd_shrink_nomem` and `tcp_rcv_zero_wnd_fin`.
""",
        kernels=("6.1", "6.12", "7.3"),
    ),
    "google": Suite(
        name="conformance-google",
        title="Conformance of TCP: the scripts of google/packetdrill",
        about="""\
These are the 162 scripts of [google/packetdrill](https://github.com/google/packetdrill) (`gtests/net/tcp`, commit
2c4001c), which are older than [those in Linux](conformance.md) and more. They were run in guests of two kernels in
virtual time, and against Sojourn's own TCP. Who has the suite runs it again with
`python -m tools.conformance --suite google --folder DIR`. The settings that its scripts have in common are read from
its `defaults.sh`; no shell runs.
""",
        kernels=("6.1", "7.3"),
    ),
}


def run(suite: Suite, folder: Path) -> Json:
    """Run the scripts everywhere, and return what became of them."""
    tested: Json = {}
    scripts: dict[str, Json] = {}
    files = sorted(folder.rglob("*.pkt"))
    for column in suite.columns:
        where = ["--ours"] if column == "ours" else ["--kernel", column]
        words = [sys.executable, "-m", "sojourn", "kernel", "drill", "--json", *where, *map(str, files)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(2)
        found = json.loads(done.stdout)
        tested[column] = found["tested"]
        for one in found["scripts"]:
            script = Path(one.pop("script")).relative_to(folder).as_posix()
            scripts.setdefault(script, {})[column] = plain(one)
    made = [{"script": name, "outcomes": outcomes} for name, outcomes in sorted(scripts.items())]
    return {"format": FORMAT, "kernels": list(suite.kernels), "tested": tested, "scripts": made}


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


def page(suite: Suite, data: Json) -> str:
    """Return the page."""
    columns = suite.columns
    lines = [HEAD.format(title=suite.title, about=suite.about), "## Outcomes", ""]
    lines.append(f"| | {' | '.join(data['tested'][column] for column in columns)} |")
    lines.append("|---|" + "---:|" * len(columns))
    for word in WORDS:
        counts = [sum(one["outcomes"][column]["outcome"] == word for one in data["scripts"]) for column in columns]
        if word == "damaged" and not any(counts):
            continue
        lines.append(f"| {word} | {' | '.join(map(str, counts))} |")
    why = reasons()
    lines += ["", "## What failed", "", "| script | on | what came | why |", "|---|---|---|---|"]
    for one in data["scripts"]:
        same: dict[tuple[str, str], list[str]] = {}
        for column in columns:
            found = one["outcomes"][column]
            if found["outcome"] in ("failed", "damaged"):
                reason = why.get((one["script"], column), "not explained yet")
                same.setdefault((found["why"], reason), []).append(column)
        for (what, reason), where in same.items():
            lines.append(f"| {cell(one['script'])} | {', '.join(where)} | {cell(what)} | {text(reason)} |")
    lines += ["", "## What was not applicable", "", f"| what a script needs | {' | '.join(columns)} |"]
    lines.append("|---|" + "---:|" * len(columns))
    needs: dict[str, dict[str, int]] = {}
    for one in data["scripts"]:
        for column in columns:
            found = one["outcomes"][column]
            if found["outcome"] == "not applicable":
                count = needs.setdefault(found["why"].removeprefix("it needs "), dict.fromkeys(columns, 0))
                count[column] += 1
    for what, count in sorted(needs.items()):
        need, _, because = what.partition(", and ")
        cells = " | ".join(str(count[column] or "") for column in columns)
        lines.append(f"| {cell(need)}: {text(because)} | {cells} |")
    lines += ["", "## All scripts", "", f"| script | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for one in data["scripts"]:
        cells = " | ".join(one["outcomes"][column]["outcome"] for column in columns)
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
    parser.add_argument("--suite", choices=SUITES, default="linux", help="which scripts DIR has (default: linux)")
    parser.add_argument("--folder", metavar="DIR", type=Path, help="where the scripts are, also in folders below it")
    args = parser.parse_args()
    folder: Path | None = args.folder
    if folder is not None:
        if not any(folder.rglob("*.pkt")):
            parser.error(f"folder is {folder}, but must be a folder of scripts")
        suite = SUITES[args.suite]
        suite.data.write_text(json.dumps(run(suite, folder), indent=1) + "\n")
    for suite in SUITES.values():
        suite.page.write_text(page(suite, json.loads(suite.data.read_text())))


if __name__ == "__main__":
    main()
