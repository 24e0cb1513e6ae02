"""For tests of other people's programs: a fixture of pytest that runs them behind a link, in virtual time.

Name it in a `conftest.py`: `pytest_plugins = ["sojourn.testing"]`.

    def test_a_download_leaves_the_queue_short(behind_link):
        ran = behind_link(["curl", "-so/dev/null", "http://SERVER:8000/big"], server="python3 -m http.server",
                          rate="5mbit", rtt="80ms", qdisc="fq_codel")
        assert ran.status == 0
        assert ran.flow("tcp").down.sojourn_ms.p99 < 30
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sojourn.execution import Execution, busiest, execute, scenario

__all__ = ["Execution", "behind_link", "busiest", "execute", "scenario"]


@pytest.fixture(scope="session")
def behind_link() -> Callable[..., Execution]:
    """Return a function that runs a command: its arguments are those of `scenario`, and `kernel`."""

    def run(command: list[str], *, kernel: str | None = None, **link: Any) -> Execution:
        return execute(scenario(command, **link), kernel=kernel)

    return run
