"""What is skipped for want of something is counted by what it needs, and no skip is made elsewhere."""

import re
from pathlib import Path

import pytest

from tests import optional

HERE = Path(__file__).parent


def test_the_summary_has_one_line_for_each_need() -> None:
    reasons = [
        "Skipped: " + optional.KERNEL.reason("none was built"),
        "Skipped: " + optional.lacking("tshark").reason(),
        "Skipped: " + optional.KERNEL.reason("two\nlines"),
        "unconditional skip",
    ]
    assert optional.summary(reasons) == [
        "2 skipped: needs a kernel in virtual time: scripts/kernels",
        "1 skipped: needs tshark: scripts/judges",
        "1 skipped: unconditional skip",
    ]


def test_a_program_is_found_or_the_test_is_skipped_with_the_command(tmp_path: Path) -> None:
    assert Path(optional.program("sh")).name == "sh"
    with pytest.raises(pytest.skip.Exception, match="^needs sh: scripts/judges$"):
        optional.program("sh", path=str(tmp_path))


def test_skips_are_made_in_one_place() -> None:
    for path in HERE.glob("*.py"):
        text = path.read_text()
        if path.name not in ("optional.py", "test_optional.py"):
            assert "pytest.skip(" not in text, path.name
            for reason in re.findall(r"(?:skipif|importorskip)\(.*?reason=(\S+)", text):
                assert reason.startswith("optional."), f"{path.name}: {reason}"


@pytest.mark.parametrize("command", [optional.JUDGES, optional.KERNELS, "scripts/setup"])
def test_the_commands_are_there(command: str) -> None:
    assert (HERE.parent / command).stat().st_mode & 0o100
