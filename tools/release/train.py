"""train: builds the example `scenario` of sojourn-sim with what was counted in a first build, and prints its path.

The compiler is told what runs most: the simulator is built once so that it counts, runs scenarios of all kinds, and is
built again with the counts (profile-guided optimisation). It takes 9 to 14 % fewer instructions. Needs LLVM's tools of
the Rust toolchain: `rustup component add llvm-tools`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.bench.instructions import QDISCS, scenario
from tools.release import ROOT, Refused, output, run

#: Cells, pages, floods, all disciplines and controls: what is left out would count as never run, and be slow.
CORPUS = ROOT / "testdata/frozen.jsonl"


def _scenarios() -> Iterator[str]:
    """Yield what is run while it counts: the benchmarks, and all that the corpus has."""
    for qdisc in QDISCS:
        for flows in (8, 64):
            yield scenario(qdisc, flows, 10)
    lines = (json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines())
    yield from (line["scenario"] for line in lines if "record" in line)


def tool() -> Path | None:
    """Return the program that merges counts, or None if it is missing."""
    root, host = (output("rustc", "--print", what) for what in ("sysroot", "host-tuple"))
    path = Path(root, "lib/rustlib", host, "bin/llvm-profdata")
    return path if path.exists() else None


class Training:
    """Counts what runs.

    Parameters
    ----------
    folder
        A folder for the counts, which is not there yet or empty.

    Raises
    ------
    Refused
        If LLVM's tools are missing.
    """

    def __init__(self, folder: Path) -> None:
        """Find the tools."""
        merger = tool()
        if merger is None:
            message = "LLVM's tools are missing: rustup component add llvm-tools gets them"
            raise Refused(message)
        self._merger, self._folder = merger, folder
        self._counts = folder / "counts.profdata"
        folder.mkdir(exist_ok=True)

    def counting(self, environment: dict[str, str]) -> dict[str, str]:
        """Return the environment in which Cargo builds what counts."""
        return _with_flags(environment, f"-Cprofile-generate={self._folder}", "counting")

    def counted(self, environment: dict[str, str]) -> dict[str, str]:
        """Return the environment in which Cargo builds with the counts."""
        return _with_flags(environment, f"-Cprofile-use={self._counts}", "counted")

    def run(self, *words: str | Path, environment: dict[str, str] | None = None) -> None:
        """Run all scenarios with a program that counts; it reads one on its standard input."""
        for text in _scenarios():
            done = subprocess.run(words, input=text, text=True, env=environment, stdout=subprocess.DEVNULL, check=False)
            if done.returncode:
                message = f"{words[0]} failed while it counted"
                raise Refused(message)
        run(self._merger, "merge", "--output", self._counts, *self._folder.glob("*.profraw"))


def _with_flags(environment: dict[str, str], flag: str, name: str) -> dict[str, str]:
    """Return an environment for Cargo with one more flag of the compiler, and a target folder of its own."""
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / name
    flags = f"{environment.get('RUSTFLAGS', '')} {flag}".strip()
    return environment | {"RUSTFLAGS": flags, "CARGO_TARGET_DIR": str(target)}


@contextmanager
def training() -> Iterator[Training]:
    """Train in a folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="train-") as folder:
        yield Training(Path(folder))


def example() -> Path:
    """Build the example with what it was trained to, and return its path."""
    words = ("cargo", "build", "--quiet", "--release", "--locked", "-p", "sojourn-sim", "--example", "scenario")
    place = Path("release/examples/scenario")
    with training() as counts:
        counting = counts.counting(dict(os.environ))
        run(*words, environment=counting)
        counts.run(Path(counting["CARGO_TARGET_DIR"], place), environment=counting)
        counted = counts.counted(dict(os.environ))
        run(*words, environment=counted)
        built = Path(counted["CARGO_TARGET_DIR"], place)
    kept = ROOT / "out/trained/scenario"
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(built, kept)
    return kept


if __name__ == "__main__":
    print(example())
