"""What is read is read within bounds: whatever a file holds, it is read, or refused in one sentence with its name."""

from __future__ import annotations

import bz2
import gzip
import json
import math
import os
import subprocess
import sys
import time
import tomllib
import zlib
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn import bounded, schema
from sojourn.errors import ParamError, SojournError
from tests.conftest import Cli, assert_one_sentence


def refuse(why: str) -> NoReturn:
    raise SojournError(why)


def refused(path: Path, read: Any) -> str:
    with pytest.raises((SojournError, ParamError)) as error:
        read(path)
    sentence = str(error.value)
    assert path.name in sentence
    assert "\n" not in sentence
    return sentence


def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    for name, words in {
        "pipe": "no regular file",
        "folder": "Is a directory",
        "loop": "Too many levels of symbolic links",
        "missing": "No such file or directory",
        "n" * 300: "File name too long",
        "zero\0": "null byte",
    }.items():
        assert words in refused(tmp_path / name, bounded.read_bytes)
    assert "no regular file" in refused(Path("/dev/zero"), bounded.read_bytes)


def test_what_is_read_piece_by_piece_is_regular_or_an_open_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("pipe", "link", "loop"):
        refused(tmp_path / name, bounded.check_stream)
    bounded.check_stream(tmp_path / "missing")
    reader, writer = os.pipe()
    bounded.check_stream(Path(f"/dev/fd/{reader}"))
    os.close(reader)
    os.close(writer)


def test_a_file_is_not_read_beyond_its_bound(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"12345")
    assert bounded.read_bytes(file, 5) == b"12345"
    assert "has 5 bytes, but must have at most 4" in refused(file, lambda path: bounded.read_bytes(path, 4))
    # What stands in /proc says that it has no bytes.
    assert "more than 10 bytes" in refused(Path("/proc/self/status"), lambda path: bounded.read_bytes(path, 10))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("[" * 200_000, "nested"),
        ('{"a":' * 70 + "1" + "}" * 70, "nested more than 64 deep"),
        ("9" * 5000, "too many digits"),
        (f"[{2**64}]", "too large"),
        ("[1e999]", "too large"),
        ("[NaN]", "NaN"),
        ('["\\ud800"]', "half a character"),
        ('{"\\udfff": 1}', "half a character"),
        ("\ufeff{}", "not JSON"),
    ],
)
def test_json_that_is_too_much_is_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    assert words in refused(tmp_path / "x.json", bounded.read_json)


def test_json_of_more_values_than_are_taken_is_refused_before_they_take_memory() -> None:
    text = "[" + "[]," * (bounded.MOST_VALUES // 2) + "[]]"
    before = time.process_time()
    with pytest.raises(SojournError, match="more than 20000000 values"):
        bounded.parse_json(text, refuse)
    assert time.process_time() - before < 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def storable(value: Any) -> bool:
    """Tell, in another way than the reader, whether a value can be taken and written again."""
    if isinstance(value, dict):
        return all(storable(key) and storable(one) for key, one in value.items())
    if isinstance(value, list):
        return all(map(storable, value))
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or -(2**64) < value < 2**64


@given(value=JSON)
def test_what_can_be_written_again_is_read_as_it_is(value: Any) -> None:
    text = json.dumps(value)
    if storable(value):
        assert bounded.parse_json(text, refuse) == value
    else:
        with pytest.raises(SojournError):
            bounded.parse_json(text, refuse)


@given(content=st.binary(max_size=200))
def test_any_bytes_are_json_or_refused(content: bytes) -> None:
    try:
        found = bounded.parse_json(content, refuse)
    except SojournError:
        return
    assert found == json.loads(content)


@given(content=st.text(max_size=200), depth=st.integers(0, 100))
def test_any_text_is_toml_or_refused(content: str, depth: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("toml") / "x.toml"
    text = content + f"\nx = {'[' * depth}{']' * depth}"
    file.write_bytes(text.encode())
    try:
        found = bounded.read_toml(file, "this")
    except ParamError:
        return
    assert found == tomllib.loads(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = " + "[" * 5000, "nested"),
        ("x = " + "[" * 70 + "]" * 70, "nested"),
        (".".join(["a"] * 3000) + " = 1", "nested"),
        ("[" + ".".join(["a"] * 3000) + "]", "nested"),
        ("x = " + "9" * 5000, "too many digits"),
        ("x = 2021-02-30", "not TOML"),
        ("x = 1\n" + "# \n" * 400_000, "at most 1048576"),
    ],
)
def test_toml_that_is_too_much_is_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(text)
    assert words in refused(tmp_path / "x.toml", lambda path: bounded.read_toml(path, "this"))


@given(data=st.binary(max_size=5000), most=st.integers(0, 6000))
def test_zlib_is_unpacked_up_to_its_bound(data: bytes, most: int) -> None:
    found = bounded.unpack_zlib(zlib.compress(data), most)
    assert found == (data if len(data) <= most else None)


@given(data=st.binary(max_size=500), cut=st.integers(0, 100), more=st.binary(max_size=5))
def test_a_zlib_stream_must_be_whole(data: bytes, cut: int, more: bytes) -> None:
    packed = zlib.compress(data)
    spoiled = packed[: max(0, len(packed) - cut)] + more
    assert bounded.unpack_zlib(spoiled, 1000) == (data if spoiled == packed else None)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zlib.compress])
def test_a_bomb_is_not_unpacked(pack: Any) -> None:
    bomb = pack(bytes(1 << 26))
    code = (
        "import resource, sys\nfrom sojourn import bounded\n"
        "def refuse(why): raise SystemExit(why)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "data = sys.stdin.buffer.read()\n"
        "found = bounded.unpack_zlib(data, 1 << 20) if data[:1] == b'x' else None\n"
        "if data[:1] != b'x':\n"
        "    try: bounded.unpack(data, 1 << 20, refuse)\n"
        "    except SystemExit as end: assert 'larger than 1 MiB' in str(end)\n"
        "assert found is None\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=bomb, capture_output=True, check=True)
    # Far below the 65,536 kB that it holds.
    assert int(done.stdout) < 20_000


@settings(max_examples=30)
@given(data=st.binary(max_size=300))
def test_what_is_packed_comes_back(data: bytes) -> None:
    plain = data if not data.startswith((b"\x1f\x8b", b"BZh")) else b"." + data
    for packed in (plain, gzip.compress(plain), bz2.compress(plain)):
        assert bounded.unpack(packed, 300, refuse) == plain


def test_a_file_for_which_there_is_no_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "free_memory", lambda: 1e6)
    bounded.check_memory(Path("x.parquet"), 500_000)
    with pytest.raises(SojournError, match=r"x\.parquet cannot be read: that takes 1 MB of memory, more than half"):
        bounded.check_memory(Path("x.parquet"), 500_001)


HOSTILE_FILES = {
    "deep arrays": "x = " + "[" * 5000,
    "a deep key": ".".join(["a"] * 3000) + " = 1",
    "a long number": "seed = " + "9" * 5000,
    "a name that is a formula": 'experiment = "$\\\\frac{$"',
    "a name that steers": 'experiment = "a\\u001b[2Jb"',
    "a name as long as a book": f'experiment = "{"x" * 1_000_000}"',
}


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_a_hostile_experiment_is_refused_in_one_sentence(name: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(HOSTILE_FILES[name])
    began = time.monotonic()
    result = cli("run", "x.toml", status=2)
    assert_one_sentence(result, "x.toml")
    assert "\x1b" not in result.stderr
    assert len(result.stderr) < 2_200
    assert "bug" not in result.stderr
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("words", [("run", "n" * 300), ("plot", "cdf", "d/" * 2500, "--out", "x.svg")])
@pytest.mark.parametrize("more", [(), ("--out", "o" * 300)])
def test_a_name_that_is_too_long_is_refused(words: tuple[str, ...], more: tuple[str, ...], cli: Cli) -> None:
    result = cli(*words, *more, status=2)
    assert "bug" not in result.stderr
    assert result.stderr.count("\n") == 1


def run_with(redirection: str, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    line = f'exec "$0" -m sojourn "$@" {redirection}'
    return subprocess.run(
        ["/bin/bash", "-c", line, sys.executable, *words], capture_output=True, text=True, cwd=folder, check=False
    )


def test_a_closed_standard_output_is_no_error_and_no_file_takes_its_place(tmp_path: Path) -> None:
    done = run_with(">&-", "run", "bulk", "--duration", "1s", "--out", "made", "--json", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "simulated 1 s" in done.stderr
    assert json.loads((tmp_path / "made/run.json").read_text())["format"] == "sojourn-run/1"
    assert run_with(">&- 2>&-", "list", folder=tmp_path).returncode == 0
    assert run_with("<&- >&- 2>&-", "--help", folder=tmp_path).returncode == 0


def test_a_full_standard_output_is_an_error_of_one_sentence(tmp_path: Path) -> None:
    done = run_with(">/dev/full", "list", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "sojourn: standard output cannot be used: No space left on device\n"


def test_a_word_that_is_no_text_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sojourn", "run", "bulk", "--qdisc", b"codel \xff"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 2
    assert "bug" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_panic_and_a_want_of_memory_end_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sojourn.cli import main

    class PanicException(BaseException):
        """As PyO3 raises: no `Exception`."""

    for error, words in (
        (PanicException("index out of bounds"), "PanicException: index out"),
        (MemoryError(), "memory"),
    ):

        def handler(_: Any, error: BaseException = error) -> int:
            raise error

        monkeypatch.setattr("sojourn.cli.catalogue.handle", handler)
        assert main(["list"]) == 2
        errors = capsys.readouterr().err
        assert words in errors
        assert errors.count("\n") == 1


@pytest.mark.parametrize("file", ["1\n", "AC\tAQL limit low\nVO\t5000\n", ""])
def test_files_of_a_kernel_may_have_lines(file: str) -> None:
    schema.convert(file, schema.Lines, "kernel.wifi.aqm")


@pytest.mark.parametrize("file", ["\x1b[2J", "a\rb", "\x00", 1, "a" * (schema.MOST_TEXT + 1)])
def test_files_of_a_kernel_hold_nothing_that_a_terminal_obeys(file: object) -> None:
    with pytest.raises(schema.Misfit, match=r"^kernel\.wifi\.aqm is .*, but must be lines of printable characters"):
        schema.convert(file, schema.Lines, "kernel.wifi.aqm")
