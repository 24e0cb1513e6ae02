"""Programs of people's own in the hosts of a bed: where they are, what they find there, and what names them.

A host after the first of a side that runs programs is a namespace of its own, behind the first. Hosts of wires have
IPv6 addresses then, too: that of 10.B.C.D is fd00:B:C::D.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from pathlib import Path

from sojourn.backends.linux import guest_inputs
from sojourn.backends.linux.job import ProgramJob, Programs
from sojourn.backends.linux.load import Program, ipv6_of
from sojourn.errors import ParamError, os_errors_as

#: Memory of a guest with programs, MB.
MEMORY_MB = 1024
#: What a guest with programs may take of this machine's time: at least, for each second of its own, and the variable
#: of the environment that says it otherwise, s.
_LEAST_S, _SLOWDOWN, PATIENCE = 120.0, 20.0, "SOJOURN_PATIENCE"
#: The largest file that is copied for a program, as large as one may write.
_FILE_BYTES = 32 << 20
#: What a program has in place of the machine's folder.
_OWN, _SHARED = "/var/tmp", "/dev/shm"  # noqa: S108
#: What the guest's calendar shows when it starts, ns: 2027-01-01 0:00 UTC.
_CALENDAR_NS = 1_798_761_600_000_000_000


def bound_s(virtual_s: float) -> float:
    """Return how long a guest with programs may take, in this machine's seconds.

    Raises
    ------
    ParamError
        If the environment says it, and it is no number above 0.
    """
    text = os.environ.get(PATIENCE)
    if text is None:
        return _LEAST_S + _SLOWDOWN * virtual_s
    if not re.fullmatch(r"\d{1,9}(\.\d+)?", text) or float(text) == 0:
        message = f"{PATIENCE} is {text!r}, but must be a number of seconds above 0"
        raise ParamError(message)
    return float(text)


def words(*, has_seccomp_mode: bool) -> tuple[str, ...]:
    """Return what a guest's command line has besides."""
    # A kernel that is called by signals cannot keep its memory from programs (arch/um/os-Linux/start_up.c of Linux).
    more = ("seccomp=off",) if has_seccomp_mode else ()
    # Interfaces have IPv6 where the bed gives it to them.
    return ("ipv6.disable_ipv6=1", f"time-travel-start={_CALENDAR_NS}", *more)


def job(
    programs: list[Program], hosts: dict[str, str], *, others: list[str], ipv6: bool
) -> tuple[Programs, dict[str, Path]]:
    """Return the part `programs` of a job, and what files it needs in the guest's folder.

    Parameters
    ----------
    programs
        Those of the load.
    hosts
        The address of each host by its name.
    others
        Further addresses of the hosts.
    ipv6
        Whether the hosts have IPv6 addresses, too.

    Raises
    ------
    ParamError
        If a program or a file is not there, or cannot be run in a guest.
    """
    jobs: list[ProgramJob] = []
    copies: dict[str, Path] = {}
    for number, program in enumerate(programs):
        place = f"programs[{number}]"
        given = [_file(f"{place}.files", Path(path)) for path in program.files]
        inside = [path.name for path in given]
        if len(set(inside)) < len(inside):
            twice = max(inside, key=inside.count)
            message = f"{place}.files has {twice!r} twice, but each must have a name of its own"
            raise ParamError(message)
        names = [f"program-{number}-{n}" for n in range(len(given))]
        copies |= dict(zip(names, given, strict=True))
        path = executable(f"{place}.command", program.command[0])
        jobs.append(ProgramJob(program=str(path), files=list(zip(names, inside, strict=True))))
    known = {name: [ip, ipv6_of(ip)] if ipv6 else [ip] for name, ip in hosts.items()}
    lines = ["127.0.0.1 localhost", "::1 localhost", *(f"{ip} {name}" for name in known for ip in known[name])]
    variables = {
        "PATH": _search_path(),
        "HOME": _OWN,
        "TMPDIR": _OWN,
        "USER": "root",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONUNBUFFERED": "1",
        # OpenSSL stirs the processor's counter of cycles into its random numbers, which is no part of virtual time.
        "OPENSSL_ia32cap": "~0x10",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for name in ("client", "server"):
        for ip, suffix in zip(known[name], ("", "6"), strict=False):
            variables[f"SOJOURN_{name.upper()}{suffix}"] = ip
    made = Programs(
        programs=jobs,
        folder=_working_folder(),
        environment=list(variables.items()),
        network={"hosts": "\n".join(lines) + "\n", "resolv.conf": "# Names are in /etc/hosts.\n"},
        addresses=sorted({ip for one in (*hosts.values(), *others) for ip in (one, *([ipv6_of(one)] if ipv6 else []))}),
    )
    return made, copies


def identity(programs: list[Program]) -> str:
    """Return a hash of what is known of the files that programs run and read.

    These are a program's own file and its libraries, the files that it is given, and those that its words name. What
    else it reads is not known.
    """
    digest = hashlib.sha256()
    for number, program in enumerate(programs):
        path = executable(f"programs[{number}].command", program.command[0])
        read = [path, *(guest_inputs.libraries(path.resolve()) or ()), *map(Path, program.files)]
        read += [Path(word) for word in program.command[1:] if len(word) < os.pathconf("/", "PC_PATH_MAX")]
        for file in read:
            with os_errors_as(f"{file} cannot be read"):
                digest.update(f"{file.name} {guest_inputs.content(file)}\n".encode(errors="surrogateescape"))
    return f" programs sha256:{digest.hexdigest()}"


def executable(field: str, name: str) -> Path:
    """Return the path of a program by its name or path, links as they are: a program may look where it is.

    Raises
    ------
    ParamError
        If it is not there, or cannot be run in a guest; `field` is named.
    """
    where = Path(name) if "/" in name else shutil.which(name, path=_search_path())
    if where is None:
        message = f"{field} is {name!r}, but no program of that name is on the path"
        raise ParamError(message)
    path = Path(os.path.abspath(where))  # noqa: PTH100 -- links stay
    why = None
    if not path.exists():
        why = "there is no such file"
    elif not path.is_file():
        why = "that is no file" if not path.is_dir() else "that is a folder"
    elif not os.access(path, os.X_OK):
        why = "that file is not executable"
    elif path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
        why = "it is setuid or setgid, and a guest gives no program the rights of another user"
    elif any(path.is_relative_to(place) or path.resolve().is_relative_to(place) for place in (_OWN, _SHARED)):
        why = f"a program in a guest has folders of its own in place of {_OWN} and {_SHARED}"
    if why is not None:
        message = f"{field} is {name!r}, but {why}"
        raise ParamError(message)
    return path


def _search_path() -> str:
    return os.environ.get("PATH") or os.defpath


def _working_folder() -> str:
    """Return this process's working folder, or the program's own where a guest does not have it."""
    try:
        folder = Path.cwd()
    except OSError:
        return _OWN
    return _OWN if any(folder.is_relative_to(place) for place in (_OWN, _SHARED)) else str(folder)


def _file(field: str, path: Path) -> Path:
    why = None
    if not path.exists():
        why = "there is no such file"
    elif not path.is_file():
        why = "that is no file"
    elif path.stat().st_size > _FILE_BYTES:
        why = f"it has more than {_FILE_BYTES >> 20} MiB"
    elif not os.access(path, os.R_OK):
        why = "it cannot be read"
    if why is not None:
        message = f"{field} is {str(path)!r}, but {why}"
        raise ParamError(message)
    return path
