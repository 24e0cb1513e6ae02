"""The command line: one file for each command."""

from sojourn.cli.main import main

__all__ = ["main"]
