"""From a plan to its runs: what is stored already is taken from there, the rest is run here or on a cluster.

Of a run that is not stored what was measured may be, with another build: then its record is made of that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain, islice

from sojourn import plan, schema
from sojourn.backends import SIMULATOR, Backend
from sojourn.bounds import check_plan, check_workers
from sojourn.errors import refused
from sojourn.plan import Done, Job
from sojourn.pool import in_pool, in_process
from sojourn.progress import progress_bar, say
from sojourn.record import Summary
from sojourn.scenario import Scenario
from sojourn.store.run import Run
from sojourn.store.run_store import RunStore


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

    Raises `ParamError` if a scenario is refused, there are more than may be asked for at once (`sojourn.bounds`),
    `workers` is out of range, or both `workers` and `dask` are given, and `SojournError` if a worker dies, the
    scheduler is not there, or the store cannot be used.

    - `scenarios`: the plan. All of it is checked before anything is run. One of `sojourn.lazy` is made as it is run, so
      that a long one begins at once.
    - `workers`: number of processes (default: one for each core; one for a back end whose runs share a clock). With
      one, nothing is started.
    - `describe`: word for the progress bar on standard error; `None` shows none.
    - `done`: called in the calling thread with the place in the plan and the run, as soon as one is there.
    - `store`: where runs are kept. Those that are there are not made again; those that are made are there as soon as
      they are done, whatever becomes of the others. So is what was measured of a kernel in virtual time. Of each run
      only the summary stays in memory. Without a store every record does.
    - `dask`: address of a Dask scheduler, whose workers make the runs instead of processes here.
    """
    check_workers(workers)
    if workers is not None and dask is not None:
        raise refused(workers, "workers", "must not be given together with dask")
    check_plan(len(scenarios), stored=store is not None)
    jobs = plan.jobs(scenarios, backend=backend)
    runs: list[Run | None] = [None] * len(jobs)
    first: dict[str, int] = {}
    again: dict[str, list[int]] = {}
    # Made; of these, made of measurements; and handed over without being made since the bar last moved.
    missing = reused = ready = 0

    def hand_over(place: int, run: Run) -> None:
        runs[place] = run
        if done is not None:
            done(place, run)

    def to_make(there: set[str]) -> Iterator[Job]:
        """Yield what is to be made, one after the other, and hand over what is there on the way."""
        nonlocal missing, ready
        for place, job in enumerate(jobs):
            before = first.setdefault(job.id, place)
            if before != place:
                if (run := runs[before]) is None:
                    again.setdefault(job.id, []).append(place)
                else:
                    hand_over(place, run)
                    ready += 1
            elif store is not None and job.id in there:
                hand_over(place, store.get(job.id, job.text))
                ready += 1
            else:
                missing += 1
                yield job

    with store.writing() if store is not None else nullcontext():
        rest = to_make(store.ids() if store is not None else set())
        # As many as would be made at once: with fewer there are fewer workers, and with none nothing is started.
        number = workers or (1 if backend.shares_a_clock else cores())
        begin = list(islice(rest, number))
        with (
            _executor(min(number, len(begin)), store, dask, backend) as execute,
            progress_bar(len(jobs), describe, begin_at=ready) as tick,
        ):
            ready = 0
            for job, answer, was_reused in execute(chain(begin, rest)):
                run = (
                    Run(text=answer.decode())
                    if store is None
                    else store.made(job, schema.decoder(Summary).decode(answer))
                )
                hand_over(first[job.id], run)
                reused += was_reused
                tick(f"{reused} from measurements" if reused else "")
                for place in again.pop(job.id, ()):
                    hand_over(place, run)
                    ready += 1
                if ready:
                    tick(passed=ready)
                    ready = 0
    if reused and store is not None and describe is not None:
        say(
            f"{describe}: {reused} of the {missing} runs that were not stored were made from the measurements in "
            f"{store.measured.folder}, without the kernel"
        )
    return [run for run in runs if run is not None]


@contextmanager
def _executor(
    number: int, store: RunStore | None, dask: str | None, backend: Backend
) -> Iterator[Callable[[Iterable[Job]], Iterator[Done]]]:
    """Make ready what runs jobs, `number` at once, and yield what starts it; none is nothing to make ready for."""
    if dask is not None and number > 0:
        from sojourn import cluster

        with cluster.cluster(dask) as client:
            yield lambda jobs: cluster.on_cluster(client, dask, jobs, store, backend)
    elif number <= 1:
        yield lambda jobs: in_process(jobs, store, backend)
    else:
        yield lambda jobs: in_pool(jobs, number, store, backend)
