"""`sojourn reproduce PAPER`: a paper's figures and tables, and a verdict on each of its claims."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from sojourn.cli import options
from sojourn.cli.reproduction import check, profile_of
from sojourn.papers import PAPERS

__all__ = ["add", "check", "handle", "profile_of"]

_ABOUT = """\
Runs a paper's experiments and writes claims.json, figures/*.svg and *.png, report.html, tables/*.md and *.csv,
table.md, table.csv and every run into DIR. Prints tables and verdicts and where the report is; with --json prints the
claims instead.

papers:
  good-bad-wifi   "The Good, the Bad and the WiFi", sections 4 to 8: RRUL, voice, web pages, RTT fairness and
                  start-up on links of 100/100, 10/10 and 10/1 Mbit/s (down/up) under seven queue disciplines, and
                  over Wi-Fi: Fig. 2 to 7 and 9 to 11, Tables 1 to 3, and 129 claims; TCP as in the paper's kernel
                  (--tcp); with --backend linux without Wi-Fi
  rural           "Tackling Bufferbloat in Capacity-limited Networks": CoDel's interval and target at 1 Mbit/s and
                  300 ms, rural against default parameters over 50 to 550 ms, two paths of different length, the
                  emulated bed, and a model of the satellite service: Fig. 2 to 8 and 35 claims; with --backend linux
                  the last two
  wifi-stack      "Bufferbloat mitigation in the WiFi stack": two fast stations and a slow one under four queueing
                  schemes of the access point, an analytical model beside them, and how the stack works: Fig. 2 to 4
                  and 30 claims
  wifi-next-steps section 4 of the same: hardware queue, retries, dense cells of 1 to 64 stations, airtime policies,
                  late accounts, soft admission, fairness before priority, and voice in other aggregates: for each a
                  figure, what it brings and what it costs
  flusher         "Fighting fire with fire": bursts of UDP packets against a standing queue at 5 Mbit/s, one flow, 10 to
                  100 ms and 10 to 100 packets, in two readings of the thesis, beside CoDel and PIE, and the flusher
                  adaptive beside it: Fig. 4.8 to 6.30 and 93 claims

A claim that fails is a result, not an error: the exit status is 0 all the same, or 1 with --strict. The same command
goes on where it was stopped.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("reproduce", help="run a paper's experiments, judge its claims", description=_ABOUT)
    parser.add_argument("paper", metavar="PAPER", choices=PAPERS, help=f"one of {', '.join(PAPERS)}")
    parser.add_argument(
        "--only",
        metavar="PART[,PART...]",
        help="which parts of the paper, with commas between them (default: all there is)",
    )
    parser.add_argument(
        "--profile",
        metavar="NAME",
        default="quick",
        help="good-bad-wifi: quick, 60 s (fairness 150 s) x 4 repeats, or paper, 140 s (600 s) x 30; rural: quick, "
        "300 s x 8 repeats (emulation and satellite 5), or paper, 300 s x 100 (10); wifi-stack: quick, 30 s "
        "(TCP 120 s) x 6 (small cells 3), or paper, x 30 (10); wifi-next-steps: quick, 10 s x 3, or paper, 30 s x 5; "
        "flusher: quick, 300 s x 3, or paper, 300 s x 20 (conjectures 10) (default quick)",
    )
    parser.add_argument("--duration", metavar="TIME", help="measured window of each run (default: the profile's)")
    parser.add_argument(
        "--tcp",
        metavar="VARIANT",
        help="whose loss recovery TCP has: linux-3.14, the paper's kernel, or linux-6.1 (default linux-3.14; on the "
        "linux back end linux-6.1, which stands for the kernel's own)",
    )
    parser.add_argument(
        "--satellite",
        metavar="KEY=VALUE[,...]",
        help="rural: what the satellite path is like, of which the paper says little: rtt, rate of the return channel, "
        "loss of data packets, and jitter of on-demand allocation (default rtt=580ms,return=256kbit,loss=0,jitter=0ms)",
    )
    parser.add_argument(
        "--document", metavar="FILE", type=Path, help="also write FILE, a Markdown page, and its figures beside it"
    )
    parser.add_argument("--strict", action="store_true", help="exit with status 1 if a claim fails")
    options.add_repeats(parser, default="the profile's")
    options.add_output(
        parser, "print the claims as a JSON list", "the folder for claims, figures and report", out_required=True
    )
    parser.set_defaults(handler=handle)


def handle(asked: argparse.Namespace) -> int:
    """Run it."""
    if asked.paper == "rural":
        from sojourn.cli import reproduce_rural

        return reproduce_rural.handle(asked)
    if asked.paper == "wifi-stack":
        from sojourn.cli import reproduce_wifi_stack

        return reproduce_wifi_stack.handle(asked)
    if asked.paper == "wifi-next-steps":
        from sojourn.cli import reproduce_wifi_next_steps

        return reproduce_wifi_next_steps.handle(asked)
    if asked.paper == "flusher":
        from sojourn.cli import reproduce_flusher

        return reproduce_flusher.handle(asked)
    from sojourn.cli import reproduce_good_bad_wifi

    return reproduce_good_bad_wifi.handle(asked)
