"""Builds the daemon and the agent with Zig as linker: for old C libraries, and for none (musl, linked statically).

An x86_64 machine builds for aarch64 as well. Zig comes from the Python package index.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.release import ROOT, Refused, notices, output, run

TOOLS = ROOT / "out/wheel-tools"
PACKAGES = (
    "ziglang==0.17.1",
    "cargo-zigbuild==0.24.1",
    "maturin",
    "wheel==0.48.0",
    "auditwheel==6.8.2",
    "twine==7.0.0",
)
#: By architecture: as `readelf -h` names it.
MACHINES = {"x86_64": "X86-64", "aarch64": "AArch64"}
#: The file with the licences of what is linked in.
NOTICES = "THIRD-PARTY-NOTICES"
#: The crate of the daemon and of the agent.
LIVE = "sojourn-live"
LIBPCAP_OPTIONS = ("--disable-shared", "--with-pcap=linux", "--without-libnl") + tuple(
    f"--disable-{part}" for part in ("dbus", "rdma", "usb", "bluetooth", "netmap")
)


def version() -> str:
    """Return the version of the project."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def environment() -> dict[str, str]:
    """Install Zig and what packs wheels into a place of their own, and return an environment that finds them."""
    if not (TOOLS / "bin/python").exists():
        run(sys.executable, "-m", "venv", TOOLS)
    pip = (TOOLS / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--constraint", ROOT / "scripts/constraints.txt", *PACKAGES)
    return os.environ | {"PATH": f"{TOOLS / 'bin'}:{os.environ['PATH']}"}


@dataclass(frozen=True)
class Build:
    """What is built.

    Parameters
    ----------
    arch
        A key of `MACHINES`.
    libc
        "gnu" or "musl".
    oldest
        The oldest version of that C library, or "" for one that is linked in.
    libpcap
        The source of libpcap, or None: then the daemon reads capture files only.

    Raises
    ------
    Refused
        If Rust's library for it is missing.
    """

    arch: str
    libc: str
    oldest: str
    libpcap: Path | None
    environment: dict[str, str] = field(default_factory=environment)

    def __post_init__(self) -> None:
        """Refuse what Rust has no library for."""
        if not (Path(output("rustc", "--print", "sysroot")) / "lib/rustlib" / self.target).is_dir():
            message = f"Rust's library for {self.target} is missing: rustup target add {self.target} gets it"
            raise Refused(message)

    @property
    def target(self) -> str:
        """Its name in Rust."""
        return f"{self.arch}-unknown-linux-{self.libc}"

    def programs(self, scratch: Path, package: str, *words: str) -> Path:
        """Build the programs of a crate, or those that `words` name, and return the folder they are in."""
        environment = self.environment | {"CARGO_PROFILE_RELEASE_STRIP": "symbols"}
        command = ["cargo-zigbuild", "zigbuild", "--quiet", "--release", "--locked", "-p", package, *words]
        command += ["--target", f"{self.target}.{self.oldest}".removesuffix(".")]
        if self.libpcap is not None and package == LIVE:
            place = self._libpcap(self.libpcap, scratch / "libpcap")
            number = (self.libpcap / "VERSION").read_text(encoding="utf-8").strip()
            environment |= {"LIBPCAP_LIBDIR": str(place), "LIBPCAP_VER": number}
            command += ["--features", "sojourn-live/capture"]
        run(*command, environment=environment)
        return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / self.target / "release"

    def _libpcap(self, source: Path, folder: Path) -> Path:
        """Build libpcap from its source, and return the folder that it is in."""
        folder.mkdir()
        zig = f"{TOOLS / 'bin/python'} -m ziglang"
        target = f"{self.arch}-linux-{self.libc}.{self.oldest}".removesuffix(".")
        compiler = {"CC": f"{zig} cc -target {target}", "CFLAGS": "-O2", "AR": f"{zig} ar", "RANLIB": f"{zig} ranlib"}
        words = (f"{source.resolve()}/configure", "--quiet", f"--host={self.arch}-linux-gnu", *LIBPCAP_OPTIONS)
        run(*words, environment=self.environment | compiler, folder=folder)
        run("make", "--silent", "libpcap.a", environment=self.environment | compiler, folder=folder)
        # The crate asks for a dynamic library; the linker reads here where it is.
        (folder / "libpcap.so").write_text("INPUT(libpcap.a)\n", encoding="utf-8")
        return folder

    def notices(self, *packages: str) -> str:
        """Return the licences of what packages of this workspace hold in this build."""
        beside = {}
        if self.libpcap is not None:
            beside["libpcap"] = self.libpcap / "LICENSE"
        if self.libc == "musl":
            (beside["musl"],) = TOOLS.glob("lib/python*/site-packages/ziglang/lib/libc/musl/COPYRIGHT")
        features = "sojourn-live/capture" if self.libpcap else ""
        return notices.document(notices.works(packages, self.target, features, beside.items()))


def missing_notices(file: Path, target: str, *packages: str) -> Iterator[str]:
    """Yield a sentence for each crate of packages whose licence a file of notices lacks."""
    if file.is_file():
        lacking = notices.lacking(file.read_text(encoding="utf-8"), packages, target)
        yield from (f"{file.name} has no licence of {heading}" for heading in lacking)


def install(program: Path, place: Path) -> None:
    """Copy a program, which may be run there."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(program.read_bytes())
    place.chmod(0o755)


def main(
    name: str,
    about: str | None,
    make: Callable[[str, Path | None], Path],
    faults: Callable[[Path], Iterable[str]],
    is_one: Callable[[Path], bool],
) -> int:
    """Build a package or check it, and return the status; `is_one` says whether a file can be one."""
    noun = "wheel" if name == "wheel" else "tarball"
    parser = argparse.ArgumentParser(prog=name, description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--arch", choices=sorted(MACHINES), default=platform.machine(), help="architecture (this one)")
    parser.add_argument("--libpcap", type=Path, metavar="FOLDER", help="the source of libpcap, unpacked")
    parser.add_argument("--check", type=Path, metavar=noun.upper(), help=f"only say what is wrong with this {noun}")
    args = parser.parse_args()
    try:
        if args.libpcap and not (args.libpcap / "configure").is_file():
            message = f"--libpcap is {args.libpcap}, but must be a folder with libpcap's configure"
            raise Refused(message)
        if args.check and not (args.check.is_file() and is_one(args.check)):
            message = f"--check is {args.check}, but must be a {noun}"
            raise Refused(message)
        if not (args.check or args.libpcap):
            print(f"{name}: no --libpcap is given, so sojournd flush reads capture files only", file=sys.stderr)
        made = args.check or make(args.arch, args.libpcap)
        wrong = list(faults(made))
    except Refused as sentence:
        print(f"{name}: {sentence}", file=sys.stderr)
        return 2
    for fault in wrong:
        print(f"{name}: {fault}", file=sys.stderr)
    if not wrong:
        print(made)
    return 1 if wrong else 0
