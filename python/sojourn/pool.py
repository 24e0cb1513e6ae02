"""A plan on this machine: worker processes that run it and write its runs themselves.

A worker is a fresh Python process that only runs scenarios (`sojourn._worker`). It needs no guard in the
caller's script, as `multiprocessing` would, and shares no state, so the number of workers cannot change a record.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from sojourn.backends import Backend, run_or_reuse
from sojourn.errors import ParamError, SojournError
from sojourn.plan import Done, Job
from sojourn.store.run_store import RunStore

#: A worker is asked for so much work ahead, so that none waits for the parent, but for no more runs than this.
SHORT_S = 0.2
MOST_AHEAD = 10
#: And for so many before it is known how long one takes: the parent is loading libraries then.
FIRST_AHEAD = 4
#: Nor for more bytes than a pipe holds: a worker that writes its answer must never wait for a parent that asks.
MOST_BYTES_AHEAD = 32_000


def in_process(jobs: Iterable[Job], store: RunStore | None, backend: Backend) -> Iterator[Done]:
    """Run each job here; yield it as it is done.

    Raises `ParamError` if a scenario is refused, and `SojournError` if a run cannot be written.
    """
    for job in jobs:
        if store is None:
            yield Done(job, backend.run(job.text).encode(), reused=False)
        else:
            (head, series, summary), reused = run_or_reuse(backend, job.text, job.id, store.measured)
            store.add(job.id, head, series)
            yield Done(job, summary, reused)


def in_pool(jobs: Iterable[Job], number: int, store: RunStore | None, backend: Backend) -> Iterator[Done]:
    """Run the jobs in so many processes; yield as `in_process` does, as each is done.

    Jobs are taken in the calling thread, and only so far ahead that no worker waits for them. Raises `ParamError` if a
    scenario is refused, and `SojournError` if a worker cannot be started or dies, or a run cannot be written.
    """
    coming = _Ahead(jobs, 2 * number * MOST_AHEAD)
    answers: queue.SimpleQueue[Done | BaseException] = queue.SimpleQueue()

    def serve(worker: _Worker, ahead: int) -> None:
        pending: deque[Job] = deque()
        postponed: Job | None = None
        try:
            while True:
                while len(pending) < ahead and (job := postponed or coming.next(wait=not pending)) is not None:
                    postponed = None
                    if pending and len(job.text) + sum(len(one.text) for one in pending) > MOST_BYTES_AHEAD:
                        postponed = job
                        break
                    worker.ask(job)
                    pending.append(job)
                if not pending:
                    return
                began = time.monotonic()
                answer, reused = worker.answer()
                answers.put(Done(pending.popleft(), answer, reused))
                # The last runs are not handed out ahead: another worker may be free before this one.
                took = max(time.monotonic() - began, SHORT_S / MOST_AHEAD)
                ahead = max(1, min(int(SHORT_S / took) + 1, MOST_AHEAD, len(coming) // (2 * number)))
        except Exception as error:  # handed to the calling thread, which raises it
            answers.put(error)

    with _Workers(number, store, backend) as pool:
        under_way = coming.fill()
        ahead = max(1, min(FIRST_AHEAD, len(coming) // (4 * number)))
        threads = [threading.Thread(target=serve, args=(worker, ahead), daemon=True) for worker in pool.workers]
        for thread in threads:
            thread.start()
        try:
            while under_way:
                answer = answers.get()
                if isinstance(answer, BaseException):
                    raise answer
                under_way += coming.fill() - 1
                yield answer
        finally:
            coming.end()


class _Ahead:
    """The next jobs of a plan: taken from it by one thread, and by the others from here.

    - `most`: how many are here at once.
    """

    def __init__(self, jobs: Iterable[Job], most: int) -> None:
        self._coming = iter(jobs)
        self._most = most
        self._ended = False
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()

    def __len__(self) -> int:
        return self._queue.qsize()

    def fill(self) -> int:
        """Take as many from the plan as there is room for, and return how many these are."""
        if self._ended:
            return 0
        room = max(self._most - len(self), 0)
        added = 0
        for job in islice(self._coming, room):
            self._queue.put(job)
            added += 1
        if added < room:
            self.end()
        return added

    def end(self) -> None:
        """Have those who wait know that no more come."""
        if not self._ended:
            self._ended = True
            self._queue.put(None)

    def next(self, *, wait: bool) -> Job | None:
        """Return the next; `None` if there is none any more, or none yet and it is not to wait."""
        try:
            job = self._queue.get(block=wait)
        except queue.Empty:
            return None
        if job is None:
            self._queue.put(None)  # for the others
        return job


class _Workers:
    """So many workers, all gone when the block is left, however it is left."""

    def __init__(self, number: int, store: RunStore | None, backend: Backend) -> None:
        self.workers: list[_Worker] = []
        try:
            for _ in range(number):
                self.workers.append(_Worker(store, backend))
        except OSError as error:
            self._stop()
            message = f"a worker process cannot be started: {error.strerror or error}"
            raise SojournError(message) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        for worker in self.workers:
            worker.process.terminate()
        for worker in self.workers:
            worker.process.wait()
            worker.close()


class _Worker:
    def __init__(self, store: RunStore | None, backend: Backend) -> None:
        package = Path(__file__).resolve().parent.parent
        paths = [str(package), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        where = [] if store is None else [str(store.path)]
        # Ctrl-C reaches the whole process group, and the parent alone decides what becomes of its workers: they
        # inherit that the signal is blocked, so it cannot strike before they have said that they ignore it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.process = subprocess.Popen(
                # -P: a file called json.py in the current folder must not be taken for the library.
                [sys.executable, "-P", "-m", "sojourn._worker", str(os.getpid()), backend.spec, *where],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def ask(self, job: Job) -> None:
        """Hand a job over."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(f"{job.id} {job.text}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None

    def answer(self) -> tuple[bytes, bool]:
        """Wait for the answer to the job that was handed over first, and whether it was taken from a measurement."""
        assert self.process.stdout is not None
        word, _, size = self.process.stdout.readline().partition(b" ")
        payload = self.process.stdout.read(int(size)) if size else b""
        if word in {b"ok", b"reused"}:
            return payload, word == b"reused"
        if word == b"refused":
            raise ParamError(payload.decode())
        if word == b"failed":
            raise SojournError(payload.decode())
        raise self._died()

    def _died(self) -> SojournError:
        return SojournError(
            f"a worker process died (exit status {self.process.wait()}); nothing of its run was kept, the runs before "
            "it are"
        )

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
