"""notices [OPTIONS] PACKAGE...: prints the licences of what is linked in.

The works are the crates that the packages hold when they are compiled for TARGET, Rust's standard library, and each
NAME, whose licence is in FILE. A crate of procedural macros is no part of a program, and a crate of this workspace has
the licence of Sojourn. Texts that differ only in their blanks are printed once.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tools.release import ROOT, Refused, output

#: Files of licences and notices in the folder of a crate.
FILES = re.compile(r"(licen[cs]e|unlicense|copying|copyright|notice)([-._].*)?", re.IGNORECASE)
#: A crate that may be taken under this licence and has no file of its own gets the text that Sojourn has.
COMMON = "Apache-2.0"
#: What of Rust's own library is under which licence; the first two are for all of it.
STANDARD = ("Apache-2.0", "MIT", "Unicode-3.0", "BSD-2-Clause")
#: Crates that Rust's library holds to print backtraces and that its page of notices leaves out: one licence of each.
LEFT_OUT = {
    "addr2line": "Apache-2.0",
    "adler2": "Apache-2.0",
    "memchr, Copyright (c) 2015 Andrew Gallant": "MIT",
    "miniz_oxide": "Apache-2.0",
    "object": "Apache-2.0",
}
RULE = "=" * 78


def crates(packages: Sequence[str], target: str, features: str) -> Iterator[tuple[str, str]]:
    """Yield each crate that is linked in, with its licence as a heading, and a text of it."""
    chosen = [word for package in packages for word in ("-p", package)]
    chosen += ["--features", features] if features else []
    kinds = ("--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}")
    lines = output("cargo", "tree", "--locked", "--target", target, *kinds, *chosen).splitlines()
    linked = {tuple(line.split()[:2]) for line in lines if line}
    words = ("--locked", "--all-features", "--format-version", "1", "--filter-platform", target)
    every = json.loads(output("cargo", "metadata", *words))
    for crate in every["packages"]:
        if crate["source"] is None or (crate["name"], f"v{crate['version']}") not in linked:
            continue
        heading = f"{crate['name']} {crate['version']} ({crate['license'] or crate['license_file']})"
        folder = Path(crate["manifest_path"]).parent
        files = {one for one in folder.iterdir() if one.is_file() and FILES.fullmatch(one.name)}
        files |= {folder / crate["license_file"]} if crate["license_file"] else set()
        texts = [file.read_text(encoding="utf-8", errors="replace") for file in sorted(files)]
        # A file that only names licences is the text of none.
        texts = [text for text in texts if text.strip() != crate["license"]]
        if not texts and COMMON not in re.split(r" OR |/", crate["license"] or ""):
            message = f"the crate {heading} has no file of its licence, and is not under {COMMON}"
            raise Refused(message)
        for text in texts or [(ROOT / "LICENSE-APACHE").read_text(encoding="utf-8")]:
            yield heading, text


def standard_library() -> Iterator[tuple[str, str]]:
    """Yield the parts of Rust's library, as the toolchain names them, with a text of each."""
    folder = Path(output("rustc", "--print", "sysroot")) / "share/doc/rust"
    page = folder / "COPYRIGHT-library.html"
    if not page.is_file():
        message = f"the toolchain has no {page.name}, the notices of Rust's library: rustup's toolchains have it"
        raise Refused(message)
    number = output("rustc", "--version").split()[1]
    for licence in STANDARD:
        text = (folder / "licenses" / f"{licence}.txt").read_text(encoding="utf-8")
        yield f"the Rust standard library {number}, Copyright The Rust Project Developers ({licence})", text
    for name, licence in LEFT_OUT.items():
        text = (folder / "licenses" / f"{licence}.txt").read_text(encoding="utf-8")
        yield f"{name} ({licence}), in the Rust standard library", text
    _, *parts = page.read_text(encoding="utf-8").split("<h3>")
    for part in parts:
        title = re.match(r"\W*(\S+)-(\d\S*)</h3>.*?License:</b> ([^<]+)</p>", part, re.DOTALL)
        if title is None:
            message = f"{page.name} of this toolchain has another form than those of Rust 1.88 to 1.95"
            raise Refused(message)
        for text in re.findall(r"<pre>(.*?)</pre>", part, re.DOTALL):
            yield "{} {} ({}), in the Rust standard library".format(*title.groups()), html.unescape(text)


def works(
    packages: Sequence[str], target: str, features: str, beside: Iterable[tuple[str, Path]]
) -> Iterator[tuple[str, str]]:
    """Yield everything that packages hold, with a text of its licence; `beside` has what Cargo does not know."""
    yield from crates(packages, target, features)
    yield from standard_library()
    yield from ((name, file.read_text(encoding="utf-8", errors="replace")) for name, file in beside)


def document(works: Iterable[tuple[str, str]]) -> str:
    """Return all works and texts, each text once, below the works that it is for."""
    texts: dict[str, str] = {}
    holders: dict[str, set[str]] = {}
    for heading, text in works:
        key = " ".join(text.split())
        texts.setdefault(key, "\n".join(line.rstrip() for line in text.splitlines()).strip("\n"))
        holders.setdefault(key, set()).add(heading)
    begins = "Sojourn's programs hold parts of these works. Below each list of works is a licence or notice of them."
    parts = sorted((sorted(holders[key], key=str.lower), texts[key]) for key in texts)
    return "\n\n".join([begins, *("\n".join((RULE, *names, RULE, "", text)) for names, text in parts)]) + "\n"


def lacking(text: str, packages: Sequence[str], target: str, features: str = "") -> list[str]:
    """Return the crates that a text of notices leaves out."""
    found = set(text.splitlines())
    return [
        one for one in dict.fromkeys(heading for heading, _ in crates(packages, target, features)) if one not in found
    ]


def main() -> int:
    """Print the notices."""
    parser = argparse.ArgumentParser(prog="notices", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("packages", nargs="+", metavar="PACKAGE", help="a package of this workspace")
    parser.add_argument("--target", help="what is compiled for (this machine)")
    parser.add_argument("--features", default="", metavar="LIST", help="as cargo's")
    parser.add_argument("--beside", action="append", default=[], metavar="NAME=FILE", help="a licence of another work")
    args = parser.parse_args()
    beside = [(name, Path(file)) for name, _, file in (one.partition("=") for one in args.beside)]
    try:
        for name, file in beside:
            if not name or not file.is_file():
                message = f"--beside is {name}={file}, but must be NAME=FILE, with a file that is there"
                raise Refused(message)
        target = args.target or output("rustc", "--print", "host-tuple")
        sys.stdout.write(document(works(args.packages, target, args.features, beside)))
    except Refused as sentence:
        print(f"notices: {sentence}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
