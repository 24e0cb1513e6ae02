"""`sojourn exec`: a command behind a link, in virtual time or on real packets."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from sojourn import units
from sojourn.cli import options, programs
from sojourn.cli.describe import cost
from sojourn.errors import ParamError, SojournError, refused

_ABOUT = """\
Runs COMMAND in a host behind a bottleneck, on a real Linux kernel in virtual time: the same command, seed and files
give the same bytes each time, and a busy machine changes nothing. The server of --server is at the other end of the
link. Both see the machine's files, read-only, and have a folder of their own, /var/tmp. There is no other network.

  sojourn exec --rate 20mbit --rtt 50ms --qdisc cake --server 'iperf3 -s' -- iperf3 -c SERVER

SERVER and CLIENT in a command become the addresses of the two, SERVER6 and CLIENT6 those of IPv6. The command's
outputs are this command's, and so is its exit status: 124 if it had not ended after --duration. What its flows met at
the bottleneck is printed on standard error.

With --backend live the same line runs in real time on this machine's kernel (`sojournd bottleneck`).
"""

#: Bytes of two full frames; 0.5 ms of a rate is a 16,000th of it in bytes.
_TWO_FRAMES = 3028
#: Addresses of `sojournd bottleneck`.
_LIVE = {"CLIENT": "10.0.0.1", "SERVER": "10.0.0.2", "CLIENT6": "fd00:50::1", "SERVER6": "fd00:50::2"}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "exec",
        help="run a program of your own behind a link, in virtual time",
        description=_ABOUT,
        usage="sojourn exec [OPTION]... [--server COMMAND] -- COMMAND [WORD]...",
    )
    for name, what in (
        ("rate", "rate of both directions (default 10mbit)"),
        ("up", "rate from client to server"),
        ("down", "rate from server to client"),
        ("rtt", "base round-trip time (default 50ms)"),
        ("delay", "delay of each direction, in place of --rtt"),
        ("loss", "share of packets lost behind the queue in each direction, such as 0.1%%"),
        ("qdisc", "discipline of both directions: what follows `tc qdisc add dev X root` (default fq_codel)"),
        ("qdisc-up", "discipline from client to server"),
        ("qdisc-down", "discipline from server to client"),
        ("burst", "depth of the shapers' buckets (default: two frames, or 0.5 ms of the rate)"),
    ):
        parser.add_argument(f"--{name}", metavar="TEXT" if "qdisc" in name else name.upper(), help=what)
    options.add_seed(parser)
    parser.add_argument("--server", metavar="COMMAND", help="command line of a server, which /bin/sh runs")
    parser.add_argument(
        "--ready",
        metavar="SIGN",
        default="port",
        help="when the server is ready: port (something waits at a port), 'port 5201' or 'line TEXT' (default port)",
    )
    parser.add_argument("--duration", metavar="TIME", help="stop COMMAND after so long (default 60s)")
    parser.add_argument("--file", metavar="FILE", action="append", help="copy FILE into the folder of COMMAND")
    parser.add_argument("--keep", metavar="FILE", action="append", help="write this file of its folder here at the end")
    parser.add_argument(
        "--backend",
        metavar="NAME",
        default="linux",
        help="linux (a kernel in virtual time) or live (this machine's, in real time) (default linux)",
    )
    options.add_kernel(parser)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the record of the run to FILE")
    parser.add_argument("--force", action="store_true", help="replace the FILE of --json and of --keep")
    parser.add_argument("words", metavar="COMMAND", nargs=argparse.REMAINDER, help="the command, after --")
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Run it."""
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words:
        message = "command is not given, but must follow --, as in `sojourn exec --rate 5mbit -- ping -c 3 SERVER`"
        raise ParamError(message)
    if args.rtt is not None and args.delay is not None:
        raise refused(args.delay, "delay", "must not be given together with rtt")
    if args.backend == "live":
        return _live(args, words)
    if args.backend != "linux":
        raise refused(args.backend, "backend", "must be linux or live")
    return _linux(args, words)


def _linux(args: argparse.Namespace, words: list[str]) -> int:
    from sojourn.backends.linux.programs import executable
    from sojourn.execution import LONGEST, execute, scenario
    from sojourn.progress import progress_bar

    executable("command", words[0])

    kept = [Path(path).name for path in args.keep or ()]
    if len(set(kept)) < len(kept):
        raise refused(", ".join(kept), "keep", "must name files of different names")
    outputs = [*([] if args.json is None else [args.json]), *map(Path, kept)]
    for path in outputs:
        if path.exists() and not args.force:
            raise refused(str(path), "json" if path == args.json else "keep", "exists already: give --force")
    made = scenario(
        words,
        server=args.server,
        ready=args.ready,
        rate=args.rate,
        up=args.up,
        down=args.down,
        rtt=args.rtt if args.delay is None else _twice(args.delay),
        qdisc=args.qdisc,
        qdisc_up=args.qdisc_up,
        qdisc_down=args.qdisc_down,
        loss=None if args.loss is None else _share(args.loss),
        burst=args.burst,
        duration=args.duration or LONGEST,
        seed=1 if args.seed is None else args.seed,
        files=args.file or (),
        keep=args.keep or (),
    )
    made.normalized("linux")
    with progress_bar(1, "exec"):
        ran = execute(made, kernel=args.kernel)
    sys.stdout.flush()
    sys.stdout.buffer.write(ran.output())
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(ran.output("stderr"))
    sys.stderr.buffer.flush()
    print("\n\n".join(programs.describe(ran.record.programs or [], ran.flows)), file=sys.stderr)
    print(cost(ran.record), file=sys.stderr)
    if ran.program().ended_s is None:
        longest = made.duration
        print(f"sojourn: the command had not ended after {longest} and was stopped: see --duration", file=sys.stderr)
    if args.json is not None:
        _write(args.json, (ran.run.text + "\n").encode())
    for path in args.keep or ():
        _write(Path(Path(path).name), ran.output(path))
    return ran.status


def _live(args: argparse.Namespace, words: list[str]) -> int:
    """Become `sojournd bottleneck` with the same link."""
    from sojourn.backends.linux.flusher import daemon
    from sojourn.execution import with_addresses

    for name in ("kernel", "file", "keep", "duration"):
        if getattr(args, name) is not None:
            raise refused(str(getattr(args, name)), name, "is for the back end linux only")
    rate = args.rate or (None if args.up and args.down else "10mbit")
    delay = args.delay or f"{_nanoseconds('rtt', args.rtt or '50ms') // 2}ns"
    line = [str(daemon()), "bottleneck", "--delay", delay, "--qdisc", args.qdisc or "fq_codel", "--stats"]
    for name, value in (("rate", rate), ("seed", args.seed)):
        line += [] if value is None else [f"--{name}", str(value)]
    for name in ("up", "down", "loss", "qdisc_up", "qdisc_down", "burst", "json"):
        value = getattr(args, name)
        line += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
    line += [] if args.burst else ["--burst", _usual_burst(rate, args.up, args.down)]
    line += ["--force"] if args.force else []
    line += [] if args.server is None else ["--server", with_addresses(args.server, _LIVE)]
    sys.stdout.flush()
    os.execv(line[0], [*line, "--", *(with_addresses(word, _LIVE) for word in words)])


def _usual_burst(*rates: str | None) -> str:
    """Return the depth of the buckets that a scenario has by default, in place of the daemon's one packet."""
    try:
        fastest = max(units.bits_per_s(rate) for rate in rates if rate)
    except ValueError:
        return f"{_TWO_FRAMES}b"  # the daemon says what is wrong with the rate
    return f"{max(_TWO_FRAMES, fastest // 16_000)}b"


def _nanoseconds(name: str, text: str) -> int:
    try:
        return int(units.exact_seconds(text) * 1_000_000_000)
    except (ValueError, ParamError):
        raise refused(text, name, "must be a time, such as 50ms") from None


def _twice(text: str) -> str:
    return f"{2 * _nanoseconds('delay', text)}ns"


def _share(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise refused(text, "loss", "must be a share such as 0.1%") from None


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror or error}"
        raise SojournError(message) from error
