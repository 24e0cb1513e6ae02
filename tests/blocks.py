"""The blocks of code in the documents: which are commands or Python, and whether a test runs them.

A comment in the line before a block says what is special about it:

- `<!-- slow -->`: it takes more than a few seconds;
- `<!-- file: NAME -->`: it is the text of a file that later blocks read;
- `<!-- not run: WHY -->`: no test runs it, where `WHY` is one of `WHY_NOT`.

A block that `make pages` writes or that stands on a page of its own making was run when the page was made.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Why no test runs a block.
WHY_NOT = {
    "setup": "it installs or builds something on the machine",
    "minutes": "it takes minutes to hours",
    "kernel": "it needs a kernel that was built before, or real time",
    "namespaces": "it needs network namespaces, TUN devices or another program's server",
    "root": "it needs root or an interface of the machine",
    "captures": "it needs capture files of a real path",
    "cluster": "it needs machines or certificates of a cluster",
    "part": "it works only after the change that the text describes",
    "made": "`make pages` runs it",
}
#: Languages of blocks that hold commands.
SHELL = {"sh", "bash", "console", "shell"}
#: The first words by which an indented block is one of commands.
_PROGRAMS = {
    "sojourn",
    "sojournd",
    "make",
    "cargo",
    "pip",
    "apt-get",
    "sudo",
    "tcpdump",
    "tshark",
    "python",
    "openssl",
    "dask",
}
_MARK = re.compile(r"<!-- (slow|file|not run)(?:: (\S+))? -->")
_FENCE = re.compile(r"(\s*)(`{3,})(\w*)\s*$")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block of code."""

    #: Where it begins.
    line: int
    #: The language that its fence names; `sh` for indented commands.
    kind: str
    #: What it holds, and the comment before it: `slow`, `file` or `not run`, and what follows that.
    text: str
    mark: str
    value: str

    @property
    def runs(self) -> bool:
        """Whether a test runs it."""
        return self.mark != "not run" and (self.kind in SHELL or self.kind == "python")

    def commands(self) -> Iterator[list[str]]:
        """Yield its commands as words, without comments."""
        for line in self.text.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words:
                yield words


def blocks(path: Path, *, made: bool = False) -> list[Block]:
    """Return the blocks of a page; `made` says that the whole page was made from runs."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found: list[Block] = []
    mark, region, place = ("", ""), False, 0
    while place < len(lines):
        line = lines[place]
        fence, comment = _FENCE.match(line), _MARK.fullmatch(line.strip())
        region = (region or line.startswith("<!-- made: ")) and line != "<!-- end -->"
        first = place
        if fence:
            place += 1
            while place < len(lines) and lines[place].strip() != fence[2]:
                place += 1
            kind, content = fence[3], [one[len(fence[1]) :] for one in lines[first + 1 : place]]
        elif line.startswith("    ") and (place == 0 or not lines[place - 1].strip()):
            while place + 1 < len(lines) and (lines[place + 1].startswith("    ") or not lines[place + 1].strip()):
                place += 1
            content = [one[4:] for one in lines[first : place + 1]]
            word = content[0].split()[0]
            kind = "sh" if word in _PROGRAMS or word.startswith(("scripts/", ".venv/bin/")) else ""
        else:
            if comment:
                mark = (comment[1], comment[2] or "")
            elif line.strip():
                mark = ("", "")
            place += 1
            continue
        name, value = ("not run", "made") if made or region else mark
        found.append(Block(line=first + 1, kind=kind, text="\n".join(content).rstrip() + "\n", mark=name, value=value))
        mark = ("", "")
        place += 1
    return found
