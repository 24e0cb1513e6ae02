"""How much may be asked for at once: the numbers of runs, trials and workers, and what is said to who asks for more.

What one run may need is bounded in Rust (`crates/sojourn-sim/src/scenario/limits.rs`).
"""

from __future__ import annotations

from sojourn.errors import ParamError

#: Runs of one plan. The summaries of so many take a few GB of memory, and their folders the better part of a disk.
MOST_RUNS = 1_000_000
#: Runs of a plan whose records stay in memory because no store takes them: most of them have 0.1 to 1 MB.
MOST_UNSTORED = 10_000
#: Settings that a search tries. What proposes the next takes time for each that there was.
MOST_TRIALS = 10_000
#: Processes. Each takes some 40 MB, and beyond the number of cores they only wait for each other.
MOST_WORKERS = 256


def check(field: str, value: object, most: int, why: str) -> None:
    """Raise `ParamError` unless a number is from 1 to `most`; `why` says why it may not be more."""
    if type(value) is not int:
        message = f"{field} is {_shown(value)}, but must be a whole number of at least 1"
        raise ParamError(message)
    if value < 1:
        message = f"{field} is {value}, but must be at least 1"
        raise ParamError(message)
    if value > most:
        message = f"{field} is {_shown(value)}, but must be at most {most}: {why}"
        raise ParamError(message)


def check_repeat(value: object, field: str = "repeat") -> None:
    """Raise `ParamError` unless it is a number of runs of one scenario."""
    check(field, value, MOST_RUNS, "a plan of more runs would not fit into memory")


def check_trials(value: object) -> None:
    """Raise `ParamError` unless it is a number of trials."""
    check("trials", value, MOST_TRIALS, "each proposal looks at all trials before it")


def check_workers(value: object) -> None:
    """Raise `ParamError` unless it is a number of workers; `None` is for as many as there are cores."""
    if value is not None:
        check("workers", value, MOST_WORKERS, "each is a process of its own")


def check_plan(cells: int, repeat: int, *, stored: bool = True) -> None:
    """Raise `ParamError` if a plan has more runs than may be asked for at once.

    Parameters
    ----------
    cells
        Scenarios that differ in more than their seed.
    repeat
        Runs of each.
    stored
        Whether a store takes their records.
    """
    runs = cells * repeat
    if runs > MOST_RUNS:
        message = f"the plan has {cells} x {repeat} = {runs} runs, but must have at most {MOST_RUNS}: lower repeat"
        raise ParamError(message)
    if not stored and runs > MOST_UNSTORED:
        message = (
            f"the plan has {cells} x {repeat} = {runs} runs, but must have at most {MOST_UNSTORED} where their records "
            "stay in memory: give a folder for them (--out or --store)"
        )
        raise ParamError(message)


def _shown(value: object) -> str:
    """Return a value as a sentence shows it: a number of thousands of digits by how many it has."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"a number of about {value.bit_length() * 30103 // 100_000 + 1} digits"
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else repr(value)
