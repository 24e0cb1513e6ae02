"""Files: every one is whole or not there.

A file is written beside its place under another name and then moved onto it, so that neither Ctrl-C nor a full
disk leaves half a file, and nothing that was there is overwritten unless that was asked for.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn import bounded
from sojourn.errors import ParamError, SojournError

if TYPE_CHECKING:
    import polars as pl

PLAN_FORMAT = "sojourn-plan/1"
#: The store of a result folder, unless another was asked for.
RUNS = "runs"

_PLAN = "plan.json"

#: All that Sojourn writes into a result folder; `--force` removes these and touches nothing else.
_OURS = (
    "index.json",
    "import.json",
    "plan.json",
    "run.json",
    "compare.json",
    "sweep.json",
    "claims.json",
    "tune.json",
    "measures.jsonl",
    "map.json",
    "map.csv",
    "validate.json",
    "validate.md",
    "part.json",
    "report.html",
    "table.md",
    "table.csv",
    "*.parquet",
    "figures/*.svg",
    "figures/*.png",
    "tables/*.md",
    "tables/*.csv",
)


class ResultFolder:
    """A folder that results are written into.

    Parameters
    ----------
    path
        The folder; made if need be.
    force
        Whether earlier results in it are replaced.
    plan
        What names the plan whose results go there. A folder in which the same plan was begun is gone on with.
    again
        Whether it is gone on with even if the plan was finished.

    Raises
    ------
    ParamError
        If it is there already and `force` was not given, or is not a folder.
    SojournError
        If it cannot be made.
    """

    def __init__(self, path: Path, *, force: bool = False, plan: str | None = None, again: bool = False) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            message = f"out is {str(path)!r}, but must be a folder or not be there yet"
            raise ParamError(message)
        try:
            if path.is_dir():
                if force:
                    self._clear()
                else:
                    self._refuse_another(plan, again=again)
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"out is {str(path)!r}, which cannot be used: {error.strerror or error}"
            raise SojournError(message) from error

        if plan is not None:
            self.write(_PLAN, json.dumps({"format": PLAN_FORMAT, "plan": plan}) + "\n")

    def _refuse_another(self, plan: str | None, *, again: bool) -> None:
        """Raise unless this plan was begun here."""
        found = None
        with suppress(SojournError, AttributeError):
            found = bounded.read_json(self.path / _PLAN).get("plan")
        finished = (self.path / "index.json").exists()
        if plan is not None and found == plan and (again or not finished):
            return
        what = "holds another plan" if again and found is not None else "is there already"
        message = f"out is {str(self.path)!r}, which {what}: name another folder, or give --force"
        raise ParamError(message)

    def write(self, name: str, data: str | bytes) -> Path:
        """Write one file, whole; `name` is relative to the folder. Return its path."""
        target = self.path / name
        write_file(target, data)
        return target

    def write_frame(self, name: str, frame: pl.DataFrame) -> Path:
        """Write a frame as Parquet."""
        buffer = BytesIO()
        frame.write_parquet(buffer, compression="zstd", statistics=False)
        return self.write(name, buffer.getvalue())

    def _clear(self) -> None:
        from sojourn.run_store import RunStore

        RunStore(self.path / RUNS).remove()
        for pattern in _OURS:
            for old in self.path.glob(pattern):
                old.unlink()


def plan_name(*parts: object) -> str:
    """Return a name for a plan that is made of these."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def write_file(target: Path, data: str | bytes) -> None:
    """Write one file, whole, over what may be there; folders on the way are made.

    Raises
    ------
    SojournError
        If it cannot be written.
    """
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(data.encode() if isinstance(data, str) else data)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        message = f"{target} cannot be written: {error.strerror or error}"
        raise SojournError(message) from error
