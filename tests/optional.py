"""What a test may need of the machine beyond what `scripts/setup` installs, and the command that provides it.

Every skip of the Python tests is made here, so that the summary at the end can count them by what they need.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NoReturn

import pytest

#: Begins the reason of each skip; the details of one test follow after `DETAILS`.
BEGINS = "needs "
DETAILS = " -- "


@dataclass(frozen=True)
class Need:
    """Something that a machine may lack.

    Parameters
    ----------
    what
        A noun with its article, or a program's name.
    provider
        The command that provides it, or the condition under which it is there.
    """

    what: str
    provider: str

    def reason(self, why: object = None) -> str:
        """Return a skip's reason. `why` says in detail what was found, on one line."""
        detail = "" if why is None else DETAILS + " ".join(str(why).split())
        return f"{BEGINS}{self.what}: {self.provider}{detail}"

    def skip(self, why: object = None) -> NoReturn:
        """Skip the running test, or the module that is being loaded."""
        pytest.skip(self.reason(why), allow_module_level=True)


#: Installs the programs of others that tests compare with.
JUDGES = "scripts/judges"

#: Builds the kernels in virtual time.
KERNELS = "scripts/kernels"

KERNEL = Need("a kernel in virtual time", KERNELS)
RADIO_KERNEL = Need("a kernel in virtual time with radios", KERNELS)
CELL = Need("hostapd and a kernel in virtual time with radios", f"{JUDGES} && {KERNELS}")
STOCK_KERNEL = Need("a stock User-Mode Linux that runs here", JUDGES)
FLENT = Need("flent", JUDGES)
RUST = Need("Rust", "install Rust with rustup")
STATIC = Need("a static daemon of this machine's architecture in out/static", "make static")
CAPTURE = Need("a sojournd that captures", f"{JUDGES} && scripts/setup")
DAEMON = Need("sojournd", "scripts/setup")
REAL_PACKETS = Need("network namespaces and TUN devices", "run the tests on Linux, as root, with the module tun")
SITE = Need("MkDocs", ".venv/bin/python -m tools.docs --install")
USER_NAMESPACES = Need("user namespaces", "sysctl kernel.unprivileged_userns_clone=1, or run the tests as root")
KERNEL_CLASSES = Need(
    "tc, and classful disciplines in the kernel that runs", "run the tests on Linux with iproute2 and user namespaces"
)
TC = Need("tc", "apt-get install iproute2")
NEWER_TC = Need("tc of iproute2 7 or newer", JUDGES)
MOUNTS = Need("a small file system of its own", "run the tests as root, with util-linux's unshare")
ROOT = Need("root, as all other tests of its file run without it already", "run the tests as root")
NOT_ROOT = Need("a user who may not write everywhere", "run the tests as another user than root")
PERMISSIONS = Need("a file system with permissions", "run the tests in another folder")
IPV6 = Need("IPv6 in the kernel", "run the tests on a kernel with IPv6")
LINUX = Need("Linux", "run the tests on Linux")
TRACING = Need("a strace that may trace", "allow ptrace")
CARGO = Need("Rust's cargo", "install Rust")
DASK = Need("Dask", "scripts/setup")
VIEW = Need("Starlette and uvicorn", "scripts/setup")
WEB_PAGE = Need("the built pages of web/", "make web")
WEB_TESTS = Need("Node and the packages of web/", "make web")
NETWORK = Need("a network interface beside the loopback device", "run the tests on a machine with a network")
PAGES = Need("the simulator as WebAssembly and the packages of web/", "make web")
SYSTEMD = Need("systemd-analyze", "apt-get install systemd")


def program(name: str, *, path: str | None = None) -> str:
    """Return where a program is, in `path` or in `PATH`; without it the test is skipped."""
    found = shutil.which(name, path=path)
    if found is None:
        lacking(name).skip()
    return found


def lacking(name: str) -> Need:
    """Return the need of a program that `scripts/judges` installs."""
    return Need(name, JUDGES)


def summary(reasons: Iterable[str]) -> list[str]:
    """Return one line for each reason for which tests were skipped, with their number and the command.

    Parameters
    ----------
    reasons
        As pytest reports them, with or without "Skipped: " before them.
    """
    counts = Counter(reason.removeprefix("Skipped: ").partition(DETAILS)[0] for reason in reasons)
    return [f"{number} skipped: {reason}" for reason, number in sorted(counts.items())]
