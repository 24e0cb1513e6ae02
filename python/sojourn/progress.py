"""A progress bar on standard error that appears only for what takes long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, Protocol

if TYPE_CHECKING:
    from tqdm import tqdm

#: A bar appears only for what takes longer than this.
QUIET_S = 2.0


class Progress(Protocol):
    """Moves a bar on by one; what is said of all so far stands behind it."""

    def __call__(self, note: str = "", *, passed: int = 0) -> None:
        """Count one more; or, instead, `passed` more that took no time, by which the time left is not judged."""


def say(sentence: str) -> None:
    """Say something on standard error, when no bar is there."""
    print(sentence, file=sys.stderr)


@contextmanager
def progress_bar(total: int, describe: str | None, *, begin_at: int = 0, unit: str = "run") -> Iterator[Progress]:
    """Show a bar on standard error once `QUIET_S` seconds have gone by; yield what moves it on by one.

    - `total`: how many there are to do, those that are done already included.
    - `describe`: word before the bar; `None` shows none.
    - `begin_at`: how many are done already; the time left is judged by the others.
    - `unit`: what is counted.
    """
    if describe is None:
        yield _silent
        return
    # On a terminal the bar moves twice a second; in a log it says a word each half minute.
    period = 0.5 if sys.stderr.isatty() else 30.0
    bar = _Bar(total, describe, period, begin_at, unit)
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


def _silent(note: str = "", *, passed: int = 0) -> None:
    """Count for nobody."""


class _Bar:
    """A progress bar that is not there until it is first shown."""

    def __init__(self, total: int, describe: str, period: float, begin_at: int, unit: str) -> None:
        self.total, self.describe, self.period, self.begin_at = total, describe, period, begin_at
        self.unit = unit
        self.began = time.time()
        self.lock = threading.Lock()
        self.count = begin_at
        self.note = ""
        self.bar: tqdm[NoReturn] | None = None

    def tick(self, note: str = "", *, passed: int = 0) -> None:
        """Count one more, or so many that took no time."""
        with self.lock:
            if passed:
                self.begin_at += passed
                self.count += passed
                if self.bar is not None:
                    self.bar.initial += passed
                    self.bar.n += passed
                    self.bar.last_print_n += passed
                return
            self.count += 1
            self.note = note
            if self.bar is not None:
                self.bar.set_postfix_str(note, refresh=False)
                self.bar.update()

    def show(self) -> None:
        """Draw it."""
        # Imported when it is needed: this takes as long as several short runs.
        from tqdm import tqdm

        with self.lock:
            if self.bar is None:
                tqdm.monitor_interval = 0  # no second thread: `show` is called often enough
                self.bar = tqdm(
                    total=self.total,
                    initial=self.begin_at,
                    desc=self.describe,
                    unit=self.unit,
                    file=sys.stderr,
                    mininterval=self.period,
                )
                self.bar.start_t = self.began
                self.bar.n = self.count
                self.bar.set_postfix_str(self.note, refresh=False)
            self.bar.refresh()

    def close(self) -> None:
        """Draw it for the last time, if it was ever drawn."""
        if self.bar is not None:
            self.bar.close()
