"""One worker process: scenarios in on standard input, records out on standard output.

A question is one line of scenario JSON; an answer is a line `ok N` or `refused N` and then N bytes of UTF-8: the
record, or the sentence of the error. The end of the input ends the worker. Nothing else is imported here, so
that a worker is there in a few hundredths of a second.
"""

from __future__ import annotations

import signal
import sys

from sojourn import _native


def main() -> None:
    """Answer until the input ends."""
    # Ctrl-C reaches the whole process group; the parent alone decides what becomes of its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output = sys.stdout.buffer
    for line in sys.stdin.buffer:
        try:
            word, text = b"ok", _native.run(line.decode())
        except _native.ParamError as error:
            word, text = b"refused", str(error)
        payload = text.encode()
        output.write(b"%s %d\n%s" % (word, len(payload), payload))
        output.flush()


if __name__ == "__main__":
    main()
