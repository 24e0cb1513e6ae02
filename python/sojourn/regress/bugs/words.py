"""The results for people, and the text for the maintainers."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence as Several

from sojourn.errors import refused
from sojourn.regress.bugs.cases import PRESENT, VERDICTS, Bug
from sojourn.regress.bugs.judge import Finding

#: Characters of a line of the text for the maintainers.
_WIDTH = 72


def block(bug: Bug, there: Several[Finding], here: Several[Finding]) -> str:
    """Return what was found of a bug: what is right, and a line for each kernel and for each of the simulator's."""
    lines = [f"{bug.name}: {bug.title}", f"  {bug.what}: {bug.expected} is right"]
    lines += [f"  {_line(one)}" for one in there]
    lines += [f"  simulator, {_line(one)}" for one in here]
    return "\n".join(lines)


def summary(kernel: str, found: Several[Finding]) -> str:
    """Return how often each verdict was found in a kernel."""
    count = Counter(one.verdict for one in found)
    return f"{kernel}: {', '.join(f'{count[verdict]} {verdict}' for verdict in VERDICTS)}"


def report(bug: Bug, there: Several[Finding]) -> str:
    """Return the text for the maintainers, with what was measured; raises `ParamError` if no kernel has the bug."""
    having = [one for one in there if one.verdict == PRESENT]
    if not having:
        raise refused(bug.name, "report", f"the bug must be present, and it is not in {_and(_names(there))}")
    text = bug.report.strip().format(kernel=_and(_names(having)), reading=having[0].reading)
    return "\n\n".join(_wrapped(paragraph) for paragraph in text.split("\n\n"))


def _wrapped(paragraph: str) -> str:
    """Return a paragraph in lines as mail has them; headers and commands stay as they are."""
    as_it_is = paragraph.startswith((" ", "Subject: ", "Fixes: "))
    return paragraph if as_it_is else textwrap.fill(paragraph, _WIDTH, break_on_hyphens=False)


def _line(found: Finding) -> str:
    also = "".join(f"; {what}: {reading}" for what, reading in found.also)
    return f"{found.where}: {found.reading}: {found.verdict}{also}"


def _names(found: Several[Finding]) -> list[str]:
    """Return the kernels without what this project adds to their versions."""
    return [one.where.partition("-")[0] for one in found]


def _and(names: Several[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
