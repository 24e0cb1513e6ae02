"""A guest has a processor to itself, and what starts it has its own back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sojourn.backends.linux import processor
from tests import optional

if sys.platform != "linux":
    optional.LINUX.skip()

ALL = os.sched_getaffinity(0)


@pytest.fixture(autouse=True)
def claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claims of this test alone."""
    monkeypatch.setattr(processor, "CLAIMS", tmp_path)
    return tmp_path


def affinity_of_a_child() -> set[int]:
    result = subprocess.run(
        [sys.executable, "-c", "import os; print(*os.sched_getaffinity(0))"], capture_output=True, text=True, check=True
    )
    return set(map(int, result.stdout.split()))


def test_what_is_started_meanwhile_is_bound_and_this_thread_has_its_processors_back() -> None:
    with processor.claimed() as one:
        assert one in ALL
        with processor.bound(one):
            assert affinity_of_a_child() == {one}
        assert os.sched_getaffinity(0) == ALL
    with pytest.raises(KeyError), processor.bound(one):
        raise KeyError
    assert os.sched_getaffinity(0) == ALL
    with processor.bound(None):
        assert os.sched_getaffinity(0) == ALL


def test_no_two_guests_have_the_same_while_there_is_another_and_claims_end() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "sched_getaffinity", lambda _: {3, 5})
        with processor.claimed() as first, processor.claimed() as second:
            assert {first, second} == {3, 5}
            # More guests than processors: one is shared.
            with processor.claimed() as third:
                assert third in {3, 5}
        with processor.claimed() as again:
            assert again == first


def test_nothing_is_claimed_through_a_link_or_where_nothing_can_be_made(
    claims: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {7})
    (claims / f"sojourn-{os.getuid()}-processor-7.lock").symlink_to(claims / "elsewhere")
    with processor.claimed() as one:
        assert one is None
    assert not (claims / "elsewhere").exists()
    monkeypatch.setattr(processor, "CLAIMS", claims / "not there")
    with processor.claimed() as one:
        assert one is None


def test_one_processor_of_each_core_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for number, siblings in enumerate(["0-1", "0-1", "2,4", "3", "2,4"]):
        (tmp_path / str(number)).write_text(f"{siblings}\n")
    monkeypatch.setattr(processor, "_TOPOLOGY", str(tmp_path / "{}"))
    # The last has no such file.
    assert processor.by_preference({0, 1, 2, 3, 4, 5}) == [0, 2, 3, 5, 1, 4]
