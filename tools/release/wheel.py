"""wheel [--arch ARCH] [--libpcap FOLDER] | --check WHEEL: builds a wheel in out/wheels that needs no compiler.

The wheel holds the simulator for Python 3.11 and newer (the stable ABI), the agent of the linux back end, and the
daemon `sojournd`. All of it runs with glibc 2.17 and newer. Zig is the linker, and so an x86_64 machine makes the wheel
of aarch64 as well. FOLDER is the source of libpcap, which is linked statically: with it the daemon captures on network
interfaces, without it `sojournd flush` reads capture files only.

With --check nothing is built: status 1 says that a wheel lacks something or has something too much.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tools.release import ROOT, Refused, output, run
from tools.release.zig import LIVE, NOTICES, Build, environment, install, main, missing_notices, version

OUT = ROOT / "out/wheels"
#: The oldest C library that Rust's own library runs with.
GLIBC = (2, 17)
NATIVE = "sojourn/_native.abi3.so"
AGENT = "sojourn/bin/sojourn-agent"
DRILL = "sojourn/bin/sojourn-drill"
#: The built pages of web/, and where they are in a wheel.
PAGES = ROOT / "out/web"
STATIC = "sojourn/view/static"
HOLDS = ("sojourn-py", LIVE, "sojourn-drill-kernel")


def build(arch: str, libpcap: Path | None) -> Path:
    """Build the wheel of an architecture, and return its path."""
    made = Build(arch, "gnu", "{}.{}".format(*GLIBC), libpcap)
    with tempfile.TemporaryDirectory(prefix="wheel-") as scratch:
        folder = Path(scratch)
        programs = made.programs(folder, LIVE)
        words = ("maturin", "build", "--quiet", "--release", "--locked", "--zig", "--target", made.target)
        platform = "manylinux_{}_{}".format(*GLIBC)
        run(*words, "--compatibility", platform, "--out", folder / "bare", environment=made.environment)
        run("wheel", "unpack", "--dest", folder, *folder.glob("bare/*.whl"), environment=made.environment)
        (content,) = folder.glob("sojourn-*")
        install(programs / "sojourn-agent", content / AGENT)
        install(made.programs(folder, "sojourn-drill-kernel") / "sojourn-drill", content / DRILL)
        install(programs / "sojournd", content / f"sojourn-{version()}.data/scripts/sojournd")
        if (PAGES / "view.html").is_file():
            shutil.copytree(PAGES, content / STATIC)
        else:
            print("wheel: out/web is missing, so sojourn view has no page: run make web before", file=sys.stderr)
        licences = content / f"sojourn-{version()}.dist-info/licenses"
        (licences / NOTICES).write_text(made.notices(*HOLDS), encoding="utf-8")
        OUT.mkdir(parents=True, exist_ok=True)
        run("wheel", "pack", "--dest-dir", OUT, content, environment=made.environment)
    (wheel,) = OUT.glob(f"sojourn-{version()}-*manylinux*_{arch}.whl")
    return wheel


def faults(wheel: Path) -> Iterator[str]:
    """Yield a sentence for everything that is wrong with a wheel."""
    name = re.fullmatch(r"sojourn-(.+)-cp311-abi3-(.+)_(x86_64|aarch64)\.whl", wheel.name)
    if name is None:
        yield f"{wheel.name} is no name of a wheel of Sojourn for the stable ABI of Python 3.11"
        return
    number, platforms, arch = name.groups()
    if number != version():
        yield f"it has version {number}, but the project has {version()}"
    oldest = "manylinux_{}_{}".format(*GLIBC)
    if oldest not in platforms:
        yield f"it is for {platforms}, but must be for {oldest}"
    tools = environment()
    # It reads the headers of all programs in the wheel: their architecture, libraries and versions of symbols.
    shown = output("auditwheel", "show", wheel, environment=tools)
    runs_on = re.search(rf'platform tag: "manylinux_(\d+)_(\d+)_{arch}"', " ".join(shown.split()))
    if runs_on is None or (int(runs_on[1]), int(runs_on[2])) > GLIBC:
        yield f"a program in it does not run on {oldest}_{arch}; auditwheel says: {shown}"
    with tempfile.TemporaryDirectory(prefix="wheel-") as scratch:
        try:
            # It compares all files with the wheel's own list of their hashes.
            run("wheel", "unpack", "--dest", scratch, wheel, environment=tools)
        except Refused as sentence:
            yield str(sentence)
            return
        content = Path(scratch, f"sojourn-{number}")
        about = content / f"sojourn-{number}.dist-info"
        yield from _wrong_files(content, about, f"sojourn-{number}.data/scripts/sojournd")
        yield from missing_notices(about / "licenses" / NOTICES, f"{arch}-unknown-linux-gnu", *HOLDS)


def _wrong_files(content: Path, about: Path, daemon: str) -> Iterator[str]:
    """Yield what is missing, or too much, against the files that git has."""
    tracked = output("git", "ls-files", "python/sojourn", "kernel/sojourn_radio").splitlines()
    sources = {one.removeprefix("python/") for one in tracked if one.startswith("python/")}
    radio = {one.replace("kernel/", "sojourn/kernel/") for one in tracked if one.startswith("kernel/")}
    expected = (sources - {"sojourn/kernel/sojourn_radio"}) | radio | {AGENT, DRILL, daemon, NATIVE}
    expected |= {
        f"{about.name}/{name}"
        for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "sboms/sojourn-py.cyclonedx.json")
    }
    expected |= {
        f"{about.name}/licenses/{name}"
        for name in ("LICENSE-MIT", "LICENSE-APACHE", "kernel/sojourn_radio/LICENSE", NOTICES)
    }
    found = {one.relative_to(content).as_posix() for one in content.rglob("*") if one.is_file()}
    pages = {one for one in found if one.startswith(f"{STATIC}/")}
    expected |= {f"{STATIC}/view.html"} if pages else set()
    yield from (f"{name} is missing" for name in sorted(expected - found))
    yield from (f"{name} is no file of the project" for name in sorted(found - expected - pages))
    yield from (
        f"{name} may not be run"
        for name in sorted({AGENT, DRILL, daemon} & found)
        if not os.access(content / name, os.X_OK)
    )
    if "sojourn=sojourn.cli:main" not in (about / "entry_points.txt").read_text(encoding="utf-8").replace(" ", ""):
        yield "it makes no command sojourn"


if __name__ == "__main__":
    sys.exit(main("wheel", __doc__, build, faults, zipfile.is_zipfile))
