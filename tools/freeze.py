"""freeze [--draw FILE]: writes into `testdata/frozen.jsonl` what this build makes of the scenarios there.

`tests/test_frozen.py` holds every later build against the file: the canonical text on each back end or the sentence of
its refusal, and the record of the run. Texts and records are held as hashes. Run this only if the contract changed on
purpose, and say in the commit what changed. The scenarios stay as they are, so only lines with another answer change.

With `--draw`, FILE gets other scenarios of the same kind: each is one of those with keys of a second one. Half of them
run, and in the others one value is wrong, most of the time. Needs scripts/setup.
"""

from __future__ import annotations

import json
import random
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from sojourn import _native
from tests.frozen import FILE, frozen_line

SEED = 20
#: Scenarios of each half.
DRAWN = 250
#: What is put in place of a value to break a scenario.
WRONG: tuple[Any, ...] = (None, True, -1, 0, 1.5, 2**70, "", "x", "-5ms", "1e400s", "0bit", "10", [], {}, [1], {"a": 1})

Scenario = dict[str, Any]


def crossed(draw: random.Random, texts: list[str]) -> Scenario:
    """Return a scenario with some keys of another one."""
    one: Scenario
    other: Scenario
    one, other = (json.loads(text) for text in draw.sample(texts, 2))
    return one | {key: value for key, value in other.items() if draw.random() < 0.4}


def accepted(draw: random.Random, texts: list[str]) -> Scenario:
    """Return a scenario that the simulator accepts."""
    while True:
        one = crossed(draw, texts)
        try:
            _native.normalize(json.dumps(one))
        except _native.ParamError:
            continue
        return one


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return each place of a scenario as a container and a key."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in ((value, key), *_places(value[key]))]


def broken(draw: random.Random, texts: list[str]) -> Scenario:
    """Return a scenario in which a value or a key is wrong, most of the time."""
    one = accepted(draw, texts)
    container, key = draw.choice(_places(one))
    way = draw.random()
    if way < 0.7:
        container[key] = draw.choice(WRONG)
    elif isinstance(container, dict):
        value = container.pop(key)
        container |= {f"{key}s": value} if way < 0.9 else {}
    else:
        container.append(container[key])
    return one


def main() -> None:
    """Write the file."""
    parser = ArgumentParser(prog="freeze", description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--draw", metavar="FILE", type=Path, help="draw other scenarios, into this file")
    path: Path | None = parser.parse_args().draw
    texts = [json.loads(line)["scenario"] for line in FILE.read_text().splitlines()]
    if path is not None:
        draw = random.Random(SEED)
        texts = [json.dumps(make(draw, texts)) for make in (accepted, broken) for _ in range(DRAWN)]
    lines = [frozen_line(one) for one in texts]
    (path or FILE).write_text("".join(json.dumps(line) + "\n" for line in lines))
    runs = sum("record" in line for line in lines)
    print(f"{len(lines)} scenarios, {runs} of them run, {sum('refused' in line['sim'] for line in lines)} refused")


if __name__ == "__main__":
    main()
