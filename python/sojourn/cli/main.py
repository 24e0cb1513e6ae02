"""`sojourn`: the parser, and the one place where errors become sentences and exit statuses."""

from __future__ import annotations

import io
import os
import re
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

from sojourn import __version__
from sojourn.cli import (
    catalogue,
    certify,
    compare,
    execute,
    export,
    imports,
    kernel,
    l4s,
    lab,
    plot,
    report,
    reproduce,
    rtt,
    run,
    stacks,
    study,
    sweep,
    tune,
    validate,
    view,
)
from sojourn.cli.options import Parser, one_line
from sojourn.errors import ParamError, SojournError

OK, CHECK_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

_ABOUT = """\
Sojourn measures, explains and removes queueing latency.

Times, rates and sizes are spelled as tc spells them: 5ms, 10mbit, 150kb. Data goes to standard output, messages and
progress to standard error. The exit status is 0 for success, 1 if a check failed, and 2 for bad input.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Parameters
    ----------
    arguments
        Without the program's name (default: those of this process).
    """
    _open_standard_streams()
    words = _join_negative(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _dispatch(words)
        sys.stdout.flush()
    except (ParamError, SojournError) as error:
        status = _complain(str(error))
    except KeyboardInterrupt as stop:
        _complain("; ".join(["interrupted", "every file that was written is whole", *map(str, stop.args)]))
        status = INTERRUPTED
    except BrokenPipeError:
        # The reader has gone, as `head` does when it has enough.
        _drop_output()
        status = OK
    except OSError as error:  # of a file that no reader or writer of ours has named
        what = error.filename if isinstance(error.filename, str) else "standard output"
        if error.filename is None:
            _drop_output()
        status = _complain(f"{what} cannot be used: {error.strerror or error}")
    except MemoryError:
        status = _complain("there is not enough memory for this")
    except UnicodeEncodeError as error:
        status = _complain(f"{ascii(error.object)[:200]} is not text in UTF-8")
    except SystemExit:
        raise
    # A panic of a library is no `Exception`; and no traceback reaches a user unasked.
    except BaseException as error:
        if os.environ.get("SOJOURN_DEBUG"):
            traceback.print_exc()
        status = _complain(
            f"this is a bug in Sojourn, please report it: {type(error).__name__}: {error} (SOJOURN_DEBUG=1 shows where)"
        )
    return status


def _open_standard_streams() -> None:
    """Give the standard streams that are closed something to write to, so that no file of ours takes their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def _drop_output() -> None:
    """Drop what standard output still holds, of which Python would complain at its exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def build_parser() -> Parser:
    """Return the parser with all commands."""
    parser = Parser(prog="sojourn", description=_ABOUT)
    parser.add_argument("--version", action="version", version=f"sojourn {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for module in (
        run,
        execute,
        compare,
        sweep,
        study,
        reproduce,
        validate,
        tune,
        plot,
        report,
        view,
        lab,
        rtt,
        export,
        imports,
        kernel,
        l4s,
        certify,
        stacks,
        catalogue,
    ):
        module.add(commands)
    return parser


def _dispatch(words: Sequence[str]) -> int:
    args = build_parser().parse_args(words)
    status = args.handler(args)
    assert isinstance(status, int)
    return status


def _join_negative(words: Sequence[str]) -> list[str]:
    """Write `--rate -5mbit` as `--rate=-5mbit`, so that the value is judged and not taken for an option."""
    joined: list[str] = []
    end = words.index("--") if "--" in words else len(words)
    for word in words[:end]:
        if joined and re.match(r"-[\d.]", word) and re.fullmatch(r"--[a-z-]+", joined[-1]):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return [*joined, *words[end:]]


def _complain(sentence: str) -> int:
    with suppress(OSError):  # nobody may be there to hear it
        print(f"sojourn: {one_line(sentence)}", file=sys.stderr)
    return BAD_INPUT
