"""static [--arch ARCH] [--libpcap FOLDER] | --check TARBALL: builds a daemon in out/static that needs no library.

The tarball holds `sojournd`, linked statically with the C library musl, with its manual page, its configuration, its
systemd unit and the licences. It runs on any Linux of its architecture. An x86_64 machine makes the one of aarch64 as
well. FOLDER is the source of libpcap: with it the daemon captures on network interfaces, without it `sojournd flush`
reads capture files only.

With --check nothing is built: status 1 says that a tarball lacks something or has something too much.
"""

from __future__ import annotations

import os
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.release import ROOT, output
from tools.release.zig import LIVE, MACHINES, NOTICES, Build, install, main, missing_notices, version

OUT = ROOT / "out/static"
DAEMON = "sojournd"
#: What else is in the tarball, from the project's root.
FILES = (
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "packaging/flush.toml",
    "packaging/sojournd-flush@.service",
    "packaging/sojournd.8",
)


def build(arch: str, libpcap: Path | None) -> Path:
    """Build the tarball of an architecture, and return its path."""
    made = Build(arch, "musl", "", libpcap)
    with tempfile.TemporaryDirectory(prefix="static-") as scratch:
        content = Path(scratch) / f"{DAEMON}-{version()}-{arch}-linux"
        install(made.programs(Path(scratch), LIVE, "--bin", DAEMON) / DAEMON, content / DAEMON)
        for name in FILES:
            (content / Path(name).name).write_bytes((ROOT / name).read_bytes())
        (content / NOTICES).write_text(made.notices(LIVE), encoding="utf-8")
        OUT.mkdir(parents=True, exist_ok=True)
        tarball = OUT / f"{content.name}.tar.xz"
        with tarfile.open(tarball, "w:xz", format=tarfile.USTAR_FORMAT) as archive:
            archive.add(content, content.name, filter=_plain)
    return tarball


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out of an entry what differs from machine to machine: the same commit gives the same entries."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mode = 0o755 if entry.isdir() or Path(entry.name).name == DAEMON else 0o644
    entry.mtime = int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct"))
    return entry


def faults(tarball: Path) -> Iterator[str]:
    """Yield a sentence for everything that is wrong with a tarball."""
    name = re.fullmatch(rf"({DAEMON}-(.+)-({'|'.join(MACHINES)})-linux)\.tar\.xz", tarball.name)
    if name is None:
        yield f"{tarball.name} is no name of a tarball of the daemon"
        return
    top, number, arch = name.groups()
    if number != version():
        yield f"it has version {number}, but the project has {version()}"
    expected = {f"{top}/{Path(one).name}" for one in (DAEMON, NOTICES, *FILES)}
    with tarfile.open(tarball) as archive, tempfile.TemporaryDirectory(prefix="static-") as scratch:
        found = {entry.name for entry in archive.getmembers() if not entry.isdir()}
        yield from (f"{one} is missing" for one in sorted(expected - found))
        yield from (f"{one} is no file of the tarball" for one in sorted(found - expected))
        archive.extractall(scratch, filter="data")
        daemon = Path(scratch, top, DAEMON)
        if daemon.is_file():
            yield from _wrong_program(daemon, arch)
        yield from missing_notices(daemon.with_name(NOTICES), f"{arch}-unknown-linux-musl", LIVE)


def _wrong_program(program: Path, arch: str) -> Iterator[str]:
    """Yield what keeps the daemon from running on any Linux of its architecture."""
    if not os.access(program, os.X_OK):
        yield f"{DAEMON} may not be run"
    headers = output("readelf", "--wide", "--file-header", "--program-headers", "--dynamic", program)
    if MACHINES[arch] not in headers:
        yield f"{DAEMON} is not for {arch}"
    if "INTERP" in headers or "(NEEDED)" in headers:
        yield f"{DAEMON} is not linked statically"


if __name__ == "__main__":
    sys.exit(main("static", __doc__, build, faults, tarfile.is_tarfile))
