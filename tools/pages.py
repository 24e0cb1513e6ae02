"""pages [PAGE...]: makes the pages that are made from runs, those that are not current; `make pages` sets up first.

The pages are in docs/pages.toml. A page's build is the hash of its commands and of the sources that its numbers depend
on; it stands in the page's head, with the kernel and the number of runs. A page whose build is that of the sources is
current. Runs are kept in out/pages, so that a killed page goes on, and one whose sources in Python alone have changed
takes the runs that are there.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import ctypes
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
REGISTRY, COSTS, OUT = "docs/pages.toml", "docs/data/pages.json", "out/pages"
#: What a page says of itself that is not current.
STALE = "Stale: made with build {build}; the sources have changed since."
#: The build of a page that was made before pages had one.
UNKNOWN = "unknown"
#: The longest line of a block.
LONGEST = 120
#: Files that are sources.
SUFFIXES = {".rs", ".py", ".toml", ".j2", ".c", ".h"}
_BUILD = re.compile(r"(?:Page build `|made with build )([0-9a-z]+)")
_REGION = "<!-- made: {name} -->\n{text}\n<!-- end -->\n"
#: A bar of one of the commands.
_BAR = re.compile(r"(\d+)/(\d+) \[")
_FOLDER = re.compile(r"\{out\}[\w-]*")
_PR_SET_PDEATHSIG = 1
#: The crates that the build of the compiled part is a hash of, in the order of crates/sojourn-py/build.rs.
_OF_THE_EXTENSION = ("units", "qdisc", "tcp", "wifi", "flusher", "bed", "sim")

Json = dict[str, Any]


class Refused(Exception):
    """One sentence about what cannot be done."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of the registry; docs/pages.toml says what its keys mean."""

    name: str
    file: str
    commands: tuple[str, ...]
    crates: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    whole: bool = False
    needs: str = ""
    regions: tuple[Json, ...] = ()
    copies: Mapping[str, str] = field(default_factory=dict)

    def sources(self) -> list[str]:
        """Return the folders whose files its numbers depend on, each relative to the repository."""
        return [*(f"crates/sojourn-{crate}/src" for crate in self.crates), *self.folders]


def registry(root: Path) -> dict[str, Page]:
    """Return the pages by name, in the order in which they are made."""
    plain = tomllib.loads((root / REGISTRY).read_text(encoding="utf-8"))
    found = {}
    for name, page in plain["pages"].items():
        others = [plain.get("everywhere", {}), plain.get("with_kernel", {}) if page.get("needs") else {}, page]
        lists = {
            key: tuple(dict.fromkeys(one for each in others for one in each.get(key, ())))
            for key in ("crates", "folders")
        }
        commands = tuple(" ".join(one.split()) for one in page["commands"])
        regions = tuple(page.get("regions", ()))
        found[name] = Page(name=name, **(page | lists | {"commands": commands, "regions": regions}))
    return found


def without_comments(source: bytes) -> bytes:
    """Return the lines of a Rust source that are not wholly a comment."""
    return b"".join(line for line in source.splitlines(keepends=True) if not line.lstrip().startswith(b"//"))


def hash_of(root: Path, folder: str) -> str:
    """Return a hash of the names of the sources below a folder and of their bytes, without the comments of Rust.

    Raises
    ------
    Refused
        If there are none.
    """
    digest, files = hashlib.sha256(), sorted(one for one in (root / folder).rglob("*") if one.suffix in SUFFIXES)
    if not files:
        message = f"{folder} has no sources, but docs/pages.toml names it"
        raise Refused(message)
    for one in files:
        data = one.read_bytes()
        if one.suffix == ".rs":
            data = without_comments(data)
        digest.update(f"{one.relative_to(root).as_posix()}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()[:12]


def parts(root: Path, page: Page) -> dict[str, str]:
    """Return the hash of each source of a page, and of its commands."""
    commands = hashlib.sha256("\n".join(page.commands).encode()).hexdigest()[:12]
    return {"commands": commands} | {folder: hash_of(root, folder) for folder in page.sources()}


def build_of(found: Mapping[str, str]) -> str:
    """Return the build of a page by the hashes of its sources."""
    return hashlib.sha256(json.dumps(dict(found), sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True, kw_only=True)
class State:
    """What a page says of itself, and what its sources say: builds, and whether it says that it is stale."""

    made: str
    now: str
    says_stale: bool

    @property
    def current(self) -> bool:
        """Whether the page is of the sources that there are."""
        return self.made == self.now

    @property
    def honest(self) -> bool:
        """Whether it says so, or says that it is not."""
        return self.current != self.says_stale


def state(root: Path, page: Page) -> State:
    """Return the state of a page."""
    head = region(root, page) or ""
    found = _BUILD.search(head)
    made = found[1] if found else UNKNOWN
    return State(made=made, now=build_of(parts(root, page)), says_stale=STALE.format(build=made) in head)


def region(root: Path, page: Page) -> str | None:
    """Return the head of a page, or `None` if it has none or was never made."""
    file = root / page.file
    found = _find(file.read_text(encoding="utf-8"), page.name) if file.exists() else None
    return None if found is None else found[1]


def _find(text: str, name: str) -> re.Match[str] | None:
    return re.search(rf"<!-- made: {re.escape(name)} -->\n(.*?)\n?<!-- end -->\n", text, re.DOTALL)


def put(text: str, name: str, within: str) -> str:
    """Return a page's text with a region replaced; a head that is not there yet goes below the title.

    Raises
    ------
    Refused
        If there is neither.
    """
    made, found = _REGION.format(name=name, text=within), _find(text, name)
    if found is not None:
        return text[: found.start()] + made + text[found.end() :]
    title = re.match(r"# .*\n\n", text)
    if title is None:
        message = f"there is no region {name!r} to be made: put <!-- made: {name} --> and <!-- end --> where it goes"
        raise Refused(message)
    return f"{text[: title.end()]}{made}\n{text[title.end() :]}"


def mark(root: Path, page: Page) -> bool:
    """Have a page say whether it is stale; return whether that changed it."""
    found, path = state(root, page), root / page.file
    if found.honest:
        return False
    head = re.sub(r"^Stale: .*\n*", "", region(root, page) or "")
    notice = "" if found.current else STALE.format(build=found.made)
    both = "\n\n".join(one for one in (notice, head) if one)
    path.write_text(put(path.read_text(encoding="utf-8"), page.name, both), encoding="utf-8")
    return True


def why_stale(root: Path, page: Page, cost: Mapping[str, Any]) -> str:
    """Return what has changed since a page was made."""
    before, now = cost.get("sources"), parts(root, page)
    if state(root, page).made == UNKNOWN or before is None:
        return "made before pages had a build"
    changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return "changed: " + ", ".join(changed)


# What is made of results.


def markdown(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column is words."""
    rule = [":--", *("--:" for _ in heads[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, rule, *rows))


def columns_of(text: str, columns: Sequence[str]) -> str:
    """Return tables of Markdown with some of their columns; a heading above one is bold."""
    shown: list[str] = []
    places: list[int] = []
    for line in text.splitlines():
        if line.startswith("## "):
            title, _, rest = line.removeprefix("## ").partition(" (")
            shown += [f"**{title}**" + (f" ({rest}" if rest else "")]
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if columns[0] in cells:
                places = [cells.index(name) for name in columns]
            shown.append("| " + " | ".join(cells[place] for place in places) + " |")
        else:
            shown.append(line)
    return "\n".join(shown).strip()


def claims_of(text: str, names: Sequence[str]) -> str:
    """Return lines of the command's table of claims, as a block."""
    claims = {claim["id"]: claim for claim in json.loads(text)}
    rows = [("claim", "verdict", "value [95 % interval]", "says")]
    for claim in (claims[name] for name in names):
        ends = "" if claim["low"] == claim["high"] else f" [{claim['low']:.4g}, {claim['high']:.4g}]"
        value = f"{claim['value']:.4g}{ends} {claim['unit']}".strip()
        rows.append((claim["id"], claim["verdict"], value, claim["says"]))
    widths = [max(len(row[place]) for row in rows) for place in range(3)]
    lines = ["    " + "  ".join([*(f"{row[i]:<{width}}" for i, width in enumerate(widths)), row[3]]) for row in rows]
    return "\n".join(line if len(line) <= LONGEST else f"{line[: LONGEST - 4]} ..." for line in lines)


def tuned(text: str) -> str:
    """Return what fresh seeds say of the setting that a search found, of the default, and of their difference."""
    plain = json.loads(text)
    metrics = {"utilisation": ("utilisation", 1.0, 4), "delay": ("delay (ms)", 1.0, 1)}
    metrics |= {"delay_p95": ("95th percentile (ms)", 1.0, 0), "fct": ("file (s)", 1e-3, 1)}

    def row(name: str, found: Mapping[str, Sequence[float]], sign: str = "") -> list[str]:
        shown = []
        for metric, (_, scale, digits) in metrics.items():
            mean, low, high = (f"{scale * end:{sign}.{digits}f}" for end in found[metric])
            shown.append(f"{mean} [{low}, {high}]")
        return [name, *shown]

    rows = []
    for name in ("best", "default"):
        one = plain["check"][name]
        setting = one["tc"].partition(" target ")[2].replace(" interval ", ", interval ")
        rows.append(row(f"{name}: target {setting}", {key: of[0]["mean"] for key, of in one["metrics"].items()}))
    less = {key: of["difference"] for key, of in plain["differences"]["default"].items()}
    return markdown(("", *(head for head, _, _ in metrics.values())), [*rows, row("best - default", less, "+")])


#: Of a map, at least so much of what the best carries, and at most so many times its delay.
CARRIES, TIMES = 0.93, 1.25


def mapped(text: str) -> str:
    """Return how near the rule of thumb, the rural setting and the default come to the best in the cells of a map."""
    cells = [row for row in csv.DictReader(text.splitlines()) if row["filled"] == "True"]
    names = {"the rule": "rule", "rural (65 ms, 300 ms)": "rural", "default (5 ms, 100 ms)": "default"}
    rows = []
    for words, name in names.items():
        share = [float(row[f"{name}_utilisation"]) / float(row["best_utilisation"]) for row in cells]
        times = [float(row[f"{name}_delay"]) / float(row["best_delay"]) for row in cells]
        carries = [one >= CARRIES for one in share]
        both = sum(one and time <= TIMES for one, time in zip(carries, times, strict=True))
        rows.append((words, f"{sum(carries)} of {len(cells)} cells", f"{min(share):.0%}", f"{both} of {len(cells)}"))
    heads = (f"carries at least {CARRIES:.0%} of the best", "the least it carries")
    return markdown(("", *heads, f"and delay at most {TIMES:g} times the best's"), rows).replace("%", " %")


def made_of(out: Path, region: Mapping[str, Any]) -> str:
    """Return the text of a region."""
    text = (out / region["from"]).read_text(encoding="utf-8")
    if "columns" in region:
        return columns_of(text, region["columns"])
    if "claims" in region:
        return claims_of(text, region["claims"])
    return {"tune.json": tuned, "map.csv": mapped}[region["from"]](text)


# How a page is made.


@dataclass(kw_only=True)
class Making:
    """The pages that are made now, and how far that is.

    Attributes
    ----------
    root, workers
        The repository, and processes to run in.
    costs
        What each page cost last time.
    pages
        Those to be made.
    """

    root: Path
    workers: int
    costs: dict[str, Json]
    pages: Sequence[Page]
    shown: str = ""

    def run(self) -> list[str]:
        """Make the pages; return those that could not be made."""
        failed = []
        for place, page in enumerate(self.pages, start=1):
            lacks = lacking(page.needs)
            if lacks:
                print(f"{page.name}: left out, {lacks}", file=sys.stderr)
                failed.append(page.name)
                continue
            try:
                self.make(page, place)
            except Refused as error:
                print(f"{page.name}: {error}", file=sys.stderr)
                failed.append(page.name)
        return failed

    def make(self, page: Page, place: int) -> None:
        """Make a page."""
        found, out = parts(self.root, page), self.root / OUT / page.name
        store = self.root / OUT / "runs" / f"{page.name}-{extension_build()}"
        folders = [
            self.root / OUT / one.format(out=page.name) for one in sorted(set(_FOLDER.findall(str(page.commands))))
        ]
        spent = self.root / OUT / f"{page.name}.json"
        before = read(spent)
        if before.get("of") != [extension_build(), found["commands"]]:
            # Runs of another build are of no more use, and results of another command are another plan's.
            for other in (*store.parent.glob(f"{page.name}-????????????????"), *folders):
                if other != store:
                    keep_measured(other, store)
                    shutil.rmtree(other, ignore_errors=True)
            before = {"of": [extension_build(), found["commands"]]}
        clock = before.get("seconds", 0.0)
        began = time.monotonic()
        write(spent, before)
        page_file = self.root / page.file
        try:
            for number, command in enumerate(page.commands, start=1):
                log = self.root / OUT / f"{page.name}-{number}.log"
                self.command(page, place, words(command, out, page_file, self.root, store, self.workers), log)
        finally:
            seconds = clock + time.monotonic() - began
            write(spent, before | {"seconds": seconds})
        text = page_file.read_text(encoding="utf-8")
        for region in page.regions:
            text = put(text, region["name"], made_of(out, region))
        for source, target in page.copies.items():
            shutil.copyfile(out / source, self.root / target)
        runs = count_runs([store, *folders])
        kernel = kernel_of(page.needs)
        says = f"Page build `{build_of(found)}`{f', kernel {kernel}' if kernel else ''}, {runs} runs"
        if page.whole:  # which says below by which command it was made
            says += "."
        else:
            says += " by\n\n" + "\n".join(f"    {shown_command(command, page)}" for command in page.commands)
        says = "\n\n".join([says, *carried(store)])
        page_file.write_text(put(text, page.name, says), encoding="utf-8")
        self.costs[page.name] = {"seconds": round(seconds), "runs": runs, "workers": self.workers, "sources": found}
        write(self.root / COSTS, self.costs)
        self.say(f"{page.name}: {runs} runs, {duration(seconds)}", end="\n")

    def command(self, page: Page, place: int, line: Sequence[str], log: Path) -> None:
        """Run a command; its output goes to a log.

        Raises
        ------
        Refused
            If it fails: its last words.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as log_file:
            # On a terminal of its own a command says often how far it is.
            ours, theirs = os.openpty()
            running = subprocess.Popen(
                line, cwd=self.root, stdout=log_file, stderr=theirs, start_new_session=True, preexec_fn=_begin
            )
            os.close(theirs)
            last = b""
            try:
                # At the end reading fails: nobody holds the other side any more.
                with contextlib.suppress(OSError):
                    while block := os.read(ours, 1 << 16):
                        log_file.write(block)
                        last = (last + block)[-4000:]
                        self.show(page, place, last.decode(errors="replace"))
                status = running.wait()
            except BaseException:
                with contextlib.suppress(ProcessLookupError):
                    running.send_signal(signal.SIGINT)
                running.wait()
                raise
            finally:
                os.close(ours)
        # `sojourn validate` says with 1 that a cell differs, which is a result.
        if status not in ({0, 1} if "validate" in line else {0}):
            last_line = re.split(r"[\r\n]+", last.decode(errors="replace").strip())[-1]
            message = f"the command ended with status {status}: {last_line} ({log.relative_to(self.root)})"
            raise Refused(message)

    def show(self, page: Page, place: int, output: str) -> None:
        """Show how far the pages are, by what a command said last."""
        bars = _BAR.findall(output)
        runs = f"{bars[-1][0]} of {bars[-1][1]} runs" if bars else "begins"
        done = int(bars[-1][0]) / max(int(bars[-1][1]), 1) if bars else 0.0
        cost = [self.costs.get(one.name, {}).get("seconds", 0) for one in self.pages[place - 1 :]]
        left = sum(cost) - done * cost[0]
        width, count = 24, len(self.pages)
        full = "#" * int(width * (place - 1 + done) / count)
        self.say(
            f"[{full:<{width}}] page {place} of {count}, {page.name}: {runs}; last time all left took {duration(left)}"
        )

    def say(self, text: str, end: str = "") -> None:
        """Show a line in the place of the last one; in a log, only whole ones."""
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{text:<{len(self.shown)}}{end}")
            sys.stderr.flush()
            self.shown = "" if end else text
        elif end:
            print(text, file=sys.stderr)


def _begin() -> None:
    """Have a command take an interrupt, whatever was begun in the background, and one when this process is killed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


def words(command: str, out: Path, page: Path, root: Path, store: Path, workers: int) -> list[str]:
    """Return a command as it is run: this interpreter's `sojourn`, with its folders, replacing what is there."""
    places = {"out": out.relative_to(root).as_posix(), "page": page.relative_to(root).as_posix()}
    line = shlex.split(command.format(**places))
    assert line[0] == "sojourn"
    more = ["--workers", str(workers)]
    # A search goes on in its folder only if that is not to be replaced; it keeps what it measured there.
    if line[1] in {"reproduce", "validate", "l4s"}:
        store.parent.mkdir(parents=True, exist_ok=True)
        more += ["--force", "--store", store.relative_to(root).as_posix()]
    return [sys.executable, "-m", "sojourn", *line[1:], *more]


def shown_command(command: str, page: Page) -> str:
    """Return a command as the page has it."""
    return command.format(out=f"out/{page.name}", page=page.file)


def count_runs(folders: Iterable[Path]) -> int:
    """Return how many runs lie in stores, and in the journals of searches."""
    stored = {one.name for folder in folders if folder.is_dir() for one in folder.iterdir() if len(one.name) == 32}
    journals = [folder / "measures.jsonl" for folder in folders if (folder / "measures.jsonl").is_file()]
    return len(stored) + sum(one.read_bytes().count(b"\n") for one in journals)


def keep_measured(old: Path, new: Path) -> None:
    """Give a new store what an older build measured on a kernel: any build takes that."""
    if (old / "measured").is_dir() and not new.exists():
        new.mkdir()
        for name in ("store.json", "measured"):
            (old / name).rename(new / name)


def carried(store: Path) -> list[str]:
    """Return a sentence for each time that runs of another build were taken (tools/carry_runs.py)."""
    path = store / "carried.json"
    return [
        f"{one['runs']} of its runs were made with build `{one['from']}` of the simulator.\n"
        f"{one['sample']} of them were drawn and made again with build `{one['to']}`: they are the same."
        for one in (json.loads(path.read_text(encoding="utf-8")) if path.is_file() else [])
    ]


def extension_build() -> str:
    """Return the build of the compiled part."""
    from sojourn import _native

    return str(_native.__build__)


def check_extension(root: Path) -> None:
    """Raise `Refused` if the compiled part is not of the sources that are there (crates/sojourn-py/build.rs)."""
    value = 0xCBF2_9CE4_8422_2325

    def add(data: bytes) -> None:
        nonlocal value
        for byte in data + b"\0":
            value = ((value ^ byte) * 0x0100_0000_01B3) & 0xFFFF_FFFF_FFFF_FFFF

    def below(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
        for path in sorted(folder.iterdir()):
            inner = f"{name}/{path.name}"
            if path.is_dir():
                yield from below(path, inner)
            elif path.suffix == ".rs":
                yield inner, path

    for crate in _OF_THE_EXTENSION:
        for name, path in below(root / f"crates/sojourn-{crate}/src", f"sojourn-{crate}"):
            add(name.encode())
            add(without_comments(path.read_bytes()))
    if f"{value:016x}" != extension_build():
        message = f"the compiled part is of build {extension_build()}, the sources of {value:016x}: run scripts/setup"
        raise Refused(message)


def lacking(needs: str) -> str:
    """Return what this machine lacks for a page, in words; empty if nothing."""
    return "" if not needs or kernel_of(needs) else f"needs a kernel in virtual time (sojourn kernel build): {needs}"


def kernel_of(needs: str) -> str:
    """Return the release of the kernel that a page is made with; empty without one."""
    from sojourn.errors import SojournError
    from sojourn.kernel.find import find

    if not needs:
        return ""
    with contextlib.suppress(SojournError):
        found = find(wifi=needs == "cells")
        return found.release if found.virtual_time else ""
    return ""


def duration(seconds: float) -> str:
    """Return a time as one reads it."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def read(path: Path) -> Json:
    """Return a file of JSON; empty if it is not there."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def write(path: Path, plain: Mapping[str, Any]) -> None:
    """Write a file of JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(plain, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def listing(root: Path, pages: Iterable[Page], costs: Mapping[str, Json]) -> list[str]:
    """Return a line for each page: whether it is current, why not, and what it cost last time."""
    lines = []
    for page in pages:
        found, cost = state(root, page), costs.get(page.name, {})
        why = "current" if found.current else f"stale, {why_stale(root, page, cost)}"
        last = f"{duration(cost['seconds'])}, {cost['runs']} runs" if cost else "cost not known"
        lines.append(f"{page.name:<24} {last:<24} {why}" + ("" if found.honest else "; its head does not say so"))
    return lines


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", metavar="PAGE", nargs="*", help="those of docs/pages.toml (default: all)")
    parser.add_argument("--list", action="store_true", help="say which pages are stale and why, and make none")
    parser.add_argument("--mark", action="store_true", help="have heads say which pages are stale, and make none")
    parser.add_argument("--again", action="store_true", help="make current pages, too")
    parser.add_argument("--workers", metavar="N", type=int, default=2, help="processes to run in (default 2)")
    args = parser.parse_args(arguments)
    known, costs = registry(root), read(root / COSTS)
    try:
        for name in args.pages:
            if name not in known:
                message = f"page is {name!r}, but must be one of {', '.join(known)}"
                raise Refused(message)
        chosen = [page for name, page in known.items() if name in (args.pages or known)]
        if args.workers < 1:
            message = f"workers is {args.workers}, but must be at least 1"
            raise Refused(message)
        if args.list:
            print("\n".join(listing(root, chosen, costs)))
            return 0
        if args.mark:
            for page in chosen:
                if mark(root, page):
                    print(f"{page.file}: {page.name}")
            return 0
        check_extension(root)
        pages = [page for page in chosen if args.again or not state(root, page).current]
        print("\n".join(listing(root, chosen, costs)), file=sys.stderr)
        cost = [costs.get(page.name, {}) for page in pages]
        total, runs = (sum(one.get(key, 0) for one in cost) for key in ("seconds", "runs"))
        unknown = sum(not one for one in cost)
        print(
            f"{len(pages)} of {len(chosen)} to make; last time they took {duration(total)} and {runs} runs"
            + (f", and {unknown} of them have no such number" if unknown else ""),
            file=sys.stderr,
        )
        failed = Making(root=root, workers=args.workers, costs=costs, pages=pages).run()
    except Refused as error:
        print(f"pages: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\npages: stopped; the same command goes on from there", file=sys.stderr)
        return 130
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
