"""`sojourn view [DIR]`: stored runs in a browser."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.cli import browser, options
from sojourn.errors import SojournError

_ABOUT = """\
Shows stored runs in a browser: a table that can be filtered and sorted, their time series and distributions, latency
against goodput, comparisons with their intervals, claims with their verdicts, and how far a plan has come that is
being carried out. Nothing is run, and nothing is written.

DIR is a folder that run, compare, sweep, reproduce or validate has written with --out, a store of runs, one run of a
store, or a folder of such folders. The server answers this machine alone, and only who has the address that is printed:
a secret is in it. Ctrl-C ends it.
"""


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("view", help="show stored runs in a browser", description=_ABOUT)
    parser.add_argument(
        "folder", metavar="DIR", type=Path, nargs="?", default=Path(), help="what to show (default: this folder)"
    )
    options.add_other_store(parser)
    parser.add_argument(
        "--host", metavar="ADDRESS", default="127.0.0.1", help="an address of this machine (%(default)s)"
    )
    browser.add_options(parser)
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    try:
        from sojourn.view import server
    except ModuleNotFoundError as error:
        if error.name not in {"uvicorn", "starlette"}:
            raise
        message = f"view needs the package {error.name}, which is missing: pip install 'sojourn[view]'"
        raise SojournError(message) from error
    from sojourn import web_build
    from sojourn.view.source import find

    sources = find(args.folder, args.store)
    if web_build.built("view.html") is None:
        raise SojournError(server.NOT_BUILT)
    token = server.new_token()
    opened = server.listen(args.host, args.port)
    with opened:
        host, port = opened.getsockname()[:2]
        place = f"[{host}]" if ":" in host else host
        address = f"http://{place}:{port}/?token={token}"
        view = server.View(title=args.folder.resolve().name, sources=sources, token=token, port=port, host=place)
        view.read_ahead()
        print(address, flush=True)
        print("Ctrl-C ends it", file=sys.stderr)
        if args.browser:
            browser.open_page(address)
        with suppress(KeyboardInterrupt):  # which uvicorn passes on when it has ended
            server.runner(view).run(sockets=[opened])
    return 0
