"""The kernel of this machine: whether it lets us make namespaces, and what it has."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import SojournError
from sojourn.kernel.needs import ALL

_PROBE = Path(__file__).with_name("host_probe.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What was found.

    Attributes
    ----------
    release, version
        What `uname -r` and `uname -v` say.
    namespace
        `root`, or `user` where an unprivileged user namespace is needed; `None`: not allowed.
    why_not
        The system's words if it is not allowed.
    lacks
        What it does not have and cannot load.
    """

    release: str
    version: str
    namespace: str | None
    why_not: str | None
    lacks: tuple[str, ...]


def probe(names: Sequence[str] = ALL) -> Host:
    """Try what this machine's kernel has, in a process of its own (80 ms).

    Raises
    ------
    SojournError
        If the process fails.
    """
    try:
        result = subprocess.run(
            [sys.executable, "-I", str(_PROBE), *names], capture_output=True, text=True, timeout=30, check=False
        )
        answer = json.loads(result.stdout)
    except subprocess.TimeoutExpired as error:
        message = "this machine's kernel was asked what it has, and did not answer within 30 s"
        raise SojournError(message) from error
    except (OSError, ValueError) as error:
        message = f"this machine's kernel cannot be asked what it has: {error}"
        raise SojournError(message) from error
    machine = platform.uname()
    return Host(
        release=machine.release,
        version=machine.version,
        namespace=answer["namespace"],
        why_not=answer.get("error"),
        lacks=tuple(answer.get("lacks", ())),
    )
