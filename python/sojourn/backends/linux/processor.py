"""A processor for a guest.

Of a kernel in virtual time one thread is at work at any time: the kernel, or one of its processes, which are processes
of this machine and are handed on by `ptrace` at each system call and each event. On one processor that is a switch
between two processes. On two it wakes one that has gone idle, which in a virtual machine is an exit to the host: two to
seven times the time of a whole run (docs/lab/performance.md). So a guest is bound to one processor, and no two guests
to the same.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Where claims are: a file for each user and processor, which is locked for as long as the claim lasts.
CLAIMS = Path("/dev/shm")

_TOPOLOGY = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


@contextmanager
def claimed() -> Iterator[int | None]:
    """Claim a processor that no other guest of this user has; yield its number.

    If all are claimed it is shared with another guest. `None` if none can be claimed here.
    """
    processors = by_preference(os.sched_getaffinity(0))
    lock, chosen = None, None
    try:
        for processor in processors:
            try:
                lock = _lock(processor)
            except BlockingIOError:
                continue
            except OSError:
                break
            chosen = processor
            break
        else:
            chosen = processors[os.getpid() % len(processors)]
        yield chosen
    finally:
        if lock is not None:
            os.close(lock)


@contextmanager
def bound(processor: int | None) -> Iterator[None]:
    """Bind what this thread starts meanwhile to a processor, or to nothing."""
    if processor is None:
        yield
        return
    before = os.sched_getaffinity(0)
    try:
        # A set of processors may have been taken away since it was read.
        with suppress(OSError):
            os.sched_setaffinity(0, {processor})
        yield
    finally:
        with suppress(OSError):
            os.sched_setaffinity(0, before)


def by_preference(processors: set[int]) -> list[int]:
    """Return processors in the order in which guests take them: first one of each core, then the others."""
    return sorted(processors, key=lambda processor: (_place_in_core(processor), processor))


def _place_in_core(processor: int) -> int:
    """Return how many processors of the same core have a smaller number."""
    try:
        listed = Path(_TOPOLOGY.format(processor)).read_text()
    except OSError:
        return 0
    place = 0
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", listed):
        place += sum(other < processor for other in range(int(first), int(last or first) + 1))
    return place


def _lock(processor: int) -> int:
    """Lock the claim to a processor; `BlockingIOError` if another has it."""
    path = CLAIMS / f"sojourn-{os.getuid()}-processor-{processor}.lock"
    # The folder is everybody's: nothing is followed, and nothing is written.
    file = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(file)
        raise
    return file
