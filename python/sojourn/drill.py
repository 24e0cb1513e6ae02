"""packetdrill scripts: what a kernel, or Sojourn's own TCP, does with each.

Each script runs in a guest of its own, whose first program is `sojourn-drill` (crates/sojourn-drill-kernel). A guest
boots in a fraction of a second, and waits of a script take no time, because its clock is virtual.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from sojourn import bounded
from sojourn.backends.linux import guest
from sojourn.bounds import Plain
from sojourn.errors import ParamError, SojournError
from sojourn.kernel.find import Kernel

FORMAT = "sojourn-drill/1"
PASSED, FAILED, DAMAGED, NOT_APPLICABLE = WORDS = ("passed", "failed", "damaged", "not applicable")
#: The longest script, bytes; as in the parser.
MOST_BYTES = 1 << 20
#: The longest file of common settings, bytes, and how many of a script's commands may call one.
_MOST_SETTINGS, _MOST_CALLS = 16 << 10, 4
#: How the names of scripts end.
SUFFIX = ".pkt"
#: How long a guest may take, seconds of this machine's clock. Most scripts take 0.2.
BOUND_S = 60.0
#: The guest's random numbers: the kernel's first sequence numbers and clocks are drawn from them.
_SEED = 1


@dataclass(frozen=True, slots=True)
class Printed:
    """What a `print` of a script's Python wrote."""

    #: Line of the script, from 1.
    line: int
    #: Its text; the program bounds how long, and how many.
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptOutcome:
    """What became of a script."""

    #: Its path.
    script: str
    #: `passed`, `failed`, `damaged` (it is no script) or `not applicable`.
    outcome: str
    #: Line of the script, from 1; `None` if it passed or took too long.
    line: int | None = None
    #: Of one that failed or is damaged: what it expects, and what came.
    expected: str | None = None
    got: str | None = None
    #: Of one that is not applicable: the word, and why there is nothing for it.
    needs: str | None = None
    why: str | None = None
    #: What the script's Python printed.
    printed: tuple[Printed, ...] = ()

    @property
    def is_bad(self) -> bool:
        """Whether it failed or is damaged."""
        return self.outcome in (FAILED, DAMAGED)

    def sentence(self) -> str:
        """Return it in one line, with the place in the script."""
        place = self.script if self.line is None else f"{self.script}:{self.line}"
        detail = {
            PASSED: "",
            FAILED: f": expected {self.expected}, but {self.got}",
            DAMAGED: f": expected {self.expected}, but found {self.got}",
            NOT_APPLICABLE: f": it needs {self.needs}, and {self.why}",
        }
        return f"{place}: {self.outcome}{detail[self.outcome]}"

    def as_json(self) -> Mapping[str, Plain]:
        """Return what is known of it."""
        return {name: value for name, value in asdict(self).items() if value not in (None, ())}


def read(script: Path) -> str:
    """Return the text of a script, with the commands of a `defaults.sh` in the place of its call.

    That file is of the suite, beside the scripts: it sets what they have in common. Like all commands of scripts, those
    in it are known one by one, and no shell sees them. A setting that a kernel does not have is left out, as by a shell
    that goes on after an error; not so a value that a shell would have to find out. Raises `SojournError` if a file
    cannot be read.
    """

    def settings(call: re.Match[str]) -> str:
        path = script.parent / call[0]
        if not path.exists():
            return call[0]
        # A backtick would end the commands of the script.
        lines = bounded.read_text(path, _MOST_SETTINGS).replace("`", "'").replace("\\\n", " ").splitlines()
        commands = (re.sub(r"\s*\d?>\s*\S+", "", line.partition("#")[0].strip()) for line in lines)
        return "; ".join(
            line if re.search(r"'|\$(?!\(\()", line) else re.sub(r"^sysctl\b", "sysctl -e", line)
            for line in commands
            if line
        )

    def command(found: re.Match[str]) -> str:
        return re.sub(r"[\w./-]*\bdefaults\.sh\b", settings, found[0], count=_MOST_CALLS)

    return re.sub(r"`[^`]*`", command, bounded.read_text(script, MOST_BYTES), count=_MOST_CALLS)


def program() -> Path:
    """Return the program that runs scripts; raises `SojournError` if it is not there."""
    return guest.built("sojourn-drill", "the program that runs scripts", "SOJOURN_DRILL", "sojourn-drill-kernel")


def scripts(paths: Iterable[Path]) -> list[Path]:
    """Return the scripts that paths name: files, and the files ending in `.pkt` in and below folders, by name.

    Neither hidden folders nor symbolic links to folders are searched. Raises `ParamError` if a path is not there, or a
    folder has no script.
    """
    found: list[Path] = []
    for path in paths:
        try:
            if path.is_dir():
                inside = sorted(_below(path))
                if not inside:
                    message = (
                        f"script is {path}, but the folder must have files whose names end in {SUFFIX}, itself or below"
                    )
                    raise ParamError(message)
                found += inside
            elif path.exists():
                found.append(path)
            else:
                message = f"script is {path}, but must be a file or a folder, and it is not there"
                raise ParamError(message)
        except (OSError, ValueError) as error:
            message = f"script is {path}, which cannot be used: {getattr(error, 'strerror', None) or error}"
            raise ParamError(message) from error
    return found


def _below(folder: Path) -> Iterator[Path]:
    """Give the scripts in a folder and below it, however deep."""
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as inside:
            for entry in inside:
                # A link to a folder may lead back to where we are.
                if entry.is_dir(follow_symlinks=False):
                    waiting += [] if entry.name.startswith(".") else [entry.path]
                elif Path(entry.name).suffix == SUFFIX and not Path(entry.path).is_dir():
                    yield Path(entry.path)


def on_kernel(script: Path, kernel: Kernel, *, bound_s: float = BOUND_S) -> ScriptOutcome:
    """Run a script in a guest; raises `SojournError` if the script cannot be read, or the guest fails."""
    text = read(script)
    try:
        answer = guest.run_program(program(), kernel, {"script.pkt": text}, "outcome.json", seed=_SEED, bound_s=bound_s)
    except guest.TooLongError:
        return ScriptOutcome(
            script=str(script), outcome=FAILED, expected="an end", got=f"it had not finished after {bound_s:.0f} s"
        )
    return _read(script, answer)


def on_ours(script: Path, *, bound_s: float = BOUND_S) -> ScriptOutcome:
    """Run a script against Sojourn's own TCP.

    Raises `SojournError` if the script cannot be read, or the program fails.
    """
    text = read(script)
    command = [str(program()), "ours"]
    try:
        done = subprocess.run(
            command, input=text.encode(), capture_output=True, timeout=bound_s, check=True
        ).stdout.decode()
    except subprocess.TimeoutExpired:
        return ScriptOutcome(
            script=str(script), outcome=FAILED, expected="an end", got=f"it had not finished after {bound_s:.0f} s"
        )
    except (OSError, subprocess.CalledProcessError, UnicodeDecodeError) as error:
        message = f"{script} cannot be run: {error}"
        raise SojournError(message) from error
    return _read(script, done)


def _read(script: Path, answer: str) -> ScriptOutcome:
    """Read what the program answers; a guest may have been broken by its script."""
    try:
        found = json.loads(answer)
        if found.pop("format") != FORMAT or found["outcome"] not in WORDS:
            raise ValueError
        printed = tuple(Printed(int(one["line"]), str(one["text"])) for one in found.pop("printed", ()))
        return ScriptOutcome(script=str(script), **found, printed=printed)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        message = f"{script}: its guest left no outcome in the format {FORMAT}"
        raise SojournError(message) from error
