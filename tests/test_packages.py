"""What the packages hold besides the programs: the licences of others. And the daemon that needs no library."""

from __future__ import annotations

import io
import platform
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests import optional
from tools.release.notices import lacking

ROOT = Path(__file__).parents[1]
VERSION = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]  # type: ignore[index]
NAME = f"sojournd-{VERSION}-x86_64-linux"


FEATURE = "sojourn-live/capture"
TARGET = f"{platform.machine()}-unknown-linux-gnu"


def script(name: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a tool that packs or checks; it needs Rust."""
    if shutil.which("cargo") is None:
        optional.RUST.skip()
    command = [sys.executable, "-m", f"tools.release.{name}", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def notices() -> str:
    done = script("notices", "--features", FEATURE, "sojourn-live")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_notices_name_every_crate_whose_sources_the_daemon_names(notices: str, sojournd: Path) -> None:
    """The oracle is the program: the messages of a panic name the file of a crate."""
    program = sojournd.read_bytes().decode("latin-1")
    crates = set(re.findall(r"registry/src/[^/\0]+/([A-Za-z0-9_-]+)-(\d[^/\0]*)/", program))
    assert len(crates) > 20
    assert {f"{name} {number}" for name, number in crates if f"\n{name} {number} (" not in notices} == set()
    standard = set(re.findall(r"/rust/deps/([A-Za-z0-9_-]+)-\d", program))
    assert "hashbrown" in standard
    assert {
        name for name in standard if not re.search(rf"\n{name}\b.*, in the Rust standard library\n", notices)
    } == set()


def test_the_notices_have_texts_and_no_path_of_this_machine(notices: str) -> None:
    parts = notices.split("=" * 78)
    texts = parts[2::2]
    assert len(texts) > 30
    assert all(len(text.split()) > 5 for text in texts)
    assert len({" ".join(text.split()) for text in texts}) == len(texts)
    # An optional crate, which cargo leaves out unless it is asked for all features.
    assert re.search(r"^pcap \d", notices, re.MULTILINE)
    assert str(ROOT) not in notices
    assert str(Path.home()) not in notices


def test_notices_that_leave_a_crate_out_are_found(notices: str) -> None:
    assert lacking(notices, ["sojourn-live"], TARGET, FEATURE) == []
    (crate,) = lacking(re.sub(r"\npcap-parser .*", "", notices), ["sojourn-live"], TARGET, FEATURE)
    assert re.fullmatch(r"pcap-parser \S+ \(MIT/Apache-2.0\)", crate)


@pytest.mark.parametrize(
    ("name", "words", "sentence"),
    [
        ("notices", ["nothing"], "notices: this failed: cargo tree .* did not match any packages"),
        ("notices", ["sojourn-live", "--beside", "a=/b"], r"notices: --beside is a=/b, but must be NAME=FILE, .*"),
        ("static", ["--libpcap", "/b"], r"static: --libpcap is /b, but must be a folder with libpcap's configure"),
        ("static", ["--check", "/b"], r"static: --check is /b, but must be a tarball"),
        ("wheel", ["--libpcap", "/b"], r"wheel: --libpcap is /b, but must be a folder with libpcap's configure"),
        ("wheel", ["--check", "/b"], r"wheel: --check is /b, but must be a wheel"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(name: str, words: list[str], sentence: str) -> None:
    done = script(name, *words)
    assert done.returncode == 2
    assert re.fullmatch(sentence + "\n", done.stderr)


def test_a_tarball_without_notices_with_a_stranger_and_with_a_dynamic_program_is_found_wrong(tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copyfile(sys.executable, program)
    tarball = tmp_path / f"{NAME}.tar.xz"
    with tarfile.open(tarball, "w:xz") as archive:
        archive.add(program, f"{NAME}/sojournd")
        for name in ("LICENSE-APACHE", "LICENSE-MIT", "flush.toml", "sojournd.8", "stranger"):
            archive.addfile(tarfile.TarInfo(f"{NAME}/{name}"), io.BytesIO())
    done = script("static", "--check", tarball)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"static: {NAME}/THIRD-PARTY-NOTICES is missing",
        f"static: {NAME}/sojournd-flush@.service is missing",
        f"static: {NAME}/stranger is no file of the tarball",
        "static: sojournd may not be run",
        *(["static: sojournd is not for x86_64"] if platform.machine() != "x86_64" else []),
        "static: sojournd is not linked statically",
    ]
    other = tarball.rename(tmp_path / "daemon.tar.xz")
    assert script("static", "--check", other).stderr == "static: daemon.tar.xz is no name of a tarball of the daemon\n"


def test_the_static_daemon_carries_packets(tmp_path: Path) -> None:
    tarball = ROOT / f"out/static/sojournd-{VERSION}-{platform.machine()}-linux.tar.xz"
    if not tarball.exists():
        optional.STATIC.skip()
    done = script("static", "--check", tarball)
    assert done.stderr == ""
    with tarfile.open(tarball) as archive:
        archive.extractall(tmp_path, filter="data")
    daemon = tmp_path / tarball.name.removesuffix(".tar.xz") / "sojournd"
    output = subprocess.run([daemon, "--version"], capture_output=True, text=True, check=True).stdout
    assert output == f"sojournd {VERSION}\n"
    words = ["bottleneck", "--control", str(tmp_path / "s"), "--rate", "1mbit", "--json", str(tmp_path / "j"), "--"]
    done = subprocess.run([daemon, *words, "true"], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        optional.REAL_PACKETS.skip(done.stderr.strip())
    assert (tmp_path / "j").stat().st_size > 0
