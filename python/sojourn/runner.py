"""From a plan to its records: a pool of worker processes, a progress bar, and a clean stop on Ctrl-C.

A worker is a fresh Python process that only runs scenarios (`sojourn._worker`). It needs no guard in the
caller's script, as `multiprocessing` would, and shares no state, so the number of workers cannot change a record.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

from tqdm import tqdm

from sojourn import _native
from sojourn.errors import ParamError, SojournError
from sojourn.scenario import Scenario

#: A bar appears only for what takes longer than this.
QUIET_S = 2.0

Progress = Callable[[], None]


def cores() -> int:
    """Return the number of processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(
    scenarios: Sequence[Scenario],
    *,
    workers: int | None = None,
    describe: str | None = None,
    done: Callable[[int, str], None] | None = None,
) -> list[str]:
    """Run every scenario and return the records' JSON in the order of the plan.

    Parameters
    ----------
    scenarios
        The plan.
    workers
        Number of processes (default: one for each core). With one, nothing is started.
    describe
        Word for the progress bar on standard error; `None` shows none.
    done
        Called in the calling thread with the place in the plan and the record, as soon as one is there.

    Raises
    ------
    ParamError
        If a scenario is refused, or `workers` is less than 1.
    SojournError
        If a worker dies.
    """
    if workers is not None and workers < 1:
        message = f"workers is {workers}, but must be at least 1"
        raise ParamError(message)
    texts = [scenario.normalized() for scenario in scenarios]
    number = min(workers or cores(), len(texts))
    records = [""] * len(texts)
    with progress_bar(len(texts), describe) as tick:
        finished = _in_process(texts) if number <= 1 else _in_pool(texts, number)
        for place, record in finished:
            records[place] = record
            if done is not None:
                done(place, record)
            tick()
    return records


@contextmanager
def progress_bar(total: int, describe: str | None) -> Iterator[Progress]:
    """Show a bar on standard error once `QUIET_S` seconds have gone by; yield what moves it on by one."""
    if describe is None:
        yield lambda: None
        return
    # On a terminal the bar moves twice a second; in a log it says a word each half minute.
    period = 0.5 if sys.stderr.isatty() else 30.0
    bar = _Bar(total, describe, period)
    stop = threading.Event()

    def show() -> None:
        wait = QUIET_S
        while not stop.wait(wait):
            bar.show()
            wait = period

    clock = threading.Thread(target=show, daemon=True)
    clock.start()
    try:
        yield bar.tick
    finally:
        stop.set()
        clock.join()
        bar.close()


class _Bar:
    """A progress bar that is not there until it is first shown."""

    def __init__(self, total: int, describe: str, period: float) -> None:
        self.total, self.describe, self.period = total, describe, period
        self.began = time.time()
        self.lock = threading.Lock()
        self.count = 0
        self.bar: tqdm[NoReturn] | None = None

    def tick(self) -> None:
        """Count one more."""
        with self.lock:
            self.count += 1
            if self.bar is not None:
                self.bar.update()

    def show(self) -> None:
        """Draw it."""
        with self.lock:
            if self.bar is None:
                tqdm.monitor_interval = 0  # no second thread: `show` is called often enough
                self.bar = tqdm(
                    total=self.total, desc=self.describe, unit="run", file=sys.stderr, mininterval=self.period
                )
                self.bar.start_t = self.began
                self.bar.n = self.count
            self.bar.refresh()

    def close(self) -> None:
        """Draw it for the last time, if it was ever drawn."""
        if self.bar is not None:
            self.bar.close()


def _in_process(texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    for place, text in enumerate(texts):
        yield place, _native.run(text)


def _in_pool(texts: Sequence[str], number: int) -> Iterator[tuple[int, str]]:
    waiting: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
    for item in enumerate(texts):
        waiting.put(item)
    answers: queue.SimpleQueue[tuple[int, str] | BaseException] = queue.SimpleQueue()

    def serve(worker: _Worker) -> None:
        try:
            while True:
                place, text = waiting.get_nowait()
                answers.put((place, worker.ask(text)))
        except queue.Empty:
            return
        except Exception as error:  # handed to the calling thread, which raises it
            answers.put(error)

    with _Workers(number) as pool:
        threads = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in pool.workers]
        for thread in threads:
            thread.start()
        for _ in texts:
            answer = answers.get()
            if isinstance(answer, BaseException):
                raise answer
            yield answer


class _Workers:
    """So many workers, all gone when the block is left, however it is left."""

    def __init__(self, number: int) -> None:
        self.workers: list[_Worker] = []
        try:
            for _ in range(number):
                self.workers.append(_Worker())
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
    def __init__(self) -> None:
        package = Path(__file__).resolve().parent.parent
        paths = [str(package), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        self.process = subprocess.Popen(
            # -P: a file called json.py in the current folder must not be taken for the library.
            [sys.executable, "-P", "-m", "sojourn._worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )

    def ask(self, scenario: str) -> str:
        """Return the record of one scenario (one line of JSON)."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(scenario.replace("\n", " ").encode() + b"\n")
            self.process.stdin.flush()
            word, _, size = self.process.stdout.readline().partition(b" ")
            payload = self.process.stdout.read(int(size)) if size else b""
        except BrokenPipeError:
            word = b""
        if word == b"ok":
            return payload.decode()
        if word == b"refused":
            raise ParamError(payload.decode())
        message = f"a worker process died (exit status {self.process.wait()}); nothing of its run was kept"
        raise SojournError(message)

    def close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
