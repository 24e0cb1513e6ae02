"""Known bugs of the kernel: the cases, their verdicts on kernels and in the simulator, the command and the page."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable

import pytest

from sojourn import _native
from sojourn.backends.linux.disciplines import Encoded, encoded, of_text
from sojourn.errors import ParamError, SojournError
from sojourn.kernel.find import Kernel, find
from sojourn.regress.bugs import cases, judge, readings, sequences, words
from sojourn.regress.bugs.cases import ABSENT, CANNOT_TELL, PRESENT, Bug
from tests import optional
from tests.conftest import assert_one_sentence
from tools import kernel_bugs

SERIES = ("6.1", "6.12", "7.3")
BUGS = {bug.name: bug for bug in cases.bugs()}
SIMULATED = [(bug, place) for bug in cases.bugs() for place in range(len(bug.simulator))]


def the_kernel(series: str) -> Kernel:
    """Return a kernel of a series, or skip."""
    try:
        return find(series)
    except (ParamError, SojournError) as error:
        optional.KERNEL.skip(error)


@pytest.mark.parametrize("bug", BUGS.values(), ids=list(BUGS))
def test_a_case_says_all_that_a_maintainer_needs(bug: Bug) -> None:
    assert bool(bug.plays) != bool(bug.script)
    assert bug.seen
    assert set(bug.seen).isdisjoint(bug.not_seen)
    assert {*bug.seen, *bug.not_seen} <= set(SERIES)
    assert bug.report.startswith("Subject: ")
    for part in ("{kernel}", "{reading}", "\nHow to see it", "\nSuggested repair: "):
        assert part in bug.report
    assert bug.component.split(",")[0].endswith((".c", ".h"))
    if bug.plays:
        for play in bug.plays:
            assert play.reading.of in cases.KINDS
            assert (play.reading.of == cases.COUNTER) == bool(play.reading.counter)
            assert 1 <= play.reading.part <= len(play.parts)
            assert play.end_ms >= max(part.at_ms for part in play.parts)
            _native.kernel_qdisc(play.qdisc, 1_000_000)
        bounds = (bug.present_above, bug.present_below, bug.absent_above, bug.absent_below)
        assert any(bound is not None for bound in bounds)
    else:
        assert bug.fails
        assert bug.script_text()


def test_the_texts_name_the_same_commands_as_the_cases() -> None:
    """Whoever types the commands of a text gets the discipline that was played."""
    for bug in cases.bugs():
        if not bug.plays:
            continue
        report = " ".join(bug.report.replace("\\\n", " ").split())
        # The number of queues says which of them a packet is in, which the kernel's default does with a hash.
        played = bug.plays[0].qdisc.replace("flows 16 ", "")
        assert f"handle 10: {played}" in report
        assert f"tbf rate {bug.plays[0].shaped} " in report


@pytest.mark.parametrize("value", [0.0, 1.0, 2.9, 3.0, 9.9, 10.0, 10.1, 400.0])
def test_between_the_bounds_nothing_is_said(value: float) -> None:
    bug = BUGS["pie-probability"]
    expected = PRESENT if value > 10 else ABSENT if value < 3 else CANNOT_TELL
    assert bug.verdict(value) == expected


@pytest.mark.parametrize("series", SERIES)
@pytest.mark.parametrize("bug", BUGS.values(), ids=list(BUGS))
def test_a_kernel_has_the_bugs_that_were_seen_in_it(bug: Bug, series: str) -> None:
    found = judge.on_kernel(bug, the_kernel(series))
    expected = PRESENT if series in bug.seen else ABSENT if series in bug.not_seen else CANNOT_TELL
    assert found.verdict == expected, found


@pytest.mark.usefixtures("virtual_kernel")
def test_a_case_reads_the_same_each_time(virtual_kernel: Kernel) -> None:
    first, second = (judge.on_kernel(BUGS["red-idle"], virtual_kernel) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("bug", "place"), SIMULATED, ids=[f"{bug.name}-{place}" for bug, place in SIMULATED])
def test_the_simulator_has_a_bug_or_has_it_not_as_the_case_says(bug: Bug, place: int) -> None:
    """Where a variant lacks the bug, its reading is the expected one: from a paper or an RFC, and not from Linux."""
    assert judge.in_simulator(bug)[place].verdict == bug.simulator[place].verdict


def test_an_average_that_falls_while_idle_drops_nothing_after_a_minute() -> None:
    """The expected reading of red-idle, from Floyd and Jacobson's rule: without a shaper's peek, idle time counts."""
    [play, _] = BUGS["red-idle"].plays
    model = _native.Qdisc(play.qdisc, 1)
    clock = 0
    for at, packets in sequences.sequence(play).offers:
        # Each packet leaves 1.2 ms after the one before, and the queue is asked once more when it is empty.
        while clock + 1_211_200 <= at and model.stats["qlen"]:
            clock += 1_211_200
            model.dequeue(clock)
        if not model.stats["qlen"]:
            model.dequeue(min(clock + 1_211_200, at))
        clock = max(clock, at)
        before = model.stats["drops"]
        for packet in packets:
            model.enqueue(at, packet.size, flow=packet.hash)
        if at >= 60_000_000_000:
            assert model.stats["drops"] == before


def test_codels_clock_says_that_no_drop_was_a_short_time_ago_at_an_uptime_of_41_minutes() -> None:
    """The times of the case are in the halves that it says: units of 1024 ns, in 32 bits with a sign."""
    first, second = BUGS["fq-codel-uptime"].plays
    at_ms = first.parts[0].at_ms
    later_ms = first.end_ms + second.parts[0].at_ms
    for uptime_ms, upper in ((at_ms, True), (later_ms, False)):
        # The guest has been up for 1 to 4 s when the first sequence begins.
        for boot_ms in (1000, 4000):
            now = (round(uptime_ms) + boot_ms) * 1_000_000 >> 10
            assert (now >> 31 & 1 == 1) == upper


def test_old_flags_are_in_the_structure_and_not_in_an_attribute() -> None:
    text = "red limit 60000 min 5000 max 15000 avpkt 1000 burst 8 ecn adaptive"
    _, today = encoded(of_text(text, 1_000_000))
    assert today is not None
    before = attributes(sequences.old_flags(today))
    now = attributes(today)
    assert set(now) == {1, 2, 3, 4}
    assert set(before) == {1, 2, 3}
    # `struct tc_red_qopt`: limit, min and max, three logarithms, and the flags: ECN is 1 and ADAPTATIVE 4.
    assert struct.unpack("=IIIBBBB", before[1])[-1] == 1 | 4
    assert struct.unpack("=IIIBBBB", now[1])[-1] == 0
    assert before[1][:-1] == now[1][:-1]
    assert [before[2], before[3]] == [now[2], now[3]]


def attributes(options: Encoded) -> dict[int, bytes]:
    """Return the bodies of attributes by their numbers."""
    found, rest = {}, options.payload
    while rest:
        length, kind = struct.unpack_from("=HH", rest)
        found[kind], rest = rest[4:length], rest[length + -length % 4 :]
    return found


def test_readings_are_what_they_are_called() -> None:
    play = cases.Play(
        label="x",
        qdisc="pfifo limit 1000",
        parts=(cases.Part(at_ms=0, packets=2, burst=2), cases.Part(at_ms=5, packets=2, every_ms=1)),
        end_ms=10,
        reading=cases.Reading(of=cases.DELAY, part=2),
    )
    done = readings.Done(
        offered_ns={0: 0, 1: 0, 2: 5_000_000, 3: 6_000_000},
        left_ns={0: 1, 2: 7_000_000, 3: 10_000_000},
        counters={"prob": 0.5},
    )
    assert readings.value(play, done, 1.0) == 3.0
    assert readings.value(with_reading(play, cases.Reading(of=cases.DROPPED, part=1)), done, 1.0) == 1
    assert readings.value(with_reading(play, cases.Reading(of=cases.COUNTER, counter="prob")), done, 2.0) == 1.0
    with pytest.raises(SojournError, match="told no counter nothing"):
        readings.value(with_reading(play, cases.Reading(of=cases.COUNTER, counter="nothing")), done, 1.0)


def with_reading(play: cases.Play, reading: cases.Reading) -> cases.Play:
    """Return a play with another reading."""
    return cases.Play(label=play.label, qdisc=play.qdisc, parts=play.parts, end_ms=play.end_ms, reading=reading)


def test_another_failure_of_a_script_says_nothing(virtual_kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    bug = BUGS["tcp-advertised-mss"]
    monkeypatch.setattr(Bug, "script_text", lambda _: "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 close(3) = 7\n")
    found = judge.on_kernel(bug, virtual_kernel)
    assert found.verdict == CANNOT_TELL
    assert found.reading == "line 2: failed: expected close = 7, but it answered 0"


def test_the_command_prints_a_line_for_each_kernel(virtual_kernel: Kernel, inside: Callable[..., object]) -> None:
    done = inside("kernel", "bugs", "red-idle", "fq-pie-memory", status=1)
    lines = done.stdout.splitlines()  # type: ignore[attr-defined]
    where = f"Linux {virtual_kernel.release}"
    assert lines[0].startswith("red-idle: ")
    assert re.fullmatch(rf"  {re.escape(where)}: 1[0-9]: present; a leaf of htb: .*: 1[0-9]", lines[2])
    assert lines[-1] == f"{where}: 2 present, 0 absent, 0 cannot tell"


@pytest.mark.usefixtures("virtual_kernel")
def test_the_command_prints_json_and_texts_for_maintainers(inside: Callable[..., object]) -> None:
    done = inside("kernel", "bugs", "--json", "pie-shown-delay", status=1)
    found = json.loads(done.stdout)  # type: ignore[attr-defined]
    assert found["format"] == "sojourn-kernel-bugs/1"
    [bug] = found["bugs"]
    assert bug["kernels"][0]["verdict"] == PRESENT
    # 6.0 s less 2^32 ns.
    assert bug["kernels"][0]["value"] == pytest.approx(5.996 - 4.295, abs=0.01)
    text = inside("kernel", "bugs", "--report", "pie-shown-delay", status=1).stdout  # type: ignore[attr-defined]
    assert text.startswith("Subject: net/sched: sch_pie: ")
    assert "tc printed 1.70 s" in text
    assert "\n  tc qdisc add dev eth0 root handle 1: tbf rate 1mbit " in text


def test_bad_names_are_refused_in_one_sentence(inside: Callable[..., object]) -> None:
    for given, part in (
        (("red-idel",), "bug is 'red-idel', but must be one of dualpi2-probability, fq-codel-uptime, "),
        (("--report", "no"), "bug is 'no', but must be one of "),
        (("red-idle", "--report", "red-idle"), "report is 'red-idle', but must stand without other names"),
        (("--kernel", "0.1"), "kernel is '0.1'"),
        (("--json", "--report", "red-idle"), "not allowed with"),
    ):
        assert_one_sentence(inside("kernel", "bugs", *given, status=2), part)  # type: ignore[arg-type]


def test_a_bug_that_no_kernel_has_gets_no_text() -> None:
    found = judge.Finding(where="Linux 9.9.9-sojourn2", verdict=ABSENT, reading="0")
    with pytest.raises(ParamError, match=r"the bug must be present, and it is not in Linux 9\.9\.9$"):
        words.report(BUGS["red-idle"], [found])


def test_the_page_is_that_of_its_data_and_has_the_verdicts_of_the_cases() -> None:
    data = json.loads(kernel_bugs.DATA.read_text())
    assert kernel_bugs.page(data) == kernel_bugs.PAGE.read_text()
    assert [one["name"] for one in data["bugs"]] == list(BUGS)
    for one in data["bugs"]:
        bug = BUGS[one["name"]]
        for series, found in zip(SERIES, one["kernels"], strict=True):
            assert found["where"].startswith(f"Linux {series}.")
            assert (found["verdict"] == PRESENT) == (series in bug.seen)
            assert (found["verdict"] == ABSENT) == (series in bug.not_seen)
        for simulated, found in zip(bug.simulator, one["simulator"], strict=True):
            assert found["verdict"] == simulated.verdict


def test_surprises_are_told() -> None:
    page = kernel_bugs.PAGE.read_text()
    assert {"txrehash", "timer-tick"} <= {one.name for one in cases.surprises()}
    assert all(one.title in " ".join(page.split()) for one in cases.surprises())
