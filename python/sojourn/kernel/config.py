"""What is switched on in the kernel: everything that is modelled, the bed, and nothing else.

The fragment is laid over `allnoconfig`; what an option needs besides, the kernel's own rules add.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import SojournError, os_errors_as

#: What `uname -r` says after the version; the number counts changes of the edits and of these lists.
LOCAL_VERSION = "-sojourn3"
WIFI_LOCAL_VERSION = "-sojourn-wifi3"

#: Ticks per second that Linux offers on other machines.
TICKS = (100, 250, 300, 1000)
DEFAULT_HZ = 1000


@dataclass(frozen=True, slots=True)
class Group:
    """Options with one reason.

    Attributes
    ----------
    why
        What they are for.
    options
        Names without `CONFIG_`, all on, or `NAME=value`.
    optional
        Names of more options. Each is switched on in a tree that has it, and a tree without it is built as well.
    """

    why: str
    options: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


def _named(local_version: str) -> Group:
    options = (f'LOCALVERSION="{local_version}"', "LOCALVERSION_AUTO=n")
    return Group("it is read by people and by the name of a run", options)


_MACHINE = Group(
    "the machine: 64 bits, no debugging, linked to the host's C library", ("64BIT", "EXPERT", "STATIC_LINK=n")
)

#: What every kernel has.
_COMMON = (
    Group("time that stands still while the kernel computes", ("UML_TIME_TRAVEL_SUPPORT",)),
    Group("room for the registers of a processor with AMX, which lie on the kernel's stack", ("KERNEL_STACK_ORDER=4",)),
    Group("speed", ("CC_OPTIMIZE_FOR_PERFORMANCE", "DEBUG_INFO_NONE")),
    Group("timers are exact, and an idle kernel does not tick", ("HIGH_RES_TIMERS", "NO_HZ_IDLE")),
    Group(
        "no preemption; from Linux 7.0 on User-Mode Linux has only kernels with preemption", optional=("PREEMPT_NONE",)
    ),
    Group("the kernel tells how it was configured", ("IKCONFIG", "IKCONFIG_PROC")),
    Group(
        "file systems: the host's root, and what programs expect",
        ("HOSTFS", "PROC_FS", "SYSCTL", "SYSFS", "SHMEM", "TMPFS", "DEVTMPFS"),
    ),
    Group("/proc/sys; newer kernels have no option of its own for it", optional=("PROC_SYSCTL",)),
    Group(
        "programs, and the system calls that those of the host use",
        (
            *("BINFMT_ELF", "BINFMT_SCRIPT", "FUTEX", "EPOLL", "SIGNALFD", "TIMERFD", "EVENTFD", "POSIX_TIMERS"),
            *("FILE_LOCKING", "ADVISE_SYSCALLS", "MEMBARRIER", "PRINTK", "BUG", "MULTIUSER"),
        ),
    ),
    Group(
        "system calls of people's own programs, and what `ss` asks",
        ("AIO", "IO_URING", "INOTIFY_USER", "SYSVIPC", "INET_UDP_DIAG", "UNIX_DIAG"),
    ),
    Group("IPv6, which a guest without people's own programs switches off", ("IPV6",)),
    Group("the console, and its end when nobody listens", ("TTY", "STDERR_CONSOLE", "NULL_CHAN")),
    Group("hosts of the bed", ("NAMESPACES", "NET_NS", "USER_NS", "PID_NS", "UTS_NS")),
    Group(
        "IPv4, routes by table, packet sockets, and TCP's own counters",
        ("NET", "INET", "UNIX", "PACKET", "IP_ADVANCED_ROUTER", "IP_MULTIPLE_TABLES", "INET_DIAG", "INET_TCP_DIAG"),
    ),
    Group("links of the bed", ("NETDEVICES", "NET_CORE", "ETHTOOL_NETLINK", "VETH", "TUN", "IFB", "DUMMY")),
    Group(
        "congestion controls; reno is always there",
        ("TCP_CONG_ADVANCED", "TCP_CONG_CUBIC", "TCP_CONG_BBR", "TCP_CONG_DCTCP", "TCP_CONG_VEGAS"),
    ),
    Group(
        "congestion controls that trees beside Linus Torvalds' have: Prague of L4S, and Google's versions of BBR",
        optional=("TCP_CONG_PRAGUE", "TCP_CONG_BBR1", "TCP_CONG_BBR2"),
    ),
    Group(
        "queue disciplines; pfifo, bfifo and pfifo_fast are always there",
        (
            *("NET_SCHED", "NET_SCH_HTB", "NET_SCH_PRIO", "NET_SCH_DRR", "NET_SCH_RED", "NET_SCH_SFQ", "NET_SCH_TBF"),
            *("NET_SCH_NETEM", "NET_SCH_CODEL", "NET_SCH_FQ_CODEL", "NET_SCH_CAKE", "NET_SCH_FQ", "NET_SCH_PIE"),
            *("NET_SCH_FQ_PIE", "NET_SCH_ETS", "NET_SCH_INGRESS"),
        ),
    ),
    Group("the dual queue of L4S, from Linux 6.17 on", optional=("NET_SCH_DUALPI2",)),
    Group(
        "classifiers, the way of incoming packets to an ifb, and marks for the classifier fw",
        (
            *("NET_CLS", "NET_CLS_BASIC", "NET_CLS_FW", "NET_CLS_U32", "NET_CLS_FLOW", "NET_CLS_FLOWER"),
            *("NET_CLS_MATCHALL", "NET_CLS_ACT", "NET_ACT_MIRRED", "NET_ACT_SKBEDIT"),
        ),
    ),
)

GROUPS = (_MACHINE, _named(LOCAL_VERSION), *_COMMON)

#: Of a kernel with the driver `sojourn_radio`.
WIFI_GROUPS = (
    _MACHINE,
    _named(WIFI_LOCAL_VERSION),
    *_COMMON,
    Group("the stack that is judged, with its own rate control", ("MAC80211", "MAC80211_RC_MINSTREL")),
    Group("what it needs above it", ("WIRELESS", "CFG80211", "WLAN")),
    Group(
        "channels without a signed database of what each country allows: the driver brings its own rules",
        ("CFG80211_CERTIFICATION_ONUS", "CFG80211_REQUIRE_SIGNED_REGDB=n"),
    ),
    Group("stations never sleep", ("CFG80211_DEFAULT_PS=n",)),
    Group(
        "airtime, queues and aggregates as mac80211 counts them, and the driver's own files",
        ("DEBUG_FS", "CFG80211_DEBUGFS", "MAC80211_DEBUGFS"),
    ),
    Group("radios without hardware on a medium of their own", ("SOJOURN_RADIO",)),
)


def required_options(groups: tuple[Group, ...] = GROUPS) -> dict[str, str]:
    """Return each option that every tree must have, with `CONFIG_` before it, and its value."""
    return _options(group.options for group in groups)


def optional_options(groups: tuple[Group, ...] = GROUPS) -> dict[str, str]:
    """Return each option that a tree may lack, with `CONFIG_` before it, and its value."""
    return _options(group.optional for group in groups)


def asked_for(groups: tuple[Group, ...] = GROUPS) -> dict[str, str]:
    """Return all options that the fragment asks for."""
    return {**required_options(groups), **optional_options(groups)}


def _options(named: Iterable[tuple[str, ...]]) -> dict[str, str]:
    options: dict[str, str] = {}
    for names in named:
        for option in names:
            name, _, value = option.partition("=")
            assert f"CONFIG_{name}" not in options, "an option is asked for once"
            options[f"CONFIG_{name}"] = value or "y"
    return options


def fragment(options: Mapping[str, str] | None = None) -> str:
    """Return the text that `KCONFIG_ALLCONFIG` names."""
    options = asked_for() if options is None else options
    return "".join(f"{name}={value}\n" for name, value in options.items())


def check(config: Path, hz: int, options: Mapping[str, str] | None = None) -> None:
    """Check that every option that was asked for is set in `.config`.

    Parameters
    ----------
    config
        The file that the kernel's configuration wrote.
    hz
        Ticks per second that were asked for.
    options
        Those that must be set; `None` for those of a kernel without Wi-Fi.

    Raises
    ------
    SojournError
        If one is not; it is named.
    """
    options = required_options() if options is None else options
    with os_errors_as(f"the kernel's configuration {config} cannot be read"):
        text = config.read_text()
    found = dict(re.findall(r"^(CONFIG_\w+)=(.*)$", text, re.MULTILINE))
    for name, value in {**options, "CONFIG_HZ": str(hz)}.items():
        has = found.get(name, "n")
        if has != value:
            message = (
                f"the kernel's configuration has {name}={has}, but must have {value}: this version of the kernel does "
                "not know the option or has a rule against it; build from another one with --source PATH"
            )
            raise SojournError(message)
