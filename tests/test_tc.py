"""`tc` and a kernel as judges of how texts of disciplines are read.

Drawn lines go through `tc` into a kernel in a guest, and what Sojourn makes of them goes into the same kernel by
netlink. The kernel must have the same afterwards. `SOJOURN_TC_LINES` says how many lines (300), `SOJOURN_TC` where a
newer iproute2 has its `tc`, for what the installed one does not have.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
from collections import Counter
from pathlib import Path

import pytest

from sojourn import _native
from sojourn.errors import ParamError, SojournError
from sojourn.kernel import boot
from sojourn.kernel.find import find
from tests import optional
from tests.tc import guest
from tests.tc.lines import line

LINES = int(os.environ.get("SOJOURN_TC_LINES", "300"))
INSTALLED = shutil.which("tc") or shutil.which("/usr/sbin/tc")
NEWER = os.environ.get("SOJOURN_TC")
RATE = 1_000_000
SCRIPT = """
mount -t proc proc /proc
ip link set lo up; ip link add d0 type dummy; ip link set d0 up
/usr/bin/python3 {guest} {tc} {lines}
"""


def message_of(text: str) -> tuple[str, str | None, bool] | str:
    """Return what a kernel is told of a text, or the sentence by which it is refused."""
    try:
        plan = _native.kernel_qdisc(text, RATE)
        payload, nested, _ = _native.netlink_options(plan)
    except ParamError as error:
        return str(error)
    return json.loads(plan)["kind"], None if payload is None else payload.hex(), nested


def alike(kind: str, options: str | None, *, new: bool) -> str | None:
    """Return options without what does not count.

    That is the seed of netem, queues of sfq beyond what it can fill, and the scale of the table of RED. iproute2 6.1
    cuts the time of a packet to whole microseconds before it computes the table. 7.1 does not, so there it counts.
    """
    if options is None or kind not in ("netem", "sfq", "red"):
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
    wrong = []
    for text, our, (by_tc, by_us, sentence) in zip(texts, ours, answers, strict=True):
        kind = text.split()[0]
        if isinstance(our, str):
            outcomes["refused" if by_tc is None else "refused, though legal"] += 1
        elif by_tc is None:
            wrong.append((text, "taken, but tc or the kernel says", sentence))
        elif alike(kind, by_tc, new=new) != alike(kind, by_us, new=new):
            wrong.append((text, by_tc, by_us))
        else:
            outcomes["the same"] += 1
    print(dict(outcomes))
    assert not wrong, wrong[:5]
    legal = outcomes["the same"] + outcomes["refused, though legal"]
    assert outcomes["refused, though legal"] <= max(1, legal // 100)
    assert legal >= 0.8 * LINES
