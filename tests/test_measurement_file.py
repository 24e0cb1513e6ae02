"""The file of a measurement: it comes back to the bit, or not at all."""

from __future__ import annotations

import hashlib
import json
import random
import resource
import zlib

import pytest
from hypothesis import given as with_any
from hypothesis import settings
from hypothesis import strategies as st

from sojourn.backends.linux import guest_inputs
from sojourn.backends.linux.guest import Answer
from sojourn.backends.linux.measurements import decode, encode
from tests.test_native_bed import PACKETS


def answers() -> list[Answer]:
    chance = random.Random(1)
    sizes = (0, 1, 24, 25, 24 * 1000)
    return [
        Answer(measured='{"ä": 1}\n', packets=chance.randbytes(size), wall_s=0.1 + size, peak_rss_mb=1 / 3)
        for size in sizes
    ] + [Answer(measured="{}", packets=PACKETS * 50, wall_s=0.0, peak_rss_mb=0.0)]


def test_a_measurement_comes_back_to_the_bit() -> None:
    for answer in answers():
        assert decode("a" * 32, encode("a" * 32, answer)) == answer


def test_every_damage_to_a_measurement_is_noticed() -> None:
    data = encode("a" * 32, answers()[-1])
    for place in range(len(data)):
        for bit in (1, 0x80):
            damaged = bytearray(data)
            damaged[place] ^= bit
            assert decode("a" * 32, bytes(damaged)) is None, place
        assert decode("a" * 32, data[:place]) is None
    assert decode("a" * 32, data + b"\0") is None


def test_a_measurement_of_another_name_or_format_is_not_taken() -> None:
    data = encode("a" * 32, answers()[2])
    assert decode("b" * 32, data) is None
    begin, _, rest = data.partition(b"\n")
    later = begin.replace(b"measurement/1", b"measurement/2") + b"\n" + rest
    assert decode("a" * 32, later) is None
    # One that is whole, and says what no writer of this version says.
    for odd in (b"[]\n", b"{}\n", b'{"name": "' + b"a" * 32 + b'", "measured": 1, "packets": 0}\nx', b"no JSON\n"):
        head = f"{guest_inputs.FORMAT} {hashlib.sha256(odd).hexdigest()}\n".encode()
        assert decode("a" * 32, head + odd) is None


def as_file(facts: object, body: bytes) -> bytes:
    """Return a file whose check sum is right, whatever it holds."""
    rest = (facts if isinstance(facts, bytes) else json.dumps(facts).encode()) + b"\n" + body
    return f"{guest_inputs.FORMAT} {hashlib.sha256(rest).hexdigest()}\n".encode() + rest


@pytest.mark.slow
def test_a_measurement_that_would_fill_the_memory_is_not_taken() -> None:
    bomb = zlib.compressobj(9)
    pieces = [bomb.compress(bytes(1 << 24)) for _ in range(160)]
    packed = b"".join([*pieces, bomb.flush()])
    assert len(packed) < 4 << 20
    plain = zlib.compress(b"{}")
    facts = {"name": "a", "wall_s": 1.0, "peak_rss_mb": 1.0, "measured": len(plain), "packets": len(packed)}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert decode("a", as_file({**facts, "columns": False}, plain + packed)) is None
    # 2.7 GB are in it; half a GiB of it is looked at, which is copied once.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1.3 * (1 << 20)


@settings(max_examples=200)
@with_any(
    facts=st.one_of(
        st.binary(max_size=50),
        st.fixed_dictionaries(
            {
                "name": st.just("a"),
                "wall_s": st.none() | st.floats() | st.text(),
                "peak_rss_mb": st.integers() | st.just(1.0),
                "measured": st.integers(-20, 40),
                "packets": st.integers(-20, 40) | st.none(),
                "columns": st.booleans() | st.text(),
            }
        ),
    ),
    body=st.binary(max_size=20) | st.binary(max_size=60).map(lambda data: zlib.compress(b"{}") + zlib.compress(data)),
)
def test_any_file_with_a_right_check_sum_is_a_measurement_or_not_taken(facts: object, body: bytes) -> None:
    answer = decode("a", as_file(facts, body))
    assert answer is None or isinstance(answer.measured, str)


def test_deep_facts_are_not_taken() -> None:
    assert decode("a", as_file(b"[" * 100_000, b"")) is None
    assert decode("a", as_file(b'{"name": ' + b"9" * 5000 + b"}", b"")) is None
