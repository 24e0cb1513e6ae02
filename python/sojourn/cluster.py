"""A plan on a Dask cluster: many short runs in one task, and the runs back to the client, which writes them.

Dask runs the tasks of a worker that dies again on another; a run is a function of its scenario, so this cannot
change a record. The workers need this version of Sojourn and no file system in common with the client. Who can run code
where is in `sojourn.cluster_address`.
"""

from __future__ import annotations

import logging
import queue
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import islice
from typing import Any

from sojourn import _native, backends, cluster_address
from sojourn.backends import Backend
from sojourn.errors import ParamError, SojournError
from sojourn.plan import Done, Job
from sojourn.progress import say
from sojourn.store.run_store import RunStore

#: How long the scheduler, and then the first worker, may take to answer.
CONNECT_S = 4.0
#: How long a plan goes on hoping for a worker once all are gone.
ALONE_S = 60.0
#: A task holds as many runs as take about this long, so that the cost of a task is small against it.
TASK_S = 0.5
MOST_RUNS_OF_A_TASK = 64

#: What a task answers for each run: the record; or head, series and summary; or the sentence of the refusal. And what
#: was measured, by its name, which the client keeps.
Answer = tuple[str, tuple[bytes, ...], dict[str, bytes]]


class _Carried:
    """What a worker measured, on its way to the client; what the client has, it has looked for itself."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def get(self, name: str) -> bytes | None:
        return self.files.get(name)

    def put(self, name: str, data: bytes) -> None:
        self.files[name] = data


def run_task(
    build: str,
    identity: tuple[str, str],
    jobs: list[tuple[str, str]],
    stored: bool,  # noqa: FBT001
) -> tuple[float, list[Answer]]:
    """Run the (id, scenario) pairs of a task on a worker; answer how long that took, and each run.

    Raises `SojournError` if the worker has another build of Sojourn than the client, or another kernel, or a run fails.
    """
    if build != _native.__build__:
        message = f"a Dask worker has another version of Sojourn (build {_native.__build__}; this is {build})"
        raise SojournError(message)
    name, expected = identity
    backend = backends.named(name)
    if backend.identity != expected:
        message = f"a Dask worker has another kernel ({backend.identity}; this is {expected})"
        raise SojournError(message)
    began = time.perf_counter()
    answers: list[Answer] = []
    for run_id, scenario in jobs:
        try:
            carried = _Carried()
            parts = backend.run_and_keep(scenario, run_id, carried) if stored else (backend.run(scenario).encode(),)
            answers.append(("ok", parts, carried.files))
        except ParamError as error:
            answers.append(("refused", (str(error).encode(),), {}))
    return time.perf_counter() - began, answers


@contextmanager
def cluster(address: str) -> Iterator[Any]:
    """Connect to the scheduler at `address`, wait for a worker, and yield the client.

    Raises `SojournError` if Dask is not installed, or the scheduler or its workers are not there.
    """
    with _quiet(), _connected(address) as client:
        yield client


def on_cluster(
    client: Any, address: str, jobs: Iterable[Job], store: RunStore | None, backend: Backend
) -> Iterator[Done]:
    """Run the jobs on a cluster; yield as `sojourn.pool.in_process` does.

    What was measured before is with the client, which makes records of it itself. Raises `ParamError` if a scenario is
    refused, and `SojournError` if the cluster is lost, or a run cannot be written.
    """
    yield from _Tasks(client, address, store, backend).finished(iter(jobs))


class _Tasks:
    """The tasks under way: always enough that no worker waits, and never many more."""

    def __init__(self, client: Any, address: str, store: RunStore | None, backend: Backend) -> None:
        self.client, self.address, self.store, self.backend = client, address, store, backend
        self.identity = (backend.spec, backend.identity)
        self.waiting: deque[Job] = deque()
        self.reused: deque[Done] = deque()
        self.size = 1
        self.under_way: dict[Any, list[Job]] = {}
        self.done: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def finished(self, coming: Iterator[Job]) -> Iterator[Done]:
        to_run = filter(self._is_to_run, coming)
        self._fill(to_run)
        while self.under_way or self.reused:
            while self.reused:
                yield self.reused.popleft()
            if not self.under_way:
                return
            future = self._next()
            jobs = self.under_way.pop(future)
            took, answers = self._result(future)
            future.release()
            self.size = max(1, min(MOST_RUNS_OF_A_TASK, int(TASK_S / max(took / len(jobs), 1e-6))))
            self._fill(to_run)
            for job, (word, parts, measured) in zip(jobs, answers, strict=True):
                if word == "refused":
                    raise ParamError(parts[0].decode())
                if self.store is not None:
                    for name, data in measured.items():
                        self.store.measured.put(name, data)
                    self.store.add(job.id, parts[0], parts[1])
                yield Done(job, parts[-1], reused=False)

    def _is_to_run(self, job: Job) -> bool:
        """Tell whether a job is for the cluster; a record of what was measured before is made here."""
        if (
            self.store is None
            or (parts := self.backend.from_measurements(job.text, job.id, self.store.measured)) is None
        ):
            return True
        self.store.add(job.id, parts[0], parts[1])
        self.reused.append(Done(job, parts[2], reused=True))
        return False

    def _fill(self, to_run: Iterator[Job]) -> None:
        tasks = 2 * max(1, sum(self.client.nthreads().values()))
        self.waiting.extend(islice(to_run, max(tasks * self.size - len(self.waiting), 0)))
        while self.waiting and len(self.under_way) < tasks:
            # The last runs are spread over all workers.
            size = max(1, min(self.size, len(self.waiting) // tasks))
            batch = [self.waiting.popleft() for _ in range(size)]
            self.waiting.extend(islice(to_run, size))
            pairs = [(job.id, job.text) for job in batch]
            future = self.client.submit(
                run_task, _native.__build__, self.identity, pairs, self.store is not None, pure=False
            )
            self.under_way[future] = batch
            future.add_done_callback(self.done.put)

    def _next(self) -> Any:
        alone_since = None
        while True:
            with suppress(queue.Empty):
                return self.done.get(timeout=1.0)
            if self.client.status not in {"running", "connecting"}:
                why = "the Dask scheduler is gone"
                raise self._lost(why)
            with suppress(OSError, TimeoutError):
                if self.client.nthreads():
                    alone_since = None
                    continue
            alone_since = alone_since or time.monotonic()
            if time.monotonic() - alone_since > ALONE_S:
                why = "all Dask workers are gone"
                raise self._lost(why)

    def _result(self, future: Any) -> tuple[float, list[Answer]]:
        try:
            took, answers = future.result()
        except SojournError:
            raise
        except ModuleNotFoundError as error:
            message = f"a Dask worker lacks the module {error.name!r}: install this version of Sojourn there"
            raise SojournError(message) from error
        except Exception as error:  # killed too often, cancelled, connection lost
            why = f"a Dask task failed ({type(error).__name__}: {error})"
            raise self._lost(why) from error
        return took, answers

    def _lost(self, why: str) -> SojournError:
        return SojournError(f"dask {self.address}: {why}; the runs that were stored are kept")


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        message = f"dask is {address!r}, but Dask is not installed: pip install 'sojourn[dask]'"
        raise SojournError(message) from error
    lacks = cluster_address.lacking(address)
    if lacks is not None:
        raise SojournError(lacks)
    try:
        connect: Any = Client
        client = connect(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
        message = f"dask is {address!r}, but no Dask scheduler answers there within {CONNECT_S:g} s"
        if address.startswith("tls:"):
            message += " whose certificate and ours are of the same authority"
        raise SojournError(message) from error
    try:
        try:
            client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError as error:
            message = f"dask is {address!r}, but that Dask scheduler has no workers"
            raise SojournError(message) from error
        _warn_once(address)
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=2)


@cache
def _warn_once(address: str) -> None:
    """Say what an address that is not secure permits; a command may connect several times."""
    sentence = cluster_address.warning(address)
    if sentence is not None:
        say(sentence)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Dask logs off standard error: what goes wrong is told in one sentence."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado")]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, (level, _) in zip(loggers, before, strict=True):
            logger.setLevel(level)
