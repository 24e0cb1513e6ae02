"""From a plan to its runs: what is stored already is taken from there, the rest is run here or on a cluster.

Of a run that is not stored what was measured may be, with another build: then its record is made of that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

from sojourn import plan
from sojourn.backends import SIMULATOR, Backend
from sojourn.errors import ParamError
from sojourn.plan import Done, Job
from sojourn.pool import in_pool, in_process
from sojourn.progress import progress_bar, say
from sojourn.results import Run
from sojourn.run_store import RunStore
from sojourn.scenario import Scenario


def cores() -> int:
    """Return the number of processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_all(
    scenarios: Sequence[Scenario],
    *,
    workers: int | None = None,
    describe: str | None = None,
    done: Callable[[int, Run], None] | None = None,
    store: RunStore | None = None,
    dask: str | None = None,
    backend: Backend = SIMULATOR,
) -> list[Run]:
    """Run every scenario and return the runs in the order of the plan; identical scenarios are run once.

    Parameters
    ----------
    scenarios
        The plan. All of it is checked before anything is run.
    workers
        Number of processes (default: one for each core; one for a back end whose runs share a clock). With one,
        nothing is started.
    describe
        Word for the progress bar on standard error; `None` shows none.
    done
        Called in the calling thread with the place in the plan and the run, as soon as one is there.
    store
        Where runs are kept. Those that are there are not made again; those that are made are there as soon as they
        are done, whatever becomes of the others. So is what was measured of a kernel in virtual time. Of each run only
        the summary stays in memory. Without a store every record does.
    dask
        Address of a Dask scheduler, whose workers make the runs instead of processes here.
    backend
        What makes the runs.

    Raises
    ------
    ParamError
        If a scenario is refused, `workers` is less than 1, or both `workers` and `dask` are given.
    SojournError
        If a worker dies, the scheduler is not there, or the store cannot be used.
    """
    if workers is not None and workers < 1:
        message = f"workers is {workers}, but must be at least 1"
        raise ParamError(message)
    if workers is not None and dask is not None:
        message = f"workers is {workers}, but must not be given together with dask"
        raise ParamError(message)
    jobs = plan.jobs(scenarios, backend=backend)
    places: dict[str, list[int]] = {}
    for place, job in enumerate(jobs):
        places.setdefault(job.id, []).append(place)
    distinct = [jobs[where[0]] for where in places.values()]
    runs: list[Run | None] = [None] * len(jobs)

    def hand_over(run_id: str, run: Run) -> None:
        for place in places[run_id]:
            runs[place] = run
            if done is not None:
                done(place, run)

    taken = 0
    with store.writing() if store is not None else nullcontext():
        there = store.ids() if store is not None else set()
        missing = [job for job in distinct if job.id not in there]
        for job in distinct:
            if store is not None and job.id in there:
                hand_over(job.id, store.get(job.id, job.text))
        ready = len(distinct) - len(missing)
        with (
            _executor(missing, workers, store, dask, backend) as execute,
            progress_bar(len(distinct), describe, begin_at=ready) as tick,
        ):
            for job, answer, was_taken in execute():
                if store is None:
                    hand_over(job.id, Run(text=answer.decode()))
                else:
                    hand_over(job.id, store.made(job, json.loads(answer)))
                taken += was_taken
                tick(f"{taken} from measurements" if taken else "")
    if taken and store is not None and describe is not None:
        say(
            f"{describe}: {taken} of the {len(missing)} runs that were not stored were made from the measurements in "
            f"{store.measured.folder}, without the kernel"
        )
    return [run for run in runs if run is not None]


@contextmanager
def _executor(
    jobs: Sequence[Job], workers: int | None, store: RunStore | None, dask: str | None, backend: Backend
) -> Iterator[Callable[[], Iterator[Done]]]:
    """Make ready what runs the jobs, and yield what starts it."""
    number = min(workers or (1 if backend.shares_a_clock else cores()), len(jobs))
    if dask is not None and jobs:
        from sojourn import cluster

        with cluster.cluster(dask) as client:
            yield lambda: cluster.on_cluster(client, dask, jobs, store, backend)
    elif number <= 1:
        yield lambda: in_process(jobs, store, backend)
    else:
        yield lambda: in_pool(jobs, number, store, backend)
