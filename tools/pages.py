"""pages [PAGE...]: makes the pages that are made from runs; `make pages` sets up first.

The pages are in docs/pages.toml. docs/data/pages.json has what each was made with: version, build and kernel, its runs
and their cost, hashes of its commands and of the frozen corpus (testdata/frozen.jsonl). A page is made again if one of
these hashes is another, or if it is named and --again is there. Runs are kept in out/pages, so that a killed page goes
on. Runs of an earlier build count if some that are drawn, made again, are the same (tools/carry_runs.py).

`--check` says before a release which pages still hold: by such a draw where runs are kept, else by the frozen corpus.
"""

from __future__ import annotations

import argparse
import contextlib
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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools import carry_runs, page_regions

ROOT = Path(__file__).resolve().parents[1]
REGISTRY, RECORDS, OUT = "docs/pages.toml", "docs/data/pages.json", "out/pages"
CORPUS = "testdata/frozen.jsonl"
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
    needs: str = ""
    regions: tuple[Json, ...] = ()
    copies: Mapping[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether its commands write all of it; else only its regions are made."""
        return "--document {page}" in self.commands[-1]


def registry(root: Path) -> dict[str, Page]:
    """Return the pages by name, in the order in which they are made."""
    pages = {}
    for name, page in tomllib.loads((root / REGISTRY).read_text(encoding="utf-8"))["pages"].items():
        commands = tuple(" ".join(one.split()) for one in page["commands"])
        pages[name] = Page(name=name, **(page | {"commands": commands, "regions": tuple(page.get("regions", ()))}))
    return pages


def without_comments(source: bytes) -> bytes:
    """Return the lines of a Rust source that are not wholly a comment."""
    return b"".join(line for line in source.splitlines(keepends=True) if not line.lstrip().startswith(b"//"))


def sources_of(root: Path, page: Page) -> dict[str, str]:
    """Return hashes of what decides whether a page is made again: its commands, and the frozen corpus."""
    commands = "\n".join(page.commands).encode()
    both = {"commands": commands, "corpus": (root / CORPUS).read_bytes()}
    return {name: hashlib.sha256(data).hexdigest()[:12] for name, data in both.items()}


def changed(root: Path, page: Page, record: Mapping[str, Any]) -> list[str]:
    """Return what has changed since a page was made: words for its hashes that are others."""
    words = {"commands": "its commands", "corpus": "the frozen corpus"}
    return [words[name] for name, value in sources_of(root, page).items() if record.get(name) != value]


def check(root: Path, page: Page, record: Mapping[str, Any], sample: int) -> tuple[bool | None, str]:
    """Return whether a page still holds, and why; `None` if that cannot be decided.

    Runs of the page that are kept are drawn and made again. Without any, the frozen corpus says whether the simulator
    does as it did.
    """
    others = changed(root, page, record)
    if "its commands" in others:
        return False, "its commands have changed since it was made"
    stores = sorted((root / OUT / "runs").glob(f"{page.name}-????????????????"))
    runs = [run for store in stores for run in carry_runs.draw(store, sample)]
    if runs:
        try:
            carry_runs.check(runs)
        except carry_runs.Differs as error:
            return False, str(error)
        return True, f"{len(runs)} of its runs, made again, are the same"
    if not others:
        return True, "no runs are kept; the frozen corpus is that with which it was made"
    return None, "cannot be decided: no runs are kept, and the frozen corpus has changed"


def _find(text: str, name: str) -> re.Match[str] | None:
    return re.search(rf"<!-- made: {re.escape(name)} -->\n(.*?)\n?<!-- end -->\n", text, re.DOTALL)


def put(text: str, name: str, within: str) -> str:
    """Return a page's text with a region replaced; one that is not there yet goes to the end."""
    made, found = _REGION.format(name=name, text=within), _find(text, name)
    if found is not None:
        return text[: found.start()] + made + text[found.end() :]
    return f"{text.rstrip()}\n\n{made}"


@dataclass(kw_only=True)
class Making:
    """The pages that are made now, and how far that is.

    Attributes
    ----------
    root, workers
        The repository, and processes to run in.
    records
        What each page was made with, and what it cost.
    pages
        Those to be made.
    """

    root: Path
    workers: int
    records: dict[str, Json]
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
        from sojourn.plots.save import for_page

        sources, out = sources_of(self.root, page), self.root / OUT / page.name
        store = self.root / OUT / "runs" / f"{page.name}-{extension_build()}"
        folders = [
            self.root / OUT / one.format(out=page.name) for one in sorted(set(_FOLDER.findall(str(page.commands))))
        ]
        spent = self.root / OUT / f"{page.name}.json"
        before = read(spent)
        if before.get("of") != [extension_build(), sources["commands"]]:
            # Results of another build or command are of no more use, and runs only if this build makes the same.
            for other in (*store.parent.glob(f"{page.name}-????????????????"), *folders):
                same = before.get("of", [None, None])[1] == sources["commands"]
                if other != store and not (other not in folders and same and self.carries(other)):
                    keep_measured(other, store)
                    shutil.rmtree(other, ignore_errors=True)
            before = {"of": [extension_build(), sources["commands"]]}
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
            text = put(text, region["name"], page_regions.made_of(out, region))
        for source, target in page.copies.items():
            data = (out / source).read_bytes()
            (self.root / target).write_bytes(for_page(data) if target.endswith(".webp") else data)
        runs = count_runs([store, *folders])
        record: Json = {"made": datetime.now(UTC).date().isoformat(), "version": version(), "build": extension_build()}
        record |= {"kernel": kernel_of(page.needs)} if page.needs else {}
        record |= {"seconds": round(seconds), "runs": runs, "workers": self.workers} | sources
        record |= {"carried": carried} if (carried := carry_runs.history(store)) else {}
        page_file.write_text(put(text, page.name, says(page, record)), encoding="utf-8")
        self.records[page.name] = record
        write(self.root / RECORDS, self.records)
        self.say(f"{page.name}: {runs} runs, {duration(seconds)}", end="\n")

    def carries(self, store: Path) -> bool:
        """Give the runs of an earlier build names of this one, if some that are drawn are the same; return whether."""
        try:
            carry_runs.carry(store, carry_runs.SAMPLE)
        except carry_runs.Differs as error:
            print(f"{store.name}: {error}", file=sys.stderr)
            return False
        return True

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
        cost = [self.records.get(one.name, {}).get("seconds", 0) for one in self.pages[place - 1 :]]
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


def says(page: Page, record: Mapping[str, Any]) -> str:
    """Return what a page says of its making; one of which only regions are made also has its commands."""
    kernel = f" and Linux {record['kernel']}" if record.get("kernel") else ""
    made = f"Made with Sojourn {record['version']}{kernel} on {record['made']}"
    if page.whole:
        return f"{made}."
    return f"{made} by\n\n" + "\n".join(f"    {shown_command(command, page)}" for command in page.commands)


def version() -> str:
    """Return the version of Sojourn."""
    import sojourn

    return sojourn.__version__


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


def listing(root: Path, pages: Iterable[Page], records: Mapping[str, Json]) -> list[str]:
    """Return a line for each page: what it cost last time, and what has changed since."""
    lines = []
    for page in pages:
        record = records.get(page.name, {})
        last = f"{duration(record['seconds'])}, {record['runs']} runs" if "seconds" in record else "cost not known"
        others = changed(root, page, record)
        lines.append(f"{page.name:<24} {last:<24} {'changed: ' + ', '.join(others) if others else 'as it was made'}")
    return lines


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", metavar="PAGE", nargs="*", help="those of docs/pages.toml (default: all)")
    parser.add_argument("--list", action="store_true", help="say what has changed, and make none")
    parser.add_argument("--check", action="store_true", help="say which pages still hold, and make none")
    parser.add_argument("--again", action="store_true", help="make also pages of which nothing has changed")
    parser.add_argument("--workers", metavar="N", type=int, default=2, help="processes to run in (default 2)")
    args = parser.parse_args(arguments)
    known, records = registry(root), read(root / RECORDS)
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
            print("\n".join(listing(root, chosen, records)))
            return 0
        check_extension(root)
        if args.check:
            verdicts = [check(root, page, records.get(page.name, {}), carry_runs.SAMPLE) for page in chosen]
            for page, (holds, why) in zip(chosen, verdicts, strict=True):
                print(f"{page.name:<24} {'holds' if holds else 'stale' if holds is False else '?':<6} {why}")
            return 0 if all(holds for holds, _ in verdicts) else 1
        pages = [page for page in chosen if args.again or changed(root, page, records.get(page.name, {}))]
        print("\n".join(listing(root, chosen, records)), file=sys.stderr)
        cost = [records.get(page.name, {}) for page in pages]
        total, runs = (sum(one.get(key, 0) for one in cost) for key in ("seconds", "runs"))
        unknown = sum(not one for one in cost)
        print(
            f"{len(pages)} of {len(chosen)} to make; last time they took {duration(total)} and {runs} runs"
            + (f", and {unknown} of them have no such number" if unknown else ""),
            file=sys.stderr,
        )
        failed = Making(root=root, workers=args.workers, records=records, pages=pages).run()
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
