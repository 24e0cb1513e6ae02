"""What the file of a User-Mode Linux kernel says of itself, read without running it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import SojournError, os_errors_as

#: No kernel is larger, bytes.
MOST_BYTES = 500_000_000

_BANNER = re.compile(rb"Linux version ([\w.+~-]{1,64}) \([^\0\n]*?\) (#[^\0\n]{1,200})")
_OPTION, _TRAVELS, _RADIOS = b"uml_dir=", b"time-travel-clock", b"sojourn_radio.radios"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A kernel that is a program.

    Attributes
    ----------
    path
        The file.
    release, version
        What `uname -r` and `uname -v` say in it.
    virtual_time
        Whether its time can stand still while it computes.
    wifi
        Whether it has our Wi-Fi driver.
    """

    path: Path
    release: str
    version: str
    virtual_time: bool
    wifi: bool


def read(path: Path) -> Image:
    """Read it.

    Raises
    ------
    SojournError
        If it cannot be read, is not executable, or is no kernel for User-Mode Linux.
    """
    with os_errors_as(f"{path} cannot be read"):
        if not path.is_file():
            message = f"{path} is not a file"
            raise SojournError(message)
        if path.stat().st_size > MOST_BYTES:
            message = f"{path} is not a kernel for User-Mode Linux: it has more than {MOST_BYTES:,} bytes"
            raise SojournError(message)
        data = path.read_bytes()
    if not os.access(path, os.X_OK):
        message = f"{path} is not executable"
        raise SojournError(message)
    # The banner is there twice, once with the version cut off.
    banners = _BANNER.findall(data)
    if not banners or _OPTION not in data:
        message = f"{path} is not a kernel for User-Mode Linux"
        raise SojournError(message)
    release, version = max(banners, key=lambda one: len(one[1]))
    return Image(
        path=path,
        release=release.decode("ascii"),
        version=version.decode("ascii", "replace").strip(),
        virtual_time=_TRAVELS in data,
        wifi=_RADIOS in data,
    )
