"""Which kernel a run gets: the one that was named, one that was built, a stock one, or this machine's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal, get_args

from sojourn.errors import ParamError, SojournError
from sojourn.kernel import boot, cache, host, image, modules, needs

Kind = Literal["virtual", "uml", "host"]

#: Names a kernel for User-Mode Linux that is used before all others.
VARIABLE = "SOJOURN_UML_KERNEL"
#: Names the kernel of a run as `--kernel` does, which comes before it.
CHOICE = "SOJOURN_KERNEL"
#: The version that a run without a cell gets if it is among those that were built: what the simulator is modelled on.
DEFAULT_SERIES = "6.1"
#: The kernel of Debian's package user-mode-linux.
STOCK = Path("/usr/bin/linux.uml")

#: Places that a person named; if one cannot be used, no other is looked at.
NAMED = ("choice", "environment")

INSTALL = "apt-get install linux-source build-essential flex bison bc; sojourn kernel build"
INSTALL_WIFI = "apt-get install linux-source-6.12 build-essential flex bison bc; sojourn kernel build --wifi"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A kernel that real runs can use.

    Attributes
    ----------
    kind
        `virtual`: User-Mode Linux whose time stands still while it computes; a run is a function of its scenario
        and seed. `uml`: User-Mode Linux in real time. `host`: the kernel of this machine, in namespaces.
    path
        The program; `None` for the host's kernel.
    release
        What `uname -r` says in it.
    modules
        Files to be loaded, in this order.
    virtual_time
        Whether time is virtual.
    identity
        What goes into a run's name: `sha256:...` of the program, or `host:RELEASE VERSION`.
    lacks
        What it does not have, by the names of modules (`sch_fq_pie`); known for `uml` and `host` only.
    wifi
        Whether it has our Wi-Fi driver, and can run cells.
    """

    kind: Kind
    path: Path | None
    release: str
    modules: tuple[Path, ...]
    virtual_time: bool
    identity: str
    lacks: tuple[str, ...] = ()
    wifi: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A place where a kernel was looked for.

    Attributes
    ----------
    place
        Where: `choice`, `environment`, `cache`, `stock` or `host`.
    kernel
        What was found; `None` if it cannot be used.
    why_not
        Why it cannot be used.
    """

    place: str
    kernel: Kernel | None
    why_not: str | None = None


def find(choice: str | None = None, *, wifi: bool = False) -> Kernel:
    """Return the kernel for a run.

    The order: the kernel that `SOJOURN_KERNEL` names; the program that `SOJOURN_UML_KERNEL` names; Linux 6.1 of the
    cache; the newest kernel in the cache; the package user-mode-linux; the kernel of this machine. The bytes of a
    kernel in the cache are hashed at each call (5 ms); another program is booted once in a process (0.2 s), because a
    stock kernel may not run on this processor.

    For a cell only a kernel with our Wi-Fi driver will do, and a run without one never gets such a kernel unless it
    is named: it is of another version, and would change what is compared.

    Parameters
    ----------
    choice
        A kind (`virtual`, `uml`, `host`), the name of a kernel in the cache or the first numbers of its version
        (`7.3`), or the path of a program; `None` for the first in order.
    wifi
        The run has a cell.

    Raises
    ------
    ParamError
        If `choice` or the environment names what is not there or cannot be used.
    SojournError
        If there is none.
    """
    if choice is not None and choice not in get_args(Kind):
        return _named(choice, "kernel", wifi=wifi)
    return _first_of(choice, candidates(wifi=wifi), wifi=wifi)


def _first_of(kind: str | None, places: Iterator[Candidate], *, wifi: bool) -> Kernel:
    """Return the first kernel of a kind, or of any."""
    reasons = []
    for candidate in places:
        if candidate.kernel is not None:
            if kind in (None, candidate.kernel.kind):
                return candidate.kernel
        elif candidate.place in NAMED:
            raise ParamError(candidate.why_not or "")
        elif candidate.why_not is not None:
            reasons.append(candidate.why_not)
    of_kind = "" if kind is None else f" of the kind {kind}"
    what = "a cell on" if wifi else "on"
    install = INSTALL_WIFI if wifi else INSTALL
    message = f"there is no kernel{of_kind} to run {what} ({'; '.join(reasons) or 'nothing was found'}): {install}"
    raise SojournError(message)


def _with_radios(kernel: Kernel, which: str, *, wifi: bool) -> Kernel:
    """Return a kernel that a person named, if it can do what is asked of it."""
    if wifi and not kernel.wifi:
        message = f"{which}, but a run with a cell needs one with the Wi-Fi driver: sojourn kernel build --wifi"
        raise ParamError(message)
    return kernel


def candidates(*, wifi: bool = False) -> Iterator[Candidate]:
    """Yield all places in the order in which they are looked at, each judged when it is its turn.

    With `wifi` those of a kernel for cells: only one that was built or named can have the driver.
    """
    chosen = os.environ.get(CHOICE)
    if chosen:
        yield _judge("choice", partial(_named, chosen, CHOICE, wifi=wifi))
    yield from _unchosen(wifi=wifi)


def _unchosen(*, wifi: bool) -> Iterator[Candidate]:
    """Yield the places that are looked at if `SOJOURN_KERNEL` names none."""
    named = os.environ.get(VARIABLE)
    if named:
        yield _judge("environment", partial(_from_environment, named, wifi=wifi))
    built, broken = cache.built_kernels()
    fitting = [one for one in built if one.wifi == wifi]
    # A stable sort: all others stay in their order, the newest first.
    fitting.sort(key=lambda one: not is_of_version(one.version, DEFAULT_SERIES))
    for one in fitting:
        yield _judge("cache", partial(_built, one))
    for sentence in broken:
        yield Candidate(place="cache", kernel=None, why_not=sentence)
    if not fitting and not broken:
        yield Candidate(place="cache", kernel=None, why_not="none was built")
    if not wifi:
        yield _judge("stock", _stock)
        yield _judge("host", _host)


def _from_environment(named: str, *, wifi: bool) -> Kernel:
    which = f"{VARIABLE} is {named!r}"
    return _with_radios(_program(Path(named), f"{which}, but "), which, wifi=wifi)


def _judge(place: str, look: Callable[[], Kernel]) -> Candidate:
    try:
        return Candidate(place=place, kernel=look())
    except (ParamError, SojournError) as error:
        return Candidate(place=place, kernel=None, why_not=str(error))


def is_of_version(version: str, begin: str) -> bool:
    """Return whether a version is another one or begins with its numbers: 6.1.192 is of 6.1, and 6.12.5 is not."""
    numbers = begin.split(".")
    return version.split(".")[: len(numbers)] == numbers


def _named(choice: str, field: str, *, wifi: bool) -> Kernel:
    """Return the kernel that a person named in an option or a variable, which is the `field`."""
    which = f"{field} is {choice!r}"
    if "/" in choice:
        return _with_radios(_program(Path(choice), f"{which}, but "), which, wifi=wifi)
    if choice in get_args(Kind):
        return _first_of(choice, _unchosen(wifi=wifi), wifi=wifi)
    built, _ = cache.built_kernels()
    matching = [one for one in built if one.name == choice]
    if not matching:
        # Of one version, the one with radios is for cells only.
        matching = sorted(
            (one for one in built if is_of_version(one.version, choice.removeprefix("linux-"))),
            key=lambda one: one.wifi != wifi,
        )
    if matching:
        return _with_radios(_built(matching[0]), which, wifi=wifi)
    there = ", ".join([*get_args(Kind), *(one.name for one in built)])
    message = f"{which}, but must be one of {there}, the version of one of these, or the path of a program"
    raise ParamError(message)


def _program(path: Path, begin: str) -> Kernel:
    """Return the kernel that a person named."""
    try:
        if not path.is_absolute():
            message = "must be an absolute path"
            raise SojournError(message)
        return _uml(path)
    except SojournError as error:
        message = f"{begin}{error}"
        raise ParamError(message) from error


def _built(one: cache.Built) -> Kernel:
    flaw = one.flaw()
    if flaw is not None:
        message = f"{flaw}; `sojourn kernel build --force` makes it anew"
        raise SojournError(message)
    return Kernel(
        kind="virtual",
        path=one.linux,
        release=one.release,
        modules=(),
        virtual_time=True,
        identity=f"sha256:{one.sha256}",
        wifi=one.wifi,
    )


def _stock() -> Kernel:
    if not STOCK.exists():
        message = f"the package user-mode-linux is not installed (there is no {STOCK})"
        raise SojournError(message)
    return _uml(STOCK)


def _uml(path: Path) -> Kernel:
    """Return a kernel that is a program, with the modules of its release if there is a folder of them."""
    found = image.read(path)
    folder = modules.MODULES / found.release
    if folder.is_dir():
        needed = modules.needed(folder)
        _check_essentials(str(path), needed.lacks)
    elif found.virtual_time:
        needed = modules.Modules(paths=(), lacks=())
    else:
        message = f"{path} has the release {found.release}, but its modules {folder} are missing"
        raise SojournError(message)
    facts = path.stat()
    flaw = _flaw(path, found.virtual_time, facts.st_size, facts.st_mtime_ns)
    if flaw is not None:
        raise SojournError(flaw)
    return Kernel(
        kind="virtual" if found.virtual_time else "uml",
        path=path,
        release=found.release,
        modules=needed.paths,
        virtual_time=found.virtual_time,
        identity=f"sha256:{cache.sha256_of(path)}",
        lacks=needed.lacks,
        wifi=found.wifi,
    )


@lru_cache
def _flaw(path: Path, virtual_time: bool, _size: int, _changed: int) -> str | None:  # noqa: FBT001 - a key of the cache
    """Return why a program does not boot, or `None`; it is tried once for each content."""
    with tempfile.TemporaryDirectory(prefix="sojourn-") as work:
        try:
            boot.boot(path, "true", Path(work) / "boot", boot.arguments(1, virtual=virtual_time), patience_s=20.0)
        except SojournError as error:
            reason = "; this processor has AMX, for whose registers older kernels have no room" if _has_amx() else ""
            return f"{error}{reason}"
        except OSError as error:
            return f"{path} cannot be started: {error.strerror or error}"
    return None


def _has_amx() -> bool:
    try:
        return " amx_tile " in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def _host() -> Kernel:
    found = host.probe()
    if found.namespace is None:
        message = f"this machine's kernel does not let us make namespaces: {found.why_not}"
        raise SojournError(message)
    _check_essentials(f"this machine's kernel {found.release}", found.lacks)
    return Kernel(
        kind="host",
        path=None,
        release=found.release,
        modules=(),
        virtual_time=False,
        identity=f"host:{found.release} {found.version}",
        lacks=found.lacks,
    )


def _check_essentials(which: str, lacks: tuple[str, ...]) -> None:
    without = needs.without_essentials(lacks)
    if without:
        message = f"{which} lacks {', '.join(without)}, without which there is no bed"
        raise SojournError(message)
