"""`sojourn lab`: the laboratory in a browser."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sojourn.cli import browser
from sojourn.errors import ParamError, SojournError

_ABOUT = """\
Opens the laboratory in a browser: the simulator, compiled to WebAssembly, with each packet to be seen. The page about
bufferbloat, with its seven figures, is at the same address. The files come with the package, and no network is needed.
The server answers this machine alone. Ctrl-C ends it.
"""
NOT_BUILT = (
    "the pages were not built: run make web, which needs Node 20 or newer and Rust's target wasm32-unknown-unknown"
)
#: The one address that is served: no other machine reaches it.
_HOST = "127.0.0.1"


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("lab", help="open the laboratory in a browser", description=_ABOUT)
    browser.add_options(parser)
    parser.set_defaults(handler=handle)


def handle(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from sojourn import web_build

    page = web_build.built("lab.html")
    if page is None:
        raise SojournError(NOT_BUILT)
    with serve(page.parent, args.port) as server:
        address = f"http://{_HOST}:{server.server_address[1]}/lab.html"
        print(address, flush=True)
        print("Ctrl-C ends it", file=sys.stderr)
        if args.browser:
            browser.open_page(address)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    return 0


def serve(folder: Path, port: int) -> ThreadingHTTPServer:
    """Return a server of the files of a folder, which listens on the loopback only.

    Raises `ParamError` if the port is taken.
    """

    def handler(*words: Any) -> _Files:
        return _Files(*words, directory=str(folder))

    try:
        return ThreadingHTTPServer((_HOST, port), handler)
    except OSError as error:
        message = f"port is {port}, but it cannot be used: {error.strerror}"
        raise ParamError(message) from error


class _Files(SimpleHTTPRequestHandler):
    """Answers with files. A request by another name than this machine's own is refused, and a folder is not listed."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".js": "text/javascript", ".wasm": "application/wasm"}

    def send_head(self) -> Any:
        name, _, _ = (self.headers.get("Host") or "").partition(":")
        if name not in {_HOST, "localhost"}:
            self.send_error(403, f"the host is {name[:40]!r}, but must be {_HOST} or localhost")
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> None:
        self.send_error(404, "there is no such file")

    def end_headers(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of each file."""
