"""The sources of our Wi-Fi driver `sojourn_radio`: where they are, what names them, how they get into a kernel's."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from sojourn.errors import SojournError, os_errors_as

#: Where it goes, below the top of a kernel's source.
PLACE = Path("drivers/net/wireless/sojourn_radio")

#: The version of Linux that it is written for, by the names of whose functions it calls mac80211.
SERIES = "6.12"

#: In an installed Sojourn beside this file; in a checkout a symbolic link to kernel/sojourn_radio.
FOLDER = Path(__file__).with_name("sojourn_radio")

_NAMES, _KINDS = frozenset({"Kconfig", "Makefile"}), frozenset({".c", ".h"})


def files() -> tuple[Path, ...]:
    """Return what is compiled and what tells how, in the order of names.

    Raises
    ------
    SojournError
        If it is not there.
    """
    found = FOLDER.iterdir() if FOLDER.is_dir() else ()
    sources = sorted(path for path in found if path.name in _NAMES or path.suffix in _KINDS)
    if not _NAMES.issubset(path.name for path in sources):
        message = f"the sources of the Wi-Fi driver are missing: there must be a Kconfig and a Makefile in {FOLDER}"
        raise SojournError(message)
    return tuple(sources)


def digest() -> str:
    """Return the hash of their names and contents.

    Raises
    ------
    SojournError
        If they are not there, or cannot be read.
    """
    whole = hashlib.sha256()
    for path in files():
        with os_errors_as(f"{path} cannot be read"):
            data = path.read_bytes()
        whole.update(f"{path.name} {len(data)}\n".encode())
        whole.update(data)
    return whole.hexdigest()


def copy(tree: Path) -> None:
    """Copy them into a kernel's source.

    Parameters
    ----------
    tree
        Top of the kernel's source.

    Raises
    ------
    SojournError
        If they are not there, or cannot be copied.
    """
    target = tree / PLACE
    with os_errors_as(f"the Wi-Fi driver cannot be copied to {target}"):
        target.mkdir(parents=True, exist_ok=True)
        for path in files():
            shutil.copyfile(path, target / path.name)


def check_version(version: str) -> None:
    """Check that the driver is written for this version of Linux.

    Raises
    ------
    SojournError
        If it is not.
    """
    if version.split(".")[:2] != SERIES.split("."):
        message = (
            f"the kernel's source is Linux {version}, but the Wi-Fi driver is written for {SERIES}: "
            f"apt-get install linux-source-{SERIES} (or name a tarball or a folder with --source)"
        )
        raise SojournError(message)
