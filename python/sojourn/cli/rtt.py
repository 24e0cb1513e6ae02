"""`sojourn rtt A B`: round-trip times from captures at two points."""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import tables
from sojourn.cli import options
from sojourn.errors import refused
from sojourn.files import check_target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sojourn.round_trips import Packets, RoundTrips

_ABOUT = """\
Measures round-trip times between two points of a path, from a capture taken at each point (pcap or pcapng).

The method is synthetic packet pairs. A pair is a packet that passes A and then B, and the next packet of the same flow
that passes B and then A. The round-trip time is the time between the two packets at A, less the time between them at B.
The clocks of the two points need not agree.

A packet is recognised in the other capture by the fields that do not change on the way: its addresses, ports, protocol,
IPv4 identification and length, and TCP's whole header (except for the checksum), UDP's first 16 bytes of payload, or an
echo's number. A packet that was sent again differs in its identification or time stamp. If one point saw two packets of
the same content, neither is used (ambiguous). Copies that only the second point has are skipped (duplicates).

Take both captures with segmentation offload off (ethtool -K eth0 tso off gso off gro off). Otherwise one capture has
packets that the other lacks. A NAT between the points changes all packets, so none is found in the other capture.
"""

_TIMES = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_LONGEST_NS = 10**18
_FLOWS = 20
_HEADERS = ("flow (A's side, B's side)", "pairs", "min", "p5", "median", "mean", "p95", "p99", "max")
_NUMBERS = ("min_ms", "p5_ms", "median_ms", "mean_ms", "p95_ms", "p99_ms", "max_ms")
_COUNTS = (
    ("frames", "frames"),
    ("packets", "of these, looked for in the other"),
    ("matched", "found there"),
    ("missing", "missing there"),
    ("outside", "from before or after the other capture"),
    ("ambiguous", "ambiguous"),
    ("duplicates", "duplicates"),
    ("unselected", "of flows that were not asked for"),
    ("crowded", "of flows beyond 65,536"),
)
#: What the file of a capture does not say of packets, and what else leaves them out.
_LACKS = {
    "no_time": "have no time stamp",
    "time_range": "have a time stamp that is out of range",
    "no_interface": "are of an interface that is not described",
    "link_type": "have a link type that is not known",
    "custom_block": "are in a custom block",
    "cut": "were cut too short",
}
_OTHERS = {
    "not_ip": "are not IP",
    "other_protocol": "are neither TCP, UDP nor echoes",
    "fragment": "are fragments",
    "unselected": "are of flows that were not asked for",
    "crowded": "are of flows beyond 65,536",
}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("rtt", help="round-trip times from captures at two points", description=_ABOUT)
    parser.add_argument("a", metavar="A", type=Path, help="the capture from which round trips begin")
    parser.add_argument("b", metavar="B", type=Path, help="the capture at the other point")
    flows = parser.add_argument_group("flows")
    flows.add_argument(
        "--host",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="only flows with this address; give it twice to name both ends",
    )
    flows.add_argument(
        "--port",
        metavar="N",
        action="append",
        default=[],
        type=options.whole_number,
        help="only flows with this port (for ICMP, with this echo identifier); give it twice to name both ends",
    )
    flows.add_argument("--protocol", metavar="NAME", help="only tcp, udp or icmp (echo)")
    method = parser.add_argument_group("method")
    method.add_argument(
        "--horizon",
        metavar="TIME",
        default="10s",
        help="how far in time a packet is searched for in the other capture (default 10s)",
    )
    method.add_argument(
        "--gap",
        metavar="TIME",
        default="1s",
        help="longest time between the two packets of a pair at B; a limit is needed because clocks drift (default 1s)",
    )
    output = parser.add_argument_group("output")
    output.add_argument("--json", action="store_true", help="print one JSON object instead of the tables")
    output.add_argument("--csv", metavar="FILE", type=Path, help="write FILE with a line for each pair")
    output.add_argument(
        "--plot",
        metavar="FILE",
        type=Path,
        help="draw the round-trip times over time and their distribution (.svg or .png)",
    )
    output.add_argument("--force", action="store_true", help="replace existing files")
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Measure."""
    from sojourn.round_trips import measure

    times = {name: _nanoseconds(name, getattr(args, name)) for name in ("horizon", "gap")}
    for port in args.port:
        if not 0 <= port <= 65535:
            raise refused(port, "port", "must be from 0 to 65535")
    _check_targets(args)
    found = measure(
        args.a,
        args.b,
        hosts=args.host,
        ports=args.port,
        protocol=args.protocol,
        horizon_ns=times["horizon"],
        gap_ns=times["gap"],
    )
    if args.json:
        print(json.dumps(found.as_json(), indent=1, allow_nan=False))
    else:
        print(describe(found))
    _write(args, found)
    return _complaints(args, found)


def _nanoseconds(field: str, text: str) -> int:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ns|us|ms|s)", text)
    found = math.inf if match is None else float(match[1]) * _TIMES[match[2]]
    if found > _LONGEST_NS:
        raise refused(text, field, "must be a time such as 500ms or 10s, and at most 1000000000s")
    return round(found)


def _check_targets(args: argparse.Namespace) -> None:
    if args.plot is not None and args.plot.suffix not in (".svg", ".png"):
        raise refused(str(args.plot), "plot", "must end in .svg or .png")
    for name in ("csv", "plot"):
        path = getattr(args, name)
        if path is not None:
            check_target(path, name, force=args.force)


def describe(found: RoundTrips) -> str:
    """Return the tables: round-trip times of all and of each flow, and what became of the packets."""
    from sojourn.round_trips import numbers

    report = found.report
    paired = (number for number, flow in enumerate(report.flows) if flow.pairs)
    flows = sorted(paired, key=lambda number: -report.flows[number].pairs)
    rows = [_row(report.flows[number].name, numbers(found.of_flow(number))) for number in flows[:_FLOWS]]
    if len(flows) != 1:
        rows = [_row("all", numbers(found.rtt_ns)), *rows]
    parts = ["round-trip times, ms", tables.text(_HEADERS, rows)]
    if len(flows) > _FLOWS:
        parts.append(f"and {len(flows) - _FLOWS} flows more, with fewer pairs; --json and --csv have all")
    counts = [
        [words, *(f"{getattr(side, key):,}" for side in report.captures)]
        for key, words in _COUNTS
        if any(getattr(side, key) for side in report.captures)
    ]
    reasons = sorted({reason for side in report.captures for reason in side.skipped})
    counts += [
        [f"skipped: {reason.replace('_', ' ')}", *(f"{side.skipped.get(reason, 0):,}" for side in report.captures)]
        for reason in reasons
    ]
    parts += ["", tables.text(["packets", "A", "B"], counts)]
    lost = [
        f"{count:,} {words}"
        for count, words in (
            (report.unpaired, "packets went back with nothing new before them"),
            (report.apart, "pairs were too far apart at B"),
            (report.negative, "pairs had a negative time"),
        )
        if count
    ]
    one_way = sum(not flow.both_ways for flow in report.flows if not flow.pairs)
    if one_way:
        lost.append(f"{one_way:,} flows went one way only")
    return "\n".join([*parts, *([""] if lost else []), *lost])


def _row(name: str, rtt: Mapping[str, float | int | None]) -> list[str]:
    return [name, f"{rtt['count']:,}", *(tables.number(rtt[key], 3) for key in _NUMBERS)]


def _write(args: argparse.Namespace, found: RoundTrips) -> None:
    from sojourn.files import write_file

    if args.csv is not None:
        names = found.names()
        lines = ["at_s,rtt_ms,protocol,near,far"]
        flows = [",".join(name.split(" ")) for name in names]
        for at, rtt, flow in zip(found.at_ns.tolist(), found.rtt_ns.tolist(), found.flow.tolist(), strict=True):
            lines.append(f"{at // 10**9}.{at % 10**9:09d},{rtt / 1e6:.6f},{flows[flow]}")
        write_file(args.csv, "\n".join(lines) + "\n")
        print(f"csv: {args.csv}", file=sys.stderr)
    if args.plot is not None:
        from sojourn.plots.round_trips import course_and_distribution
        from sojourn.plots.save import to_bytes

        figure = course_and_distribution(found.at_ns, found.rtt_ns, found.flow, found.names())
        write_file(args.plot, to_bytes(figure, args.plot.suffix[1:]))
        print(f"figure: {args.plot}", file=sys.stderr)


def _complaints(args: argparse.Namespace, found: RoundTrips) -> int:
    """Say what is wrong with the captures, and return the exit status."""
    status = 0
    captures = list(zip((args.a, args.b), found.report.captures, strict=True))
    for path, capture in captures:
        if capture.damage:
            print(f"sojourn: {path}: {capture.damage}; the part before it was used", file=sys.stderr)
            status = 1
    if found.report.offset_ns is None:
        whys = [f"{path} has {why}" for path, capture in captures if (why := _unused(capture))]
        if all(capture.packets for _, capture in captures):
            whys.append("were they taken at the same time, with offload off, and without a NAT between them?")
        why = "; ".join(whys)
        print(f"sojourn: no packet is in both {args.a} and {args.b}: {why}", file=sys.stderr)
        status = 1
    elif not found.rtt_ns.size:
        print(
            "sojourn: both captures have the same packets, but there is no pair of packets in both directions",
            file=sys.stderr,
        )
        status = 1
    return status


def _unused(capture: Packets) -> str:
    """Say which packets of a capture were not looked for in the other; nothing if that is as in any capture."""
    counts = capture.skipped | {"unselected": capture.unselected, "crowded": capture.crowded}
    if capture.packets:
        counts = {name: count for name, count in counts.items() if name in _LACKS}
    parts = [f"{counts.pop(name):,} {text}" for name, text in (_LACKS | _OTHERS).items() if counts.get(name)]
    malformed = sum(counts.values())
    parts += [f"{malformed:,} are malformed"] if malformed else []
    if not parts:
        return "" if capture.packets else "no packets"
    return f"{capture.frames:,} packets, of which {' and '.join(parts)}"
