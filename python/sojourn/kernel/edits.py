"""What is changed in the kernel's source before it is built: a table, and the one function that applies it.

Three places keep User-Mode Linux from being a measuring instrument; two more make our Wi-Fi driver part of it.
Nothing of the kernel's own text is here beyond the words that a pattern looks for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sojourn import bounded
from sojourn.errors import SojournError, os_errors_as
from sojourn.kernel.source import MOST_FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class Unless:
    """A sign that a source does not need an edit.

    Attributes
    ----------
    file, pattern
        A file of the source, and a regular expression (multi-line) that is found in it.
    why
        What it shows.
    """

    file: str
    pattern: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change of one file.

    Attributes
    ----------
    file
        Path below the top of the source.
    what
        What is changed there, in words.
    pattern
        A regular expression (multi-line) that occurs exactly once.
    replacement
        As of `re.sub`; `{hz}` stands for the ticks per second.
    why
        What goes wrong without it.
    unless
        A sign that the source does not need it; `None`: every source does.
    """

    file: str
    what: str
    pattern: str
    replacement: str
    why: str
    unless: Unless | None = None


EDITS = (
    Edit(
        file="arch/um/Kconfig",
        what="the 100 ticks a second",
        pattern=r"^(config HZ\n\s+int\n\s+default) 100$",
        replacement=r"\1 {hz}",
        why="the kernel for User-Mode Linux has 100 ticks a second and no question for it; TCP's timers count ticks",
    ),
    Edit(
        file="arch/x86/um/user-offsets.c",
        what="the 2,696 bytes for registers",
        pattern=r"(DEFINE_LONGS\(HOST_FP_SIZE), 2696\)",
        replacement=r"\1, 16384)",
        why="a processor with AMX saves 11,008 bytes of registers; with room for 2,696 the kernel panics at its boot",
        unless=Unless(
            file="arch/x86/um/shared/sysdep/ptrace.h",
            pattern=r"\bhost_fp_size\b",
            why="from 6.13 on the kernel asks the processor how many there are",
        ),
    ),
    Edit(
        file="arch/um/os-Linux/util.c",
        what="the host's random numbers",
        pattern=r"^(\s*)return getrandom\(buf, len, flags\);$",
        replacement=r"\1return -1;",
        why="the host's random numbers would make every boot draw others; only `sojourn.seed=` and the boot itself may",
    ),
)

#: Beside them, for a kernel with the driver `sojourn_radio`: its folder becomes part of the source.
WIFI_EDITS = (
    Edit(
        file="drivers/net/wireless/Kconfig",
        what="the list of drivers for Wi-Fi",
        pattern=r'^(source "drivers/net/wireless/virtual/Kconfig")$',
        replacement=r'\1\nsource "drivers/net/wireless/sojourn_radio/Kconfig"',
        why="the kernel's configuration would not know the driver",
    ),
    Edit(
        file="drivers/net/wireless/Makefile",
        what="the list of drivers for Wi-Fi",
        pattern=r"^(obj-\$\(CONFIG_WLAN\) \+= virtual/)$",
        replacement=r"\1\nobj-$(CONFIG_SOJOURN_RADIO) += sojourn_radio/",
        why="the driver would not be compiled",
    ),
)


def as_text(edits: Sequence[Edit] = EDITS) -> str:
    """Return what the table does as text, for the name of a kernel; reasons may be reworded."""
    lines = []
    for edit in edits:
        unless = None if edit.unless is None else [edit.unless.file, edit.unless.pattern]
        lines.append([edit.file, edit.pattern, edit.replacement, unless])
    return json.dumps(lines)


def apply(folder: Path, hz: int, edits: Sequence[Edit] = EDITS) -> tuple[str, ...]:
    """Change the source in `folder`, all of it or nothing.

    Parameters
    ----------
    folder
        Top of the source.
    hz
        Ticks per second.
    edits
        The table.

    Returns
    -------
    files
        Those that were changed.

    Raises
    ------
    SojournError
        If a pattern is not found exactly once where it must be, or a file cannot be read or written.
    """
    changed: dict[str, str] = {}
    for edit in edits:
        text = changed[edit.file] if edit.file in changed else _read(folder, edit.file)
        found = re.search(edit.pattern, text, re.MULTILINE)
        if found is None and edit.unless is not None and _is_there(folder, edit.unless):
            continue
        _check(edit, text)
        replacement = edit.replacement.replace("{hz}", str(hz))
        changed[edit.file] = re.sub(edit.pattern, replacement, text, flags=re.MULTILINE)
    for file, text in changed.items():
        with os_errors_as(f"{folder / file} cannot be written"):
            # Latin-1 keeps every byte as it is.
            (folder / file).write_bytes(text.encode("latin-1"))
    return tuple(changed)


def check(folder: Path, file: PurePosixPath | None = None, edits: Sequence[Edit] = EDITS) -> None:
    """Check what every source must have, before time is spent on the rest of it.

    Parameters
    ----------
    folder
        Top of the source.
    file
        The only file that is looked at, of a source that is not all there yet; `None`: all.
    edits
        The table.

    Raises
    ------
    SojournError
        As `apply`.
    """
    for edit in edits:
        if edit.unless is None and file in {None, PurePosixPath(edit.file)}:
            _check(edit, _read(folder, edit.file))


def _check(edit: Edit, text: str) -> None:
    count = len(re.findall(edit.pattern, text, re.MULTILINE))
    if count != 1:
        message = (
            f"the source cannot be changed: Sojourn changes {edit.what} in {edit.file}, and that line is there {count} "
            f"times, but must be there once ({edit.why}); take another version with --source PATH"
        )
        raise SojournError(message)


def _read(folder: Path, file: str) -> str:
    try:
        bounded.check_inside(folder / file, folder)
        return bounded.read_bytes(folder / file, MOST_FILE).decode("latin-1")
    except SojournError as error:
        message = f"the source cannot be changed: {error}"
        raise SojournError(message) from error


def _is_there(folder: Path, unless: Unless) -> bool:
    try:
        text = _read(folder, unless.file)
    except SojournError:
        return False
    return re.search(unless.pattern, text, re.MULTILINE) is not None
