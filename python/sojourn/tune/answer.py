"""The answer as something to paste: command lines of `tc`, and a section of OpenWrt's /etc/config/sqm."""

from __future__ import annotations

from sojourn.scenario import Direction
from sojourn.tune.link import FRAME_BYTES, Link
from sojourn.tune.space import TUNED
from sojourn.units import bits_per_s


def leaf(text: str) -> str:
    """Return the line that puts a discipline at the root of a device."""
    return f"tc qdisc replace dev DEV root {text}"


def shaped(text: str, rate: str) -> list[str]:
    """Return the lines that put it below an HTB which makes the device as slow as the link.

    A discipline can only manage the queue if the queue is there: where the slow link is behind another device, such as
    a modem, HTB makes this device the bottleneck. `quantum` and `burst` are one and two frames, the least there is.
    `cake` has a shaper of its own.
    """
    kind, *words = text.split()
    if kind in TUNED and TUNED[kind].shapes:
        return [leaf(" ".join([kind, "bandwidth", rate, *words]))]
    return [
        "tc qdisc replace dev DEV root handle 1: htb default 1",
        f"tc class replace dev DEV parent 1: classid 1:1 htb rate {rate} ceil {rate} "
        f"quantum {FRAME_BYTES} burst {2 * FRAME_BYTES}b cburst {2 * FRAME_BYTES}b",
        f"tc qdisc replace dev DEV parent 1:1 handle 10: {text}",
    ]


def sqm(text: str, link: Link, direction: Direction) -> str | None:
    """Return a section of /etc/config/sqm, `None` if sqm-scripts has not the discipline.

    The script is that with one queue, as was tuned; the others have one for each class of traffic.

    `download` and `upload` are in kbit/s; only the direction that was tuned (`up` is egress) gets options. `itarget`
    and `etarget` are `default`, because sqm-scripts would else put a target of its own for slow links, and an interval
    with it, before the options; and the limit goes where sqm-scripts takes it. `tc` takes the last of two values, so
    the options would win anyway; but this way there is one of each.

    Source: sqm-scripts 1.6, `src/functions.sh` (get_target, get_limit) and `src/run-openwrt.sh` (names of the options).
    """
    kind, *words = text.split()
    tuned = TUNED.get(kind)
    if tuned is None or tuned.sqm_script is None:
        return None
    limit = None
    if "limit" in words and tuned.has_limit:
        place = words.index("limit")
        limit = words[place + 1]
        del words[place : place + 2]
    options = " ".join(words)
    lines = [
        "config queue 'wan'",
        "\toption enabled '1'",
        "\toption interface 'DEV'",
        f"\toption download '{bits_per_s(link.down) // 1000}'",
        f"\toption upload '{bits_per_s(link.up) // 1000}'",
        f"\toption qdisc '{kind}'",
        f"\toption script '{tuned.sqm_script}'",
        "\toption qdisc_advanced '1'",
        "\toption qdisc_really_really_advanced '1'",
    ]
    mark = "e" if direction == "up" else "i"
    if not tuned.shapes:
        lines.append(f"\toption {mark}target 'default'")
    if limit is not None:
        lines.append(f"\toption {mark}limit '{limit}'")
    lines.append(f"\toption {mark}qdisc_opts '{options}'")
    return "\n".join(lines) + "\n"
