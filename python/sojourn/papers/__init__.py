"""The papers that `sojourn reproduce` runs again, a folder each."""

from __future__ import annotations

from functools import lru_cache

from sojourn.study.paper import Paper, read

#: A line for each paper: its folder, whose name with hyphens is what one types.
FOLDERS = (
    "good_bad_wifi",
    "rural",
    "wifi_stack",
    "wifi_next_steps",
    "flusher",
    "l4s_pam2025",
    "cake",
)
NAMES = tuple(folder.replace("_", "-") for folder in FOLDERS)


@lru_cache(maxsize=len(FOLDERS))
def paper(name: str) -> Paper:
    """Return a paper by its name."""
    return read(FOLDERS[NAMES.index(name)])
