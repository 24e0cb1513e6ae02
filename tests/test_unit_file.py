"""The systemd unit of `sojournd flush`: what it promises, as its text says it and as systemd judges it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import optional

UNIT = Path(__file__).parents[1] / "packaging" / "sojournd-flush@.service"
SANDBOX = Path(__file__).parents[1] / "crates/sojourn-live/src/flush/sandbox.rs"

Analyze = Callable[..., str]


def settings() -> dict[str, list[str]]:
    """The settings of the unit: each key with its values in order."""
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text().splitlines():
        key, sign, value = line.partition("=")
        if sign and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


@pytest.fixture
def analyze() -> Analyze:
    """Run `systemd-analyze`; return what it printed."""
    program = shutil.which("systemd-analyze")
    if program is None:
        optional.SYSTEMD.skip()

    def call(*words: str) -> str:
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return call


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """The unit for one interface, with a program that is there."""
    path = tmp_path / "sojournd-flush@eth0.service"
    path.write_text(UNIT.read_text().replace("/usr/local/bin/sojournd", "/bin/true"))
    return path


def test_a_bad_configuration_is_not_tried_again() -> None:
    found = settings()
    assert found["Restart"] == ["on-failure"]
    assert found["RestartPreventExitStatus"] == ["2"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ProtectSystem", "strict"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", "CAP_NET_RAW"),
        ("AmbientCapabilities", "CAP_NET_RAW"),
        ("RestrictAddressFamilies", "AF_INET AF_INET6 AF_PACKET AF_NETLINK AF_UNIX"),
        ("PrivateDevices", "yes"),
        ("MemoryMax", "200M"),
        ("TasksMax", "16"),
        ("DynamicUser", "yes"),
        ("SystemCallErrorNumber", "EPERM"),
    ],
)
def test_the_service_is_confined(key: str, value: str) -> None:
    assert settings()[key] == [value]


def test_systemd_finds_no_fault(analyze: Analyze, instance: Path) -> None:
    output = analyze("verify", "--man=no", str(instance))
    assert instance.name not in output, output


def test_systemd_holds_the_service_for_well_confined(analyze: Analyze, instance: Path) -> None:
    # In tenths; 4.0 without a filter of system calls and without PrivateDevices. The command fails above the threshold.
    output = analyze("security", "--offline=true", "--threshold=20", str(instance))
    exposure = re.search(r"Overall exposure level for \S+: ([0-9.]+)", output)
    assert exposure is not None, output
    assert float(exposure[1]) <= 2.0


def _allowed(analyze: Analyze) -> set[str]:
    """The system calls that the unit's filter lets through."""

    def expanded(word: str) -> set[str]:
        if not word.startswith("@"):
            return {word}
        lines = (line.strip() for line in analyze("syscall-filter", word).splitlines()[1:])
        return set().union(*(expanded(line) for line in lines if line and not line.startswith("#")))

    # What is always let through, says systemd.exec(5).
    allowed = expanded("@default")
    for value in settings()["SystemCallFilter"]:
        calls = set().union(*(expanded(word) for word in value.removeprefix("~").split()))
        allowed = allowed - calls if value.startswith("~") else allowed | calls
    return allowed


def test_the_filter_is_wider_than_the_daemons_own(analyze: Analyze) -> None:
    own = set(re.findall(r"libc::SYS_(\w+)", SANDBOX.read_text()))
    assert len(own) > 70
    allowed = _allowed(analyze)
    assert own <= allowed, own - allowed
    # And for what the daemon does before: giving up rights, confining itself, starting threads.
    assert {"capget", "capset", "prctl", "seccomp", "clone3", "clone", "execve"} <= allowed
    assert not {"mount", "ptrace", "bpf", "init_module", "setuid", "reboot", "chroot"} & allowed
