"""One worker process: scenarios in on standard input, records out on standard output or into a store.

    python -m sojourn._worker PARENT BACKEND [STORE]

A question is one line: the run's id, a space, and its scenario as JSON. An answer is a line `ok N`, `taken N`,
`refused N` or `failed N` and then N bytes of UTF-8: the record (with a store, its summary only; `taken` if it was made
of what had been measured before), or the sentence of the error. The
end of the input, or of the parent, ends the worker. Little else is imported here, so that a worker is there in a
few hundredths of a second.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from sojourn import backends
from sojourn.errors import ParamError, SojournError
from sojourn.run_files import Measured, cannot_write, write_run

#: How often a worker looks for its parent in a run that takes long.
_LOOK_S = 0.2


def main() -> None:
    """Answer until the input ends."""
    # Ctrl-C reaches the whole process group; the parent alone decides what becomes of its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent, name, *rest = sys.argv[1:]
    store = rest[0] if rest else None
    output = sys.stdout.buffer
    backend = backends.named(name)
    if backend.name != backends.SIMULATOR.name:
        # Such a run may take long, and waits for other processes, which end when their master does.
        threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()
    for line in sys.stdin.buffer:
        if os.getppid() != int(parent):
            return
        run_id, _, scenario = line.decode().partition(" ")
        word, payload = _answer(backend, run_id, scenario, store)
        try:
            output.write(b"%s %d\n%s" % (word, len(payload), payload))
            output.flush()
        except BrokenPipeError:  # nobody is there any more, and Python would complain at its exit
            os._exit(1)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os._exit(1)


def _answer(backend: backends.Backend, run_id: str, scenario: str, store: str | None) -> tuple[bytes, bytes]:
    try:
        if store is None:
            return b"ok", backend.run(scenario).encode()
        (head, series, summary), taken = backends.run_or_take(backend, scenario, run_id, Measured(store))
    except ParamError as error:
        return b"refused", str(error).encode()
    except SojournError as error:
        return b"failed", str(error).encode()
    try:
        write_run(store, run_id, head, series)
    except OSError as error:
        return b"failed", cannot_write(store, run_id, error).encode()
    return b"taken" if taken else b"ok", summary


if __name__ == "__main__":
    main()
