"""The cells of a plan as data: how `plan.toml` of a paper says what is run for each of its parts.

    [[cells]]
    parts = ["tau"]
    for = { scheme = "SCHEMES", load = "LOADS", setting = "TAU" }
    at = { experiment = "ns2" }

Loops (`for`) and cells (`at`) are those of the claims (`sojourn.papers.kit.rules`). A table of a loop may have `parts`
of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sojourn.papers.kit.claims import reader_of, stored
from sojourn.papers.kit.evidence import C, Evidence
from sojourn.papers.kit.rules import Vocabulary


def cells_of(
    paper: str, vocabulary: Vocabulary[C, Any], parts: Sequence[str], names: Mapping[str, Any] | None = None
) -> list[C]:
    """Return the cells that parts of a paper (the name of its folder) need, each once, in the order of the file.

    Parameters
    ----------
    paper, vocabulary
        The paper, and what its claims speak of.
    parts
        Of the paper.
    names
        What loops may name besides what the file and the claims do.
    """
    plain = stored(paper, "plan")
    reader = reader_of(paper, vocabulary, Evidence[C, Any](cells={}), {**plain.get("names", {}), **(names or {})})
    turns = ((one, turn) for one in plain["cells"] for turn in reader.loops(one.get("for", {}), {}))
    found = (
        vocabulary.cell(**reader.fields(reader.placed({}, turn), one.get("at", ()), turn))
        for one, turn in turns
        if set(turn.get("parts", one.get("parts"))) & set(parts)
    )
    return list(dict.fromkeys(found))
