"""Ctrl-C with the library of frames loaded."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

CODE = """
import os, sys
from sojourn.frame_library import pl
child = os.posix_spawnp("sleep", ["sleep", "60"], os.environ)
try:
    print(child, flush=True)
    os.wait4(child, 0)
except KeyboardInterrupt:
    os.kill(child, 9)
    sys.exit(130)
"""


def test_an_interrupt_ends_a_wait_for_a_child() -> None:
    """Without `siginterrupt` the wait goes on until the child has ended by itself, and this test would time out."""
    with subprocess.Popen(
        [sys.executable, "-c", CODE], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as program:
        assert program.stdout is not None
        program.stdout.readline()
        time.sleep(0.5)  # by now it waits
        program.send_signal(signal.SIGINT)
        try:
            assert program.wait(30) == 130
        finally:
            program.kill()
