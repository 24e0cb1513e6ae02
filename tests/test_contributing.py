"""The guides to something new quote files as they are: their diffs were applied, or could still be."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs/guides").glob("add-*.md"))}


def quoted(example: str) -> Iterator[tuple[str, str, str]]:
    """Yield each line of the diffs of an example: its file, its sign and its text."""
    for block in re.findall(r"```diff\n(.*?)```", example, re.DOTALL):
        name = ""
        for line in block.splitlines():
            if line.startswith("+++ b/"):
                name = line.removeprefix("+++ b/")
            elif line and not line.startswith("@@"):
                yield name, line[0], line[1:]


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_quotes_files_as_they_are(title: str) -> None:
    tried_only = "as a try-out that is not part of Sojourn" in EXAMPLES[title]
    lines = list(quoted(EXAMPLES[title]))
    assert lines
    changed = {name for name, sign, _ in lines if sign != "+"}
    for name, sign, text in lines:
        if tried_only and name not in changed:
            assert not (ROOT / name).exists(), name
        elif text.strip() and (sign == " " or tried_only == (sign == "-")):
            assert text in (ROOT / name).read_text(encoding="utf-8").splitlines(), f"{name} has no line {text!r}"
