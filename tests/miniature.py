"""A kernel's source in miniature, and what stands for the compiler, for a kernel and for what was built."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sojourn.kernel.cache import Recipe
from sojourn.kernel.find import Kernel
from tests.records import Json

RECIPE = Recipe(source_sha256="a", edits="b", config="c", hz=1000, compiler="gcc", linker="ld")

#: What a kernel is recognised by, as comments of a shell script; `sojourn.seed=` is heeded.
FAKE_KERNEL = """\
#!/bin/sh
# Linux version {release} (someone@somewhere) #1 made up
# uml_dir= {travels}
seed=0 radios=
for word; do case $word in
  sojourn.seed=*) seed=${{word#*=}};;
  sojourn_radio.radios=*) radios=${{word#*=}};;
esac; done
{before}
if [ "$radios" ]; then
  echo "radio phy0 02:00:00:00:00:00"; echo "radio phy1 02:00:00:00:01:00"; echo "radio phy2 02:00:00:00:02:00"
  echo "link 0 1 vht 9 2 80 sgi 429496729"; echo "link 0 2 vht 9 2 80 sgi 429496729"; echo "link 1 0 ht 7 1 20 sgi 0"
  echo "sojourn: end"
  exit 0
fi
echo "release {release}"
echo "uuid 00000000-0000-0000-0000-00000000000$seed"
echo "slept 0.10 3000.10"
echo "sojourn: end"
"""

#: What every Makefile begins with.
CONFIGURED = """\
VERSION = 6
PATCHLEVEL = 1
SUBLEVEL = 9
allnoconfig:
\t@cp "$(KCONFIG_ALLCONFIG)" .config
\t@sed -n 's/.*default \\([0-9]*\\)$$/CONFIG_HZ=\\1/p' arch/um/Kconfig >>.config
.PHONY: allnoconfig linux
"""
#: Recipes of make. The kernel is whatever the source has as `kernel.sh`.
MAKEFILE = (
    CONFIGURED
    + """\
linux:
\t@echo '  CC      one.o'
\t@echo '  LD      linux'
\t@cp kernel.sh linux
"""
)

#: The lines that edits look for, and nothing else.
LINES = {
    "arch/um/Kconfig": "config HZ\n\tint\n\tdefault 100\n",
    "arch/x86/um/user-offsets.c": "DEFINE_LONGS(HOST_FP_SIZE, 2696)\n",
    "arch/um/os-Linux/util.c": "\treturn getrandom(buf, len, flags);\n",
}

#: Those that the edits for a kernel with the Wi-Fi driver look for besides.
WIFI_LINES = {
    "drivers/net/wireless/Kconfig": 'source "drivers/net/wireless/virtual/Kconfig"\n',
    "drivers/net/wireless/Makefile": "obj-$(CONFIG_WLAN) += virtual/\n",
}

#: Programs of a build but make, each a line or two of shell.
PROGRAMS = {
    "gcc": "echo 'gcc (made up) 1.0'",
    "ld": "echo 'ld (made up) 1.0'",
    "strip": 'cp "$3" "$2"',
    **dict.fromkeys(("flex", "bison", "bc"), "exit 0"),
}


def script(release: str = "6.1.9-fake", *, travels: bool = True, before: str = "") -> str:
    """Return the text of a program that is taken for a kernel; `before` is run first."""
    return FAKE_KERNEL.format(release=release, travels="time-travel-clock" if travels else "", before=before)


def fake_kernel(path: Path, release: str = "6.1.9-fake", *, travels: bool = True, before: str = "") -> Path:
    """Write such a program."""
    return program(path, script(release, travels=travels, before=before))


def virtual(release: str = "6.1.0", path: Path | None = Path("/nowhere"), **more: Any) -> Kernel:
    """Return a kernel with virtual time that nothing is asked of."""
    plain: Json = {"kind": "virtual", "modules": (), "virtual_time": True, "identity": "sha256:0"}
    return Kernel(**{**plain, "path": path, "release": release, **more})


def compilers(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Put programs that stand for the compiler before all others, beside an empty cache; return that of kernels."""
    patch.setenv("PATH", f"{programs(folder / 'bin')}{os.pathsep}{os.environ['PATH']}")
    patch.setenv("SOJOURN_CACHE", str(folder / "cache"))
    patch.setattr("platform.machine", lambda: "x86_64")
    return folder / "cache" / "kernels"


def program(path: Path, text: str) -> Path:
    """Write an executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def programs(folder: Path, without: str | None = None) -> Path:
    """Write the programs of a build into a folder for the path."""
    folder.mkdir(exist_ok=True)
    for name, line in PROGRAMS.items():
        if name != without:
            program(folder / name, f"#!/bin/sh\n{line}\n")
    return folder


def files(**changes: str | None) -> dict[str, str]:
    """Return the files of a source; `None` leaves one out."""
    every: dict[str, str | None] = {"Makefile": MAKEFILE, "kernel.sh": script(), **LINES, **changes}
    return {name: text for name, text in every.items() if text is not None}


def tree(folder: Path, contents: Mapping[str, str]) -> Path:
    """Write files below a folder."""
    for name, text in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def entry(
    name: str, text: str | None = None, *, kind: bytes = tarfile.REGTYPE, leads_to: str = "", **attributes: str
) -> tuple[tarfile.TarInfo, bytes]:
    """Return one entry of an archive."""
    data = (text or "").encode()
    member = tarfile.TarInfo(name)
    member.size, member.type, member.linkname, member.mode = len(data), kind, leads_to, 0o755
    member.pax_headers = {key.replace("_", "."): value for key, value in attributes.items()}
    return member, data


def archive(path: Path, entries: list[tuple[tarfile.TarInfo, bytes]]) -> Path:
    """Write an archive, compressed as its name says."""
    how = {".xz": "w:xz", ".bz2": "w:bz2", ".gz": "w:gz"}.get(path.suffix, "w:")
    with tarfile.open(path, how) as file:  # type: ignore[call-overload]
        for member, data in entries:
            file.addfile(member, io.BytesIO(data))
    return path


def source(path: Path, contents: Mapping[str, str] | None = None, top: str = "linux-6.1") -> Path:
    """Write a source as an archive."""
    contents = files() if contents is None else contents
    return archive(path, [entry(f"{top}/{name}", text) for name, text in contents.items()])
