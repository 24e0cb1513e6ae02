"""The file of a measurement: it comes back to the bit, or not at all."""

from __future__ import annotations

import hashlib
import random

from sojourn.backends.linux import given
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
        head = f"{given.FORMAT} {hashlib.sha256(odd).hexdigest()}\n".encode()
        assert decode("a" * 32, head + odd) is None
