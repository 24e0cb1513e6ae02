"""polars, with waits that Ctrl-C still ends: everything here takes it from this file.

polars puts a handler of its own before Python's for SIGINT, and has the kernel begin interrupted system calls again. A
wait for a child or a pipe would then go on after Ctrl-C until the child ends. With Python's own handler such calls
return.
"""

from __future__ import annotations

import signal

import polars as pl

__all__ = ["pl"]

signal.siginterrupt(signal.SIGINT, True)
