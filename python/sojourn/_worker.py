"""One worker process: scenarios in on standard input, records out on standard output or into a store.

    python -m sojourn._worker PARENT BACKEND [STORE]

A question is one line: the run's id, a space, and its scenario as JSON. An answer is a line `ok N`, `reused N`,
`refused N` or `failed N` and then N bytes of UTF-8: the record (with a store, its summary only; `reused` if it was made
of what had been measured before), or the sentence of the error. The
end of the input, or of the parent, ends the worker. Little else is imported here, so that a worker is there in a
few hundredths of a second.

A run is written, and forced to the disk, while the next one is made: waiting for the disk costs no processor time. Its
answer comes when it is written.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time

from sojourn import backends
from sojourn.errors import ParamError, SojournError
from sojourn.store.run_files import Measured, cannot_write, write_run

#: How often a worker looks for its parent in a run that takes long.
_LOOK_S = 0.2


def main() -> None:
    """Answer until the input ends."""
    # Ctrl-C reaches the whole process group; the parent alone decides what becomes of its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent, name, *rest = sys.argv[1:]
    store = rest[0] if rest else None
    backend = backends.named(name)
    if backend.name != backends.SIMULATOR.name:
        # Such a run may take long, and waits for other processes, which end when their master does.
        threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()
    # One run at most waits to be written, beside the one that is being written.
    made: queue.Queue[_Made | None] = queue.Queue(1)
    writer = threading.Thread(target=_deliver, args=(made, store), daemon=True)
    writer.start()
    for line in sys.stdin.buffer:
        if os.getppid() != int(parent):
            return
        run_id, _, scenario = line.decode().partition(" ")
        made.put((run_id, *_make(backend, run_id, scenario, store)))
        if backend.shares_a_clock:
            made.join()  # writing would disturb the next run
    made.put(None)
    writer.join()


#: A run's id, the first word of its answer, and the parts that a store keeps or the text of the answer.
_Made = tuple[str, bytes, "backends.Parts | bytes"]


def _deliver(made: queue.Queue[_Made | None], store: str | None) -> None:
    """Write each run, in the order in which they were made, and answer. The process does not outlive a failure."""
    output = sys.stdout.buffer
    try:
        while (one := made.get()) is not None:
            run_id, word, parts = one
            if isinstance(parts, bytes):
                payload = parts
            else:
                assert store is not None
                word, payload = _write(store, run_id, word, parts)
            output.write(b"%s %d\n%s" % (word, len(payload), payload))
            output.flush()
            made.task_done()
    except BrokenPipeError:  # nobody is there any more, and Python would complain at its exit
        os._exit(1)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os._exit(1)


def _make(
    backend: backends.Backend, run_id: str, scenario: str, store: str | None
) -> tuple[bytes, backends.Parts | bytes]:
    try:
        if store is None:
            return b"ok", backend.run(scenario).encode()
        parts, reused = backends.run_or_reuse(backend, scenario, run_id, Measured(store))
    except ParamError as error:
        return b"refused", str(error).encode()
    except SojournError as error:
        return b"failed", str(error).encode()
    return b"reused" if reused else b"ok", parts


def _write(store: str, run_id: str, word: bytes, parts: backends.Parts) -> tuple[bytes, bytes]:
    head, series, summary = parts
    try:
        write_run(store, run_id, head, series)
    except OSError as error:
        return b"failed", cannot_write(store, run_id, error).encode()
    return word, summary


if __name__ == "__main__":
    main()
