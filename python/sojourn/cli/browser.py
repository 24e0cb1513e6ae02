"""What commands share that show a page in the user's browser."""

from __future__ import annotations

import argparse
from typing import Any


def add_options(parser: Any) -> None:
    """Add the options `--port` and `--no-browser`."""
    parser.add_argument("--port", metavar="N", type=_port, default=0, help="the port (default: one that is free)")
    parser.add_argument(
        "--no-browser", dest="browser", action="store_false", help="print the address, and open no browser"
    )


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and int(text) < 65536):
        message = f"port is {text!r}, but must be a whole number from 0 to 65535"
        raise argparse.ArgumentTypeError(message)
    return int(text)


def open_page(address: str) -> None:
    """Open the address in the user's browser, if there is one."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
