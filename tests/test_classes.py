"""Trees of classes: what our netlink requests build in a kernel is what `tc` builds from the same words."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys

import pytest

from sojourn import _native
from sojourn.backends.linux import messages
from sojourn.backends.linux.disciplines import below, encoded, of_text
from tests import optional

_NAMESPACE = ("unshare", "--user", "--map-root-user", "--net")
_HANDLE = 1
#: The number of `lo`.
_LO = 1

#: Sends the messages of its input, in base64, to the kernel; then prints what `tc` shows.
_SENDER = """
import base64, json, socket, struct, subprocess, sys
job = json.load(sys.stdin)
for command in job["commands"]:
    subprocess.run(["tc", *command], check=True)
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
for says, message in job["messages"]:
    netlink.send(base64.b64decode(message))
    error = struct.unpack_from("=i", netlink.recv(65536), 16)[0]
    if error:
        sys.exit(f"{says}: error {-error}")
shown = {}
for what in ("qdisc", "class", "filter"):
    command = ["tc", "-d", what, "show", "dev", "lo"]
    shown[what] = sorted(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())
print(json.dumps(shown))
"""


def _shown(commands: list[list[str]], requests: list[tuple[str, bytes]]) -> dict[str, list[str]]:
    """Carry out both in a network namespace of its own, and return what `tc` shows there."""
    job = {"commands": commands, "messages": [(says, base64.b64encode(m).decode()) for says, m in requests]}
    run = subprocess.run(
        [*_NAMESPACE, sys.executable, "-c", _SENDER], input=json.dumps(job), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def _need(kind: str) -> None:
    for name in ("tc", "unshare"):
        if shutil.which(name) is None:
            optional.KERNEL_CLASSES.skip(f"no {name}")
    words = {"ets": ["bands", "3"]}.get(kind, [])
    tried = subprocess.run(
        [*_NAMESPACE, "tc", "qdisc", "add", "dev", "lo", "root", kind, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode != 0:
        optional.KERNEL_CLASSES.skip(f"{kind}: {tried.stderr}")


def _ours(text: str) -> list[tuple[str, bytes]]:
    """Return the requests of the linux back end for a text."""
    discipline = of_text(text, 20_000_000)
    kind, options = encoded(discipline)
    number = messages.handle(_HANDLE)
    root = messages.qdisc(index=_LO, parent=messages.ROOT, number=number, kind=kind, options=options)
    return [("root", root), *below(discipline, index=_LO, major=_HANDLE)]


def _by_tc(text: str) -> list[list[str]]:
    """Return the arguments of `tc` that a text stands for; of a filter by code point, one command for each."""
    root, *statements = [statement.split() for statement in text.split(";")]
    commands = [["qdisc", "add", "dev", "lo", "root", "handle", f"{_HANDLE}:", *root]]
    priority = 0
    for what, *words in statements:
        if what != "filter":
            commands.append([what, "add", "dev", "lo", *words])
            continue
        parent, codes, flowid = words[1], words[3:-2], words[-1]
        for code in codes:
            priority += 1
            match = ["match", "ip", "dsfield", hex(int(code) << 2), "0xfc", "flowid", flowid]
            rule = ["protocol", "ip", "prio", str(priority), "u32", *match]
            commands.append(["filter", "add", "dev", "lo", "parent", parent, *rule])
    return commands


TREES = {
    "prio": "prio bands 4 priomap 3 2 2 2 1 2 0 0 ; qdisc parent 1:2 handle 101: pfifo limit 7"
    " ; filter parent 1: dscp 46 48 flowid 1:2",
    "drr": "drr ; class parent 1: classid 1:a drr quantum 3000 ; class parent 1: classid 1:b drr"
    " ; qdisc parent 1:a handle 101: bfifo limit 7700 ; filter parent 1: dscp 8 flowid 1:b",
    "ets": "ets bands 4 strict 1 quanta 3000 2000 priomap 3 3 2 1 0",
    "htb": "htb default 12 r2q 5 direct_qlen 50 ; class parent 1: classid 1:1 htb rate 20mbit burst 2500 cburst 2500"
    " ; class parent 1:1 classid 1:11 htb rate 128kbit ceil 6666kbit prio 1 quantum 2500"
    " ; class parent 1:1 classid 1:12 htb rate 3333kbit ceil 19984kbit prio 2 quantum 2500"
    " overhead 18 mpu 64 linklayer atm"
    " ; class parent 1: classid 1:2 htb rate 50gbit ceil 60gbit quantum 9000"
    " ; qdisc parent 1:11 handle 101: pfifo limit 77"
    " ; qdisc parent 1:12 handle 102: bfifo limit 9000"
    " ; filter parent 1: dscp 46 48 36 flowid 1:11 ; filter parent 1:1 dscp 8 flowid 1:12",
}


@pytest.mark.parametrize("kind", TREES)
def test_a_kernel_gets_what_tc_gives_it(kind: str) -> None:
    """Both trees look the same to `tc -d`: rates, bursts in ticks, quanta, priorities, options of leaves, filters."""
    _need(kind)
    text = TREES[kind]
    ours, theirs = _shown([], _ours(text)), _shown(_by_tc(text), [])
    assert ours["class"]
    assert ours == theirs


def test_sqm_simple_is_taken_by_a_kernel() -> None:
    """The whole tree of the preset, of which `tc` shows every class and filter."""
    _need("htb")
    _need("fq_codel")
    shown = _shown([], _ours("sqm:simple"))
    assert [sum(f"htb 1:{name} " in line for line in shown["class"]) for name in ("1", "11", "12", "13")] == [
        1,
        1,
        1,
        1,
    ]
    assert sum("flowid" in line for line in shown["filter"]) == 7
    assert sum("fq_codel" in line for line in shown["qdisc"]) == 3


def test_classes_have_counters_by_handle() -> None:
    """A discipline that is driven by hand tells the counters of its classes."""
    q = _native.Qdisc("prio ; qdisc parent 1:1 pfifo limit 1")
    for _ in range(2):
        q.enqueue(0, 100, dscp=36)
    assert q.dequeue(1) is not None
    assert q.classes["1:1"] == {"packets": 1, "bytes": 100, "drops": 1, "overlimits": 0, "backlog": 0, "qlen": 0}
    with pytest.raises(_native.ParamError, match="^dscp is 64, but must be <= 63$"):
        q.enqueue(1, 100, dscp=64)
