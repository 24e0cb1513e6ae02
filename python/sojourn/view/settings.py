"""What tells the runs of a folder apart, beside their seeds: names of disciplines, and of all else that differs.

A setting is what a run has in common with its repeats, as the compiled part reads it from the record: JSON of the
scenario without seed and name, and of what the run was made by.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: What the names of link and disciplines say.
_NAMED = {"up", "down", "qdisc_up", "qdisc_down"}


def leaves(setting: str) -> dict[str, str]:
    """Return each value of a setting by its path, such as `flows[0].rtt`; a list also has its length."""
    found: dict[str, str] = {}

    def visit(path: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                visit(f"{path}.{key}" if path else key, inner)
        elif isinstance(value, list):
            found[path] = str(len(value))
            for place, inner in enumerate(value):
                visit(f"{path}[{place}]", inner)
        else:
            found[path] = value if isinstance(value, str) else json.dumps(value)

    visit("", json.loads(setting))
    return found


def differences(settings: Mapping[str, object]) -> dict[str, str]:
    """Return what differs between settings, in words: no more than is needed to tell all of them apart.

    - `settings`: for each setting what it is called already.
    """
    values = {setting: leaves(setting) for setting in settings}
    classes: dict[str, object] = dict(settings)
    words: dict[str, list[str]] = {setting: [] for setting in settings}
    paths = set().union(*values.values()) - _NAMED
    # What stands higher says more: `rtt` before the round-trip time of each flow.
    for path in sorted(paths, key=lambda path: (path.count(".") + path.count("["), path)):
        if len(set(classes.values())) == len(settings):
            break
        finer = {setting: (each, values[setting].get(path)) for setting, each in classes.items()}
        if len(set(finer.values())) > len(set(classes.values())):
            # Numbers in place of what differs, which would grow with each path.
            places = {each: place for place, each in enumerate(dict.fromkeys(finer.values()))}
            classes = {setting: places[each] for setting, each in finer.items()}
            for setting, found in words.items():
                found.append(f"{path} {values[setting].get(path, '-')}")
    return {setting: ", ".join(found) for setting, found in words.items()}


def short_names(disciplines: Iterable[str]) -> dict[str, str]:
    """Return what disciplines are called: the kind, and what of its words differs from others of the kind."""
    kinds: dict[str, list[str]] = {}
    for text in dict.fromkeys(disciplines):
        kinds.setdefault(text.split(maxsplit=1)[0] if text.strip() else text, []).append(text)
    found: dict[str, str] = {}
    for kind, texts in kinds.items():
        others = [text.split() for text in texts]
        names = [_differing(words, others) for words in others] if len(texts) > 1 else [kind]
        found |= zip(texts, names if len(set(names)) == len(texts) else texts, strict=True)
    return found


def _differing(words: Sequence[str], others: Sequence[Sequence[str]]) -> str:
    """Return the first word, and those that differ, a number with the word before it."""
    if len({len(each) for each in others}) > 1:
        return " ".join(words)
    places = [place for place, each in enumerate(zip(*others, strict=True)) if len(set(each)) > 1]
    named = {place - 1 for place in places if words[place][:1].isdigit()}
    return " ".join(words[place] for place in sorted({0, *places, *named}))
