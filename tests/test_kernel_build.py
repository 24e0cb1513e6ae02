"""Builds of a source in miniature: what is kept, what is named, what is left behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sojourn.errors import ParamError, SojournError
from sojourn.kernel import build, cache, driver, find, make, tools
from sojourn.kernel.verify import CheckError
from tests import optional
from tests.conftest import Cli, assert_one_sentence
from tests.miniature import MAKEFILE, RECIPE, WIFI_LINES, compilers, files, programs, script, tree
from tests.miniature import source as miniature

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason=optional.lacking("make").reason())


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return compilers(tmp_path, monkeypatch)


def test_a_kernel_is_built_checked_and_kept(world: Path, tmp_path: Path) -> None:
    tarball = miniature(tmp_path / "a.tar.xz")
    outcome = build.build(tarball)
    built = outcome.built
    assert outcome.anew
    assert [path.name for path in world.iterdir()] == [f"6.1.9-{built.recipe.key}"]
    assert sorted(path.name for path in built.folder.iterdir()) == ["kernel.json", "linux"]
    facts = json.loads((built.folder / "kernel.json").read_text())
    assert facts["format"] == "sojourn-kernel/1"
    assert facts["recipe"]["source_sha256"] == cache.sha256_of(tarball)
    assert facts["recipe"]["compiler"] == "gcc (made up) 1.0"
    assert facts["verified"]["uuids"] == {
        "1": "00000000-0000-0000-0000-000000000001",
        "2": "00000000-0000-0000-0000-000000000002",
    }
    assert facts["sha256"] == cache.sha256_of(built.linux)
    assert cache.read(built.folder) == built
    found = find.find(built.name)
    assert (found.kind, found.path, found.release) == ("virtual", built.linux, "6.1.9-fake")
    assert found.identity == f"sha256:{built.sha256}"


def checkout(folder: Path, **changes: str | None) -> Path:
    """Write a source as a folder."""
    return tree(folder, files(**changes))


def test_a_kernel_is_built_from_a_folder_which_stays_as_it_is(world: Path, tmp_path: Path) -> None:
    top = checkout(tmp_path / "net-next")
    (top / "again").symlink_to("kernel.sh")
    (top / "kernel.sh").chmod(0o755)
    before = {path: path.lstat() for path in top.rglob("*")}
    outcome = build.build(top)
    assert {path: path.lstat()[:8] for path in top.rglob("*")} == {path: facts[:8] for path, facts in before.items()}
    assert outcome.built.version == "6.1.9"
    # The same bytes from a tarball, under another name: the hash of what was built is of the tarball.
    packed = build.build(miniature(tmp_path / "a.tar.xz"))
    assert packed.built.sha256 == outcome.built.sha256
    assert packed.built.name != outcome.built.name
    assert not build.build(top).anew


def test_a_change_of_a_folder_is_another_kernel_and_its_place_and_times_are_not(world: Path, tmp_path: Path) -> None:
    names = {build.build(checkout(tmp_path / "one")).built.name}
    moved = checkout(tmp_path / "two")
    os.utime(moved / "kernel.sh", (1, 1))
    (moved / ".git").mkdir()  # not a checkout that git knows
    (moved / ".git" / "HEAD").touch()
    assert {build.build(moved).built.name} == names
    for change in (
        lambda top: (top / "note").write_text("x"),
        lambda top: (top / "note").write_text("y"),
        lambda top: (top / "note").chmod(0o755),
        lambda top: (top / "note").rename(top / "other"),
        lambda top: (top / "link").symlink_to("other"),
    ):
        change(moved)
        name = build.build(moved).built.name
        assert name not in names
        names.add(name)


def test_what_git_ignores_is_not_of_the_source(world: Path, tmp_path: Path) -> None:
    optional.program("git")
    top = checkout(tmp_path / "linux", **{".gitignore": "*.o\n.config\n"})
    name = build.build(top).built.name
    subprocess.run(["git", "init", "--quiet", str(top)], check=True)
    (top / ".config").touch()
    (top / "one.o").touch()
    assert build.build(top).built.name == name
    (top / "new.c").touch()
    assert build.build(top).built.name != name


def test_a_folder_that_no_kernel_can_be_built_from_is_a_sentence(world: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "empty").mkdir()
    refused = cli("kernel", "build", "--source", str(tmp_path / "empty"), status=2)
    assert_one_sentence(refused, "empty is not the source of a kernel: there must be a Makefile")
    top = checkout(tmp_path / "built")
    (top / ".config").touch()
    with pytest.raises(SojournError, match=r"it was built in \(\.config is there\): run make ARCH=um mrproper there"):
        build.build(top)
    (top / ".config").unlink()
    os.mkfifo(top / "pipe")
    with pytest.raises(SojournError, match="'pipe' is neither a file nor a symbolic link"):
        build.build(top)
    assert not list(world.glob("*-*"))


def test_what_is_there_is_not_built_again_unless_forced(world: Path, tmp_path: Path) -> None:
    tarball = miniature(tmp_path / "a.tar.xz")
    first = build.build(tarball).built
    before = (first.folder / "kernel.json").stat().st_ino
    again = build.build(tarball)
    assert not again.anew
    assert again.built == first
    assert (first.folder / "kernel.json").stat().st_ino == before
    forced = build.build(tarball, force=True)
    assert forced.anew
    assert replace(forced.built, built=0, verified={}) == replace(first, built=0, verified={})
    assert (first.folder / "kernel.json").stat().st_ino != before
    assert [path.name for path in world.iterdir()] == [first.name]


def test_a_kernel_that_was_changed_is_built_again_and_not_used(world: Path, tmp_path: Path) -> None:
    tarball = miniature(tmp_path / "a.tar.xz")
    first = build.build(tarball).built
    with first.linux.open("a") as file:
        file.write("# changed\n")
    with pytest.raises(SojournError, match="is not what was built"):
        find.find(first.name)
    assert build.build(tarball).anew
    assert find.find(first.name).identity == f"sha256:{first.sha256}"


def test_ticks_go_into_the_source_and_the_name(world: Path, tmp_path: Path) -> None:
    tarball = miniature(tmp_path / "a.tar.xz")
    names = {build.build(tarball, hz=hz).built.name for hz in (100, 1000)}
    assert len(names) == 2
    assert {path.name for path in world.iterdir()} == names


@pytest.mark.parametrize("field", ["source_sha256", "edits", "config", "compiler", "linker", "hz", "driver"])
def test_the_name_is_a_function_of_all_of_the_recipe(field: str) -> None:
    assert cache.kernel_name("6.1.9", RECIPE) == cache.kernel_name("6.1.9", replace(RECIPE))
    other = replace(RECIPE, **{field: 100 if field == "hz" else "other"})
    assert cache.kernel_name("6.1.9", other) != cache.kernel_name("6.1.9", RECIPE)
    assert cache.kernel_name("6.1.10", RECIPE).startswith("6.1.10-")


def test_the_names_of_kernels_without_a_driver_are_what_they_were() -> None:
    # Computed by the version before there was a driver.
    assert cache.kernel_name("6.1.9", RECIPE) == "6.1.9-59698d22575a"


def wifi_source(path: Path, **changes: str | None) -> Path:
    """Write the source of a kernel that the Wi-Fi driver is written for."""
    makefile = MAKEFILE.replace("PATCHLEVEL = 1\n", "PATCHLEVEL = 12\n")
    return miniature(path, files(Makefile=makefile, **WIFI_LINES, **changes))


def test_a_kernel_with_the_wifi_driver_is_another_one(world: Path, tmp_path: Path) -> None:
    # What the source has when it is compiled goes into the kernel, as comments.
    spy = "\t@for x in drivers/net/wireless/Kconfig drivers/net/wireless/Makefile; do sed 's/^/# /' $$x >>linux; done\n"
    spy += "\t@ls drivers/net/wireless/sojourn_radio | sed 's/^/# has /' >>linux\n"
    makefile = MAKEFILE.replace("PATCHLEVEL = 1\n", "PATCHLEVEL = 12\n") + spy
    tarball = miniature(tmp_path / "a.tar.xz", files(Makefile=makefile, **WIFI_LINES))
    wired = build.build(tarball).built
    radios = build.build(tarball, wifi=True).built
    assert not wired.wifi
    assert radios.wifi
    assert wired.name != radios.name
    assert radios.recipe.driver == driver.digest()
    assert "CONFIG_SOJOURN_RADIO=y" in radios.recipe.config
    assert "MAC80211" not in wired.recipe.config
    assert list(radios.verified["radios"]) == ["02:00:00:00:00:00", "02:00:00:00:01:00", "02:00:00:00:02:00"]
    text = radios.linux.read_text()
    assert '# source "drivers/net/wireless/sojourn_radio/Kconfig"\n' in text
    assert "# obj-$(CONFIG_SOJOURN_RADIO) += sojourn_radio/\n" in text
    assert "# has airtime.c\n" in text
    assert "# has README.md\n" not in text
    assert not build.build(tarball, wifi=True).anew


def test_a_changed_driver_is_built_anew(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tarball = wifi_source(tmp_path / "a.tar.xz")
    first = build.build(tarball, wifi=True).built
    folder = tmp_path / "driver"
    shutil.copytree(driver.FOLDER, folder)
    monkeypatch.setattr(driver, "FOLDER", folder)
    (folder / "README.md").write_text("other words")
    assert driver.digest() == first.recipe.driver
    (folder / "edca.c").write_text("other text")
    again = build.build(tarball, wifi=True)
    assert again.anew
    assert again.built.name != first.name


def test_another_version_than_the_driver_is_written_for_is_refused(world: Path, tmp_path: Path) -> None:
    tarball = miniature(tmp_path / "a.tar.xz", files(**WIFI_LINES))
    with pytest.raises(SojournError, match="source is Linux 6.1.9, but the Wi-Fi driver is written for 6.12: apt-get"):
        build.build(tarball, wifi=True)


def test_a_driver_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "FOLDER", tmp_path / "none")
    with pytest.raises(SojournError, match="sources of the Wi-Fi driver are missing: there must be a Kconfig and a"):
        driver.files()


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ('[ -z "$radios" ] || { echo "sojourn: end"; exit; }', "has no Wi-Fi driver: it was asked for 3 radios"),
        (
            '[ -z "$radios" ] || { for i in 0 1 2; do echo "radio phy$i 02:00:00:00:0$i:00"; done; '
            'echo "sojourn: end"; exit; }',
            "has another Wi-Fi driver: a link was set",
        ),
        ('[ -z "$radios" ] || echo "stats $$"', "is not deterministic: two boots with 3 radios said"),
        ('[ -z "$radios" ] || exit 3', "the kernel does not boot with radios"),
    ],
)
def test_a_kernel_without_radios_is_not_kept(world: Path, tmp_path: Path, before: str, sentence: str) -> None:
    kernel = script("6.12.9-fake", before=before)
    with pytest.raises(CheckError, match=sentence):
        build.build(wifi_source(tmp_path / "a.tar.xz", **{"kernel.sh": kernel}), wifi=True)
    assert not list(world.glob("6.*"))


def test_the_cache_is_where_the_environment_says() -> None:
    every = {"SOJOURN_CACHE": "/s", "XDG_CACHE_HOME": "/x", "HOME": "/h"}
    assert cache.cache_folder(every) == Path("/s")
    assert cache.cache_folder({**every, "SOJOURN_CACHE": ""}) == Path("/x/sojourn")
    assert cache.cache_folder({"HOME": "/h"}) == Path("/h/.cache/sojourn")
    with pytest.raises(ParamError, match="XDG_CACHE_HOME is 'x', but must be an absolute path"):
        cache.cache_folder({"XDG_CACHE_HOME": "x"})


def test_the_newest_version_comes_first_and_what_is_broken_is_told(tmp_path: Path) -> None:
    for version, key, when in (("6.2.1", "0", 9), ("6.12.1", "1", 5), ("6.12.1", "2", 7), ("6.1.200", "3", 8)):
        folder = tmp_path / f"{version}-{key * 12}"
        folder.mkdir()
        one = cache.Built(
            folder=folder,
            version=version,
            release="r",
            sha256="s",
            size_bytes=1,
            built=when,
            recipe=RECIPE,
            verified={},
        )
        cache.write(one, folder)
    (tmp_path / ("6.9.1-" + "4" * 12)).mkdir()
    (tmp_path / ("6.9.2-" + "5" * 12)).mkdir()
    (tmp_path / ("6.9.2-" + "5" * 12) / "kernel.json").write_text('{"format": "sojourn-kernel/1"}')
    (tmp_path / "failed-6.9.1-444444444444.log").touch()
    whole, broken = cache.built_kernels(tmp_path)
    assert [one.name[:-11] for one in whole] == ["6.12.1-2", "6.12.1-1", "6.2.1-0", "6.1.200-3"]
    assert len(broken) == 2
    assert "cannot be read" in broken[0]
    assert "is not a sojourn-kernel/1 file" in broken[1]


def test_a_build_that_fails_leaves_its_log_alone(world: Path, tmp_path: Path) -> None:
    broken = MAKEFILE.replace("\t@cp kernel.sh linux\n", "\t@echo 'it is broken' >&2; exit 3\n")
    with pytest.raises(
        SojournError, match=r"Linux 6\.1\.9 cannot be built: make ended with status 2; the log is "
    ) as caught:
        build.build(miniature(tmp_path / "a.tar.xz", files(Makefile=broken)))
    log = Path(str(caught.value).split("the log is ")[1])
    assert "it is broken" in log.read_text()
    assert list(world.iterdir()) == [log]


def test_a_log_goes_when_the_build_works(world: Path, tmp_path: Path) -> None:
    tarball = miniature(tmp_path / "a.tar.xz")
    name = build.build(tarball).built.name
    (world / f"failed-{name}.log").touch()
    build.build(tarball, force=True)
    assert [path.name for path in world.iterdir()] == [name]


LIARS = {
    "always the same": (
        "00000000000$seed",
        "000000000000",
        "does not heed its seed: boots with seeds 1 and 2 both gave",
    ),
    "in real time": ("0.10 3000.10", "0.10 0.20", "does not keep virtual time"),
    "too late": ("0.10 3000.10", "0.10 3010.20", "does not keep virtual time"),
    "without a release": ('echo "release ', 'echo "', "its first program cannot run"),
    "panics": (
        'echo "release',
        "echo 'Kernel panic - not syncing: no room'; echo more; exit 9; echo \"x",
        "status 9: Kernel panic - not syncing: no room",
    ),
}


@pytest.mark.parametrize("name", LIARS)
def test_a_kernel_that_does_not_keep_its_promise_is_not_kept(world: Path, tmp_path: Path, name: str) -> None:
    old, new, words = LIARS[name]
    text = script()
    assert old in text
    changed = files(**{"kernel.sh": text.replace(old, new)})
    with pytest.raises(CheckError, match=words):
        build.build(miniature(tmp_path / "a.tar.xz", changed))
    assert list(world.iterdir()) == []


def test_two_boots_that_differ_are_told(world: Path, tmp_path: Path) -> None:
    count = tmp_path / "count"
    text = script().replace('echo "uuid 0', f'echo x >>{count}; n=$(wc -l <{count}); echo "uuid ${{n}}')
    with pytest.raises(CheckError, match="is not deterministic: two boots with one seed gave 1.* and 2"):
        build.build(miniature(tmp_path / "a.tar.xz", files(**{"kernel.sh": text})))
    assert list(world.iterdir()) == []


@pytest.mark.slow
def test_a_kernel_that_never_ends_is_ended(tmp_path: Path) -> None:
    from sojourn.kernel import boot
    from tests.miniature import program

    pid = tmp_path / "pid"
    slow = program(tmp_path / "slow", f"#!/bin/sh\ntrap '' TERM\nsleep 1000 & echo $! >{pid}; echo begun; wait\n")
    with pytest.raises(SojournError, match=r"did not end within 0.5 s: begun"):
        boot.boot(slow, "true", tmp_path / "work", (), patience_s=0.5)
    assert not Path(f"/proc/{pid.read_text().strip()}/fd").exists()


@pytest.mark.parametrize("missing", ["gcc", "ld", "strip", "make", "flex", "bison", "bc"])
def test_a_missing_program_is_named_with_its_package(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    only = programs(tmp_path / "only", without=missing)
    for name in ("make", "awk", "gzip", "sh"):
        if name != missing:
            (only / name).symlink_to(shutil.which(name) or "/bin/sh")
    monkeypatch.setenv("PATH", str(only))
    package = {"ld": "binutils", "strip": "binutils"}.get(missing, missing)
    with pytest.raises(SojournError, match=f"^{missing} is missing, .*: apt-get install {package}$"):
        build.build(miniature(tmp_path / "a.tar.xz"))
    assert not world.exists()


def test_an_empty_path_names_every_program(world: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    done = cli("kernel", "build", status=2)
    assert_one_sentence(done)
    assert "gcc, ld, strip, make, flex, bison, bc, awk and gzip are missing" in done.stderr
    assert "apt-get install bc binutils bison flex gawk gcc gzip make" in done.stderr


def test_missing_headers_are_told(world: Path, tmp_path: Path) -> None:
    (tmp_path / "bin" / "gcc").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(SojournError, match="apt-get install libc6-dev"):
        tools.check_tools()


def test_another_processor_is_told(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(SojournError, match="this machine is aarch64, but"):
        tools.check_tools()


def test_values_that_are_refused(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tarball = miniature(tmp_path / "a.tar.xz")
    with pytest.raises(ParamError, match="jobs is 0, but must be from 1 to 1024"):
        build.build(tarball, jobs=0)
    with pytest.raises(ParamError, match="hz is 999, but must be one of 100, 250, 300, 1000"):
        build.build(tarball, hz=999)
    monkeypatch.setattr(build, "ROOM_RATIO", 10**18)
    with pytest.raises(SojournError, match="GB free, but a build needs"):
        build.build(tarball)
    monkeypatch.setenv("SOJOURN_CACHE", str(tmp_path / "a b"))
    with pytest.raises(ParamError, match="make takes no path with blanks"):
        build.build(tarball)
    assert list(world.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_told(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SOJOURN_CACHE", str(tmp_path / "file"))
    with pytest.raises(SojournError, match="file/kernels cannot be written: "):
        build.build(miniature(tmp_path / "a.tar.xz"))


def test_nothing_of_the_caller_gets_into_make(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = MAKEFILE.replace("\t@cp kernel.sh linux\n", f"\t@cp kernel.sh linux; env | sort >{tmp_path}/seen\n")
    for name in ("MAKEFLAGS", "CROSS_COMPILE", "KCFLAGS", "LOCALVERSION", "LANG"):
        monkeypatch.setenv(name, "-n")
    build.build(miniature(tmp_path / "a.tar.xz", files(Makefile=spy)))
    environment = dict(line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines())
    assert not {"CROSS_COMPILE", "KCFLAGS", "LOCALVERSION", "LANG", "SOJOURN_CACHE"} & set(environment)
    assert (environment["LC_ALL"], environment["KBUILD_BUILD_TIMESTAMP"], environment["KBUILD_BUILD_USER"]) == (
        "C",
        "1970-01-01",
        "sojourn",
    )
    assert environment["KBUILD_BUILD_VERSION"] == "1"


def slow_source(tmp_path: Path) -> Path:
    """Return a source whose compilation never ends, with a process that does not heed SIGTERM."""
    stubborn = f"sh -c 'trap \"\" TERM; echo $$$$ >{tmp_path}/stubborn; while :; do sleep 1; done'"
    lines = f"\t@{stubborn} & sleep 1000 & echo $$! >{tmp_path}/pid; sleep 1000\n"
    return miniature(tmp_path / "a.tar.xz", files(Makefile=MAKEFILE.replace("\t@cp kernel.sh linux\n", lines)))


def wait_for(path: Path) -> str:
    """Return what is in a file once something is."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if path.exists() and path.read_text().strip():
            return path.read_text().strip()
        time.sleep(0.05)
    raise AssertionError(path)


def runs(pid: str) -> bool:
    """Say whether a process runs; one that has ended and that nobody has asked for does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_build_that_is_stopped_leaves_nothing(world: Path, tmp_path: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "kernel", "build", "--source", str(slow_source(tmp_path))],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that starts tests in the background has them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    pids = [wait_for(tmp_path / "pid"), wait_for(tmp_path / "stubborn")]
    assert all(runs(pid) for pid in pids)
    assert [path.name[:7] for path in world.iterdir()] == [".build-"]
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "sojourn: interrupted" in errors
    assert not any(runs(pid) for pid in pids)
    assert list(world.iterdir()) == []


@pytest.mark.slow
def test_one_build_goes_on_at_a_time_and_what_a_killed_one_left_is_removed(world: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "kernel", "build", "--source", str(slow_source(tmp_path))],
        start_new_session=True,
    )
    group = os.getpgid(int(wait_for(tmp_path / "pid")))
    other = tmp_path / "other"
    other.mkdir()
    tarball = miniature(other / "a.tar.xz")
    with pytest.raises(SojournError, match="another build is going on"):
        build.build(tarball)
    process.kill()
    process.wait()
    os.killpg(group, signal.SIGKILL)
    assert [path.name[:7] for path in world.iterdir()] == [".build-"]
    name = build.build(tarball).built.name
    assert [path.name for path in world.iterdir()] == [name]


def test_a_group_is_gone_when_it_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "GRACE_S", 0.3)
    log = tmp_path / "log"
    stubborn = "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & sleep 0.3"
    assert make.run(["/bin/sh", "-c", stubborn], tmp_path, dict(os.environ), log) == 0
    assert not runs(log.read_text().strip())


def test_the_command_builds_says_where_and_removes(world: Path, tmp_path: Path, cli: Cli) -> None:
    tarball = miniature(tmp_path / "a.tar.xz")
    first = cli("kernel", "build", "--source", str(tarball), "--jobs", "1")
    path = Path(first.stdout.strip())
    assert path.name == "linux"
    sentence = r"Linux 6\.1\.9-fake was built and checked in \d+ s: unpack \d+ s, compile \d+ s, check \d+ s\n"
    assert re.search(sentence, first.stderr)
    again = cli("kernel", "build", "--source", str(tarball))
    assert again.stdout == first.stdout
    assert "is already in the cache; --force builds it again" in again.stderr
    assert "removed" in cli("kernel", "remove", path.parent.name).stderr
    assert list(world.iterdir()) == []
    refused = cli("kernel", "remove", path.parent.name, status=2)
    assert_one_sentence(refused)
    assert_one_sentence(cli("kernel", "remove", "../kernels", status=2))
    assert_one_sentence(cli("kernel", "build", "--source", "nothing", status=2))
    assert_one_sentence(cli("kernel", "build", "--hz", "7", status=2))


def test_a_broken_promise_is_status_1(world: Path, tmp_path: Path, cli: Cli) -> None:
    text = script().replace("00000000000$seed", "000000000000")
    tarball = miniature(tmp_path / "a.tar.xz", files(**{"kernel.sh": text}))
    done = cli("kernel", "build", "--source", str(tarball), status=1)
    assert "does not heed its seed" in done.stderr
    assert done.stdout == ""
