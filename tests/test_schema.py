"""Types of what is read from files."""

import subprocess
import sys


def test_a_type_is_first_met_by_many_threads_at_once() -> None:
    # Each class is new, so each round meets it for the first time. msgspec 0.22 crashes where two threads do at once.
    code = """
import sys, threading
import msgspec
from sojourn import schema

sys.setswitchinterval(1e-6)
for _ in range(60):
    inner = msgspec.defstruct("Inner", [(f"key_{at}", "int | None", None) for at in range(40)])
    outer = msgspec.defstruct("Outer", [("inner", inner), ("more", dict[str, inner], {})])
    start = threading.Barrier(8)
    def meet():
        start.wait()
        assert schema.decoder(outer).decode(b'{"inner": {"key_7": 1}}').inner.key_7 == 1
    threads = [threading.Thread(target=meet) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
