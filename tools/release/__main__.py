"""release [--arch ARCH]... [--libpcap FOLDER] [--any-pages]: makes the release of this version, and uploads nothing.

It asks whether the pages of results hold (tools.pages --check), and refuses if one does not; --any-pages goes on. It
cuts the changelog and commits that, builds all files of the release in out/release, checks them as their registries do,
and sets the tag vVERSION last. The files are a wheel and a static daemon for each ARCH (this machine's), the Debian
package, the site, the crates that others may use, and SHA256SUMS. However it was stopped, the same command goes on.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import platform
import re
import shutil
import sys
import tarfile
from datetime import UTC, datetime
from pathlib import Path

from tools import docs
from tools.release import ROOT, Refused, output, run
from tools.release.zig import MACHINES, TOOLS, version

OUT = ROOT / "out/release"
CHANGELOG = ROOT / "CHANGELOG.md"
UNRELEASED = "## Unreleased"


def cut(text: str, name: str, day: str) -> str:
    """Return a changelog in which what is unreleased is the version `name` of `day`."""
    heading = f"## {name} ({day})"
    if re.search(rf"^## {re.escape(name)} ", text, re.MULTILINE):
        return text
    before, mark, after = text.partition(f"{UNRELEASED}\n")
    if not mark or not after.split("\n## ")[0].strip():
        message = f"CHANGELOG.md has nothing below {UNRELEASED[3:]}, but a release must say what is new in it"
        raise Refused(message)
    return f"{before}{mark}\n{heading}\n{after}"


def ready(name: str) -> None:
    """Refuse a state that cannot be released."""
    if output("git", "status", "--porcelain"):
        message = "the tree has changes, but a release is made of what is committed"
        raise Refused(message)
    tag = output("git", "tag", "--list", f"v{name}")
    if tag:
        message = f"the tag {tag} is there, but a version is released once: raise it in Cargo.toml and pyproject.toml"
        raise Refused(message)


def archive(folder: Path, path: Path, moment: int) -> None:
    """Pack a folder; the same files of the same commit give the same bytes."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = moment
        entry.mode = 0o755 if entry.isdir() else 0o644
        return entry

    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=moment) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        tar.add(folder, path.name.removesuffix(".tar.gz"), filter=plain)


def crates() -> list[str]:
    """Return the crates that others may use, as options of cargo."""
    return output(ROOT / "tools/release/semver", "--list").split()


def check_pages() -> None:
    """Refuse pages of results that do not hold."""
    try:
        run(sys.executable, "-m", "tools.pages", "--check")
    except Refused:
        message = (
            "pages of results do not hold: make them again (make pages), or release them as they are (--any-pages)"
        )
        raise Refused(message) from None


def build(name: str, machines: list[str], libpcap: Path | None) -> list[Path]:
    """Build the files of the release, and return their paths."""
    more = () if libpcap is None else ("--libpcap", libpcap)
    run(ROOT / "scripts/web")
    files = [
        Path(output(sys.executable, "-m", f"tools.release.{kind}", "--arch", machine, *more).splitlines()[-1])
        for machine in machines
        for kind in ("wheel", "static")
    ]
    run(ROOT / "tools/release/deb")
    files += (ROOT / "out/deb").glob(f"sojournd_{name}*.deb")
    if docs.main([]):
        message = "the site could not be built"
        raise Refused(message)
    site = OUT / f"sojourn-{name}-site.tar.gz"
    OUT.mkdir(parents=True, exist_ok=True)
    archive(ROOT / "out/site", site, int(output("git", "log", "-1", "--format=%ct")))
    # Without an upload this packs each crate, and compiles it from what is packed, with the others as they would come.
    run("cargo", "publish", "--dry-run", "--quiet", "--locked", *crates())
    packed = ROOT / "target/package"
    return [*files, site, *(packed / f"{one.partition('=')[2]}-{name}.crate" for one in crates())]


def main(words: list[str]) -> int:
    """Make the release, and return the status."""
    parser = argparse.ArgumentParser(prog="release", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--arch", action="append", choices=sorted(MACHINES), help="architecture; may be repeated")
    parser.add_argument("--libpcap", type=Path, metavar="FOLDER", help="the source of libpcap, unpacked")
    parser.add_argument("--any-pages", action="store_true", help="take the pages of results as they are")
    args = parser.parse_args(words)
    try:
        name = version()
        ready(name)
        if not args.any_pages:
            check_pages()
        text = cut(CHANGELOG.read_text(encoding="utf-8"), name, f"{datetime.now(UTC):%Y-%m-%d}")
        if text != CHANGELOG.read_text(encoding="utf-8"):
            CHANGELOG.write_text(text, encoding="utf-8")
            run("git", "commit", "--quiet", "--message", f"Version {name}", CHANGELOG)
        shutil.rmtree(OUT, ignore_errors=True)
        files = build(name, args.arch or [platform.machine()], args.libpcap)
        for file in files:
            if file.parent != OUT:
                shutil.copy2(file, OUT)
        run(TOOLS / "bin/python", "-m", "twine", "check", "--strict", *OUT.glob("*.whl"))
        sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(OUT.iterdir())]
        (OUT / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
        run("git", "tag", "--annotate", "--message", f"Sojourn {name}", f"v{name}")
    except Refused as sentence:
        print(f"release: {sentence}", file=sys.stderr)
        return 2
    print(f"v{name}: {len(files)} files in {OUT.relative_to(ROOT)}; nothing was uploaded")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
