"""Builds the daemon and the agent with Zig as linker: for old C libraries, and for none (musl, linked statically).

An x86_64 machine builds for aarch64 as well. Zig comes from the Python package index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ROOT / "out/wheel-tools"
ZIG = ("ziglang==0.17.1", "cargo-zigbuild==0.24.1")
#: By architecture: as `readelf -h` names it.
MACHINES = {"x86_64": "X86-64", "aarch64": "AArch64"}
#: The file with the licences of what is linked in.
NOTICES = "THIRD-PARTY-NOTICES"
#: The crate of the daemon and of the agent.
LIVE = "sojourn-live"
LIBPCAP_OPTIONS = ("--disable-shared", "--with-pcap=linux", "--without-libnl") + tuple(
    f"--disable-{part}" for part in ("dbus", "rdma", "usb", "bluetooth", "netmap")
)


class Refused(Exception):
    """A sentence for the user."""


def version() -> str:
    """Return the version of the project."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def tools(*packages: str) -> dict[str, str]:
    """Install Zig and packages of Python into a place of their own, and return an environment that finds them."""
    if not (TOOLS / "bin/python").exists():
        run(sys.executable, "-m", "venv", str(TOOLS))
    pip = (str(TOOLS / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--constraint", str(ROOT / "scripts/constraints.txt"), *ZIG, *packages)
    return os.environ | {"PATH": f"{TOOLS / 'bin'}:{os.environ['PATH']}"}


def source_of_libpcap(folder: Path | None) -> None:
    """Refuse a folder that is not the source of libpcap."""
    if folder and not (folder / "configure").is_file():
        message = f"--libpcap is {folder}, but must be a folder with libpcap's configure"
        raise Refused(message)


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
    environment
        What `tools` returns.

    Raises
    ------
    Refused
        If Rust's library for it is missing.
    """

    arch: str
    libc: str
    oldest: str
    libpcap: Path | None
    environment: dict[str, str]

    def __post_init__(self) -> None:
        """Refuse what Rust has no library for."""
        if not (Path(output("rustc", "--print", "sysroot")) / "lib/rustlib" / self.target).is_dir():
            message = f"Rust's library for {self.target} is missing: rustup target add {self.target} gets it"
            raise Refused(message)

    @property
    def target(self) -> str:
        """Its name in Rust."""
        return f"{self.arch}-unknown-linux-{self.libc}"

    def programs(self, scratch: Path, *words: str, package: str = LIVE) -> Path:
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
        abi = f"{self.arch}-linux-{self.libc}"
        compiler = {
            "CC": f"{zig} cc -target " + f"{abi}.{self.oldest}".removesuffix("."),
            "CFLAGS": "-O2",
            "AR": f"{zig} ar",
            "RANLIB": f"{zig} ranlib",
        }
        words = (str(source.resolve() / "configure"), "--quiet", f"--host={self.arch}-linux-gnu", *LIBPCAP_OPTIONS)
        run(*words, environment=self.environment | compiler, folder=folder)
        run("make", "--silent", "libpcap.a", environment=self.environment | compiler, folder=folder)
        # The crate asks for a dynamic library; the linker reads here where it is.
        (folder / "libpcap.so").write_text("INPUT(libpcap.a)\n", encoding="utf-8")
        return folder

    def notices(self, *packages: str) -> str:
        """Return the licences of what packages of this workspace hold in this build."""
        words = [str(ROOT / "scripts/notices"), "--target", self.target, *packages]
        if self.libpcap is not None:
            words += ["--features", "sojourn-live/capture", "--beside", f"libpcap={self.libpcap / 'LICENSE'}"]
        if self.libc == "musl":
            (licence,) = TOOLS.glob("lib/python*/site-packages/ziglang/lib/libc/musl/COPYRIGHT")
            words += ["--beside", f"musl={licence}"]
        return output(sys.executable, *words) + "\n"


def missing_notices(file: Path, target: str, *packages: str) -> Iterator[str]:
    """Yield a sentence for each crate of packages whose licence a file of notices lacks."""
    words = [sys.executable, str(ROOT / "scripts/notices"), "--check", str(file), "--target", target, *packages]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise Refused(done.stderr.strip())
    yield from (line.removeprefix("notices: ") for line in done.stderr.splitlines())


def install(program: Path, place: Path) -> None:
    """Copy a program, which may be run there."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(program, place)
    place.chmod(0o755)


def _found(program: str, path: str) -> str:
    """Return where a program is."""
    place = shutil.which(program, path=path)
    if place is None:
        message = f"the program {program} is missing"
        raise Refused(message)
    return place


def run(*words: str, environment: dict[str, str] | None = None, folder: Path = ROOT) -> None:
    """Run a program; one that fails ends the build."""
    path = _found(words[0], (environment or os.environ)["PATH"])
    if subprocess.run([path, *words[1:]], cwd=folder, env=environment, check=False, stdout=sys.stderr).returncode:
        message = f"this failed: {' '.join(words)}"
        raise Refused(message)


def output(*words: str) -> str:
    """Return what a program prints."""
    done = subprocess.run(
        [_found(words[0], os.environ["PATH"]), *words[1:]], capture_output=True, text=True, check=False
    )
    if done.returncode:
        message = f"this failed: {' '.join(words)}: {done.stderr.strip()}"
        raise Refused(message)
    return done.stdout.strip()
