"""`tc` and a kernel as judges of how texts of disciplines are read.

Drawn texts of disciplines, classes and filters go through `tc` into a kernel in a guest, and what Sojourn makes of them
goes into the same kernel by netlink. The kernel must have the same afterwards, and what `tc` prints of classes and
filters must say the same. `SOJOURN_TC_LINES` says how many texts (300). What the installed `tc` does not have, goes
through the one of a newer iproute2 that `scripts/judges` has built, or that `SOJOURN_TC` names.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn import _native
from sojourn.errors import ParamError, SojournError
from sojourn.kernel import boot
from sojourn.kernel.find import find
from tests import optional
from tests.tc import guest
from tests.tc.choice import choice
from tests.tc.lines import line
from tests.tc.trees import TREES

LINES = int(os.environ.get("SOJOURN_TC_LINES", "300"))
INSTALLED = shutil.which("tc") or shutil.which("/usr/sbin/tc")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
NEWER = os.environ.get("SOJOURN_TC") or shutil.which(CACHE / "sojourn" / "tools" / "iproute2" / "tc")
RATE = 1_000_000
#: Where these depths stand in the options of a class of htb, in hexadecimal.
DEPTHS = slice(2 * 28, 2 * 36)
#: iproute2 6.1 cuts a depth to whole microseconds, of 15.625 ticks, and then to whole ticks.
TICKS_OF_A_MICROSECOND = 17
#: What `tc` prints rounded, or where it was not said. The options of a class have them.
SIZES = "quantum|burst|cburst"
SCRIPT = """
mount -t proc proc /proc
ip link set lo up; ip link add d0 type dummy; ip link set d0 up
/usr/bin/python3 {guest} {tc} {lines}
"""


def message_of(text: str) -> tuple[str, str | None, bool, list[str]] | str:
    """Return what a kernel is told of a text, or the sentence by which it is refused."""
    try:
        plan = _native.kernel_qdisc(text, RATE)
        payload, nested, _ = _native.netlink_options(plan)
        below = [message.hex() for _, message in _native.netlink_below(plan, 0, 1)]
    except ParamError as error:
        return str(error)
    return json.loads(plan)["kind"], None if payload is None else payload.hex(), nested, below


def state(kind: str, parts: list[list[Any]] | None, *, new: bool) -> object:
    """Return what a kernel has, so that it can be compared; None where it refused."""
    if not parts:
        return None
    (_, _, options), *below = parts
    classes = [(one[0], one[2][: DEPTHS.start] + one[2][DEPTHS.stop :]) for one in below if one[1] == kind]
    return alike(kind, options, new=new), classes, choice([one for one in below if one[1] != kind])


def depths(parts: list[list[Any]]) -> list[int]:
    """Return the depths of the buckets of classes of htb, in ticks of 64 ns."""
    classes = [bytes.fromhex(one[2][DEPTHS]) for one in parts[1:] if one[1] == "htb"]
    return [depth for one in classes for depth in struct.unpack("=II", one)]


def expanded(text: str, without: str) -> list[str]:
    """Return the words of the canonical text without some words of classes, or of the sentence that refuses it."""
    try:
        text = _native.expand_qdisc(text, RATE)
    except ParamError as error:
        return str(error).split()
    classes = re.compile(r"; class [^;]* (?:htb|drr) [^;]*")
    return classes.sub(lambda found: re.sub(rf" ({without}) \d+", "", found[0]), text).split()


def alike(kind: str, options: str, *, new: bool) -> str:
    """Return options without what does not count.

    That is the seed of netem, queues of sfq beyond what it can fill, and the scale of the table of RED. iproute2 6.1
    cuts the time of a packet to whole microseconds before it computes the table. 7.1 does not, so there it counts.
    """
    if kind not in ("netem", "sfq", "red"):
        return options
    if kind == "red":
        return options if new else options[:36] + options[38:]
    if kind == "netem":
        return options.split("0c000e00")[0]
    data = bytearray(bytes.fromhex(options))
    limit, divisor, flows, depth = struct.unpack_from("=IIII", data, 8)
    flows = min(flows, divisor)
    limit = min(limit, flows * depth)
    struct.pack_into("=III", data, 8, limit, divisor, min(flows, limit))
    return data.hex()


@pytest.mark.parametrize(("series", "tc", "new"), [("6.1", INSTALLED, False), ("7.3", NEWER, True)])
def test_a_kernel_has_the_same_by_tc_and_by_netlink(series: str, tc: str | None, new: bool, tmp_path: Path) -> None:  # noqa: FBT001
    if tc is None:
        (optional.NEWER_TC if new else optional.TC).skip()
    try:
        kernel = find(series)
    except (ParamError, SojournError) as error:
        optional.KERNEL.skip(error)
    assert kernel.path is not None
    rng = random.Random(len(series) + LINES)
    texts = [line(rng, new=new) for _ in range(LINES)]
    ours = [message_of(text) for text in texts]
    lines = tmp_path / "lines"
    lines.write_text(
        "".join(json.dumps([t, None if isinstance(o, str) else o]) + "\n" for t, o in zip(texts, ours, strict=True))
    )
    script = SCRIPT.format(guest=guest.__file__, tc=tc, lines=lines)
    output = boot.boot(kernel.path, script, tmp_path / "boot", boot.arguments(1), patience_s=60 + LINES / 10)
    answers = [json.loads(row) for row in output if row.startswith("[")]
    assert len(answers) == len(texts), output[-5:]
    outcomes: Counter[str] = Counter()
    wrong: list[tuple[object, ...]] = []
    for text, our, (by_tc, by_us, sentence, printed) in zip(texts, ours, answers, strict=True):
        kind = text.split()[0]
        if isinstance(our, str):
            outcomes["refused" if by_tc is None else "refused, though legal"] += 1
            if by_tc is not None:
                print(f"refused: {text!r}: {our}")
        elif by_tc is None:
            wrong.append((text, "taken, but tc or the kernel says", sentence))
        elif state(kind, by_tc, new=new) != state(kind, by_us, new=new):
            wrong.append((text, state(kind, by_tc, new=new), state(kind, by_us, new=new)))
        elif any(
            not 0 <= our - their <= (0 if new else TICKS_OF_A_MICROSECOND)
            for our, their in zip(depths(by_us), depths(by_tc), strict=True)
        ):
            wrong.append((text, depths(by_tc), depths(by_us)))
        elif printed and not says(printed, text, SIZES):
            wrong.append((text, printed, " ".join(expanded(printed, SIZES))))
        else:
            outcomes["the same"] += 1
    print(dict(outcomes), *wrong, sep="\n")
    assert not wrong, wrong[:5]
    legal = outcomes["the same"] + outcomes["refused, though legal"]
    assert outcomes["refused, though legal"] <= max(1, legal // 100)
    assert legal >= 0.8 * LINES


@pytest.mark.parametrize("name", TREES)
def test_trees_of_programs_run_at_their_rate(name: str) -> None:
    text, size = TREES[name]
    flood = {"name": "udp", "direction": "up", "protocol": "udp", "rate": "20mbit"}
    # In a minute the depth of a bucket and the first round trip come to less than 0.1 %.
    link = {"up": "100mbit", "down": "100mbit", "rtt": "20ms", "duration": "60s"}
    keys = {"experiment": "flood", "qdisc_up": text, "flows": [flood], **link}
    run = sojourn.run(sojourn.Scenario.from_json(json.dumps(keys)))
    # A packet of 1514 bytes carries 1472.
    assert run.summary.goodput_up_mbit == pytest.approx(10 * 1472 / size, rel=0.002)


def test_what_tc_prints_of_trees_says_the_same(tmp_path: Path) -> None:
    if INSTALLED is None:
        optional.TC.skip()
    try:
        kernel = find("6.1")
    except (ParamError, SojournError) as error:
        optional.KERNEL.skip(error)
    assert kernel.path is not None
    # The kernel of the guest has no device of several queues, and its clock gives other depths where none is said.
    trees = {name: text for name, (text, _) in TREES.items() if " mq" not in text and "wonder" not in name}
    lines = ["mount -t proc proc /proc"]
    for number, text in enumerate(trees.values()):
        lines.append(f"ip link add d{number} type dummy; ip link set d{number} up")
        lines += text.replace("dev X", f"dev d{number}").strip().splitlines()
        lines.append(f"echo =; tc -d qdisc show dev d{number}; tc -d class show dev d{number}")
        lines.append(f"tc filter show dev d{number}")
    output = "\n".join(boot.boot(kernel.path, "\n".join(lines), tmp_path / "boot", boot.arguments(1), patience_s=60))
    printed = output.split("=\n")[1:]
    assert len(printed) == len(trees), output
    for text, shown in zip(trees.values(), printed, strict=True):
        # The class that others stand on has no use for its quantum, and tc does not print it. It prints what cake has
        # by default.
        shown = shown.replace("triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms", "")
        assert says(shown, text, "quantum"), shown


def says(printed: str, text: str, without: str) -> bool:
    """Return whether what `tc` prints says the same as a text.

    A kernel computes the quantum of a class that says none. A depth is whole ticks there: a microsecond of a rate.
    """
    theirs, ours = expanded(printed, without), expanded(text, without)
    return [weight(word) for word in theirs] == pytest.approx([weight(word) for word in ours], rel=0.005)


def weight(word: str) -> float:
    """Return a number or a rate as such, and the same number for each other word."""
    number = re.fullmatch(r"(\d*\.?\d+)([kmgt]?)(bit)?", word)
    if number is None:
        return float(sum(word.encode()))
    return float(number[1]) * 1000.0 ** "\0kmgt".index(number[2] or "\0")
