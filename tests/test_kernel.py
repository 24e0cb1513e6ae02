"""Which kernel a run gets: the order, with programs that stand for kernels, and real kernels where there are some."""

from __future__ import annotations

import json
import os
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from sojourn.errors import ParamError, SojournError
from sojourn.kernel import boot, cache, find, host, image, modules, needs, source, status, tools, verify
from sojourn.kernel.host import Host
from tests import optional
from tests.conftest import Cli, assert_one_sentence
from tests.miniature import RECIPE, fake_kernel, program

NOTHING = Host(release="6.6.0", version="#1", namespace=None, why_not="Operation not permitted", lacks=())
EVERYTHING = Host(release="6.6.0", version="#1 SMP", namespace="user", why_not=None, lacks=("sch_fq_pie",))


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any kernel."""
    monkeypatch.delenv(find.VARIABLE, raising=False)
    monkeypatch.delenv(find.CHOICE, raising=False)
    monkeypatch.setenv("SOJOURN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(find, "STOCK", tmp_path / "linux.uml")
    monkeypatch.setattr(modules, "MODULES", tmp_path / "modules")
    monkeypatch.setattr(host, "probe", lambda: NOTHING)
    return tmp_path


def put_built(version: str, key: str = "0", driver: str = "") -> cache.Built:
    """Put a kernel into the cache; with a `driver` it has radios."""
    folder = cache.kernels_folder() / f"{version}-{key * 12}"
    linux = fake_kernel(folder / "linux", f"{version}-fake")
    built = cache.Built(
        folder=folder,
        version=version,
        release=f"{version}-fake",
        sha256=cache.sha256_of(linux),
        size_bytes=linux.stat().st_size,
        built=0,
        recipe=replace(RECIPE, driver=driver),
        verified={},
    )
    cache.write(built, folder)
    return built


def put_modules(folder: Path, release: str, lacks: tuple[str, ...] = (), suffix: str = ".ko") -> Path:
    """Put a folder of modules for a release, none of which needs another."""
    folder = folder / "modules" / release
    names = [f"kernel/{name}{suffix}" for name in needs.ALL if name not in lacks]
    for name in names:
        program(folder / name, "")
    (folder / "modules.dep").write_text("".join(f"{name}:\n" for name in names))
    (folder / "modules.builtin").write_text("kernel/net/ipv4/tcp_cubic.ko\n")
    return folder


def test_the_order_is_environment_cache_stock_host(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "probe", lambda: EVERYTHING)
    assert find.find() == find.Kernel(
        kind="host",
        path=None,
        release="6.6.0",
        modules=(),
        virtual_time=False,
        identity="host:6.6.0 #1 SMP",
        lacks=("sch_fq_pie",),
    )
    stock = fake_kernel(nowhere / "linux.uml", "6.1.7", travels=False)
    folder = put_modules(nowhere, "6.1.7", lacks=("sch_fq_pie",))
    found = find.find()
    assert (found.kind, found.path, found.virtual_time, found.lacks) == ("uml", stock, False, ("sch_fq_pie",))
    expected = [name for name in needs.ALL if name not in {"sch_fq_pie", "tcp_cubic"}]
    assert found.modules == tuple(folder / "kernel" / f"{name}.ko" for name in expected)
    put_built("6.10.9")
    assert find.find().release == "6.10.9-fake"
    newest = put_built("6.12.1")
    found = find.find()
    assert (found.kind, found.path, found.virtual_time, found.modules) == ("virtual", newest.linux, True, ())
    named = fake_kernel(nowhere / "mine", "5.9.9")
    monkeypatch.setenv(find.VARIABLE, str(named))
    found = find.find()
    assert (found.kind, found.path, found.release) == ("virtual", named, "5.9.9")
    assert found.identity == f"sha256:{cache.sha256_of(named)}"


def test_what_is_wanted_is_found_whatever_the_order(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = put_built("6.1.9")
    older = put_built("6.1.8", key="1")
    monkeypatch.setattr(host, "probe", lambda: EVERYTHING)
    fake_kernel(nowhere / "linux.uml", "6.1.7", travels=False)
    put_modules(nowhere, "6.1.7")
    assert find.find("virtual").path == built.linux
    assert find.find("uml").path == nowhere / "linux.uml"
    assert find.find("host").path is None
    assert find.find(older.name).path == older.linux
    assert find.find(str(older.linux)).path == older.linux
    with pytest.raises(ParamError, match=r"kernel is 'windows', but must be one of virtual, uml, host, 6\.1\.9-0+, "):
        find.find("windows")
    with pytest.raises(ParamError, match="kernel is './linux', but must be an absolute path"):
        find.find("./linux")


def test_the_default_is_linux_6_1_and_without_it_the_newest(nowhere: Path) -> None:
    built = {version: put_built(version) for version in ("6.12.9", "7.3.4")}
    assert find.find().path == built["7.3.4"].linux
    for version in ("6.1.9", "6.1.192"):
        built[version] = put_built(version)
        assert find.find().path == built[version].linux
    assert [one.kernel.release for one in find.candidates() if one.kernel] == [
        f"{version}-fake" for version in ("6.1.192", "6.1.9", "7.3.4", "6.12.9")
    ]


def test_a_kernel_is_named_by_the_first_numbers_of_its_version(nowhere: Path) -> None:
    built = {version: put_built(version) for version in ("6.1.192", "6.12.9", "7.3.4")}
    radios = put_built("6.12.9", "1", driver="d")
    for word, version in {
        "6.1": "6.1.192",
        "linux-6.1": "6.1.192",
        "6.12": "6.12.9",
        "7": "7.3.4",
        "7.3.4": "7.3.4",
        built["7.3.4"].name: "7.3.4",
    }.items():
        assert find.find(word).path == built[version].linux
    assert find.find("6.12", wifi=True).path == radios.linux
    with pytest.raises(ParamError, match="kernel is '7.3', but a run with a cell needs one with the Wi-Fi driver"):
        find.find("7.3", wifi=True)


@pytest.mark.parametrize("word", ["7.4", "7.3.40", "73", "", "linux-", "lunix", "6.1.192-0123"])
def test_a_kernel_that_was_not_built_is_one_sentence_with_those_that_were(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    names = [put_built(version).name for version in ("6.1.192", "7.3.4")]
    rule = f"but must be one of virtual, uml, host, {names[1]}, {names[0]}, the version of one of these, or the path"
    with pytest.raises(ParamError, match=f"^kernel is '{word}', {rule} of a program$"):
        find.find(word)
    if word:
        monkeypatch.setenv(find.CHOICE, word)
        with pytest.raises(ParamError, match=f"^SOJOURN_KERNEL is '{word}', {rule} of a program$"):
            find.find()


def test_the_environment_chooses_and_an_option_comes_before_it(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "probe", lambda: EVERYTHING)
    built = {version: put_built(version) for version in ("6.1.192", "7.3.4")}
    other = fake_kernel(nowhere / "other", "6.6.6-fake")
    monkeypatch.setenv(find.CHOICE, "7.3")
    assert find.find().path == built["7.3.4"].linux
    assert find.find("6.1").path == built["6.1.192"].linux
    found = status.status()
    assert found.chosen is not None
    assert found.chosen.path == built["7.3.4"].linux
    assert found.as_text().startswith("-> SOJOURN_KERNEL: Linux 7.3.4-fake, virtual time, ")
    monkeypatch.setenv(find.VARIABLE, str(other))
    assert find.find().path == built["7.3.4"].linux
    monkeypatch.setenv(find.CHOICE, "host")
    assert find.find().kind == "host"
    monkeypatch.setenv(find.CHOICE, str(other))
    assert find.find().path == other
    monkeypatch.setenv(find.CHOICE, "virtual")
    assert find.find().path == other
    monkeypatch.delenv(find.VARIABLE)
    assert find.find().path == built["6.1.192"].linux


def test_a_cell_gets_a_kernel_with_radios_and_no_other_run_does(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "probe", lambda: EVERYTHING)
    wired = put_built("6.1.9")
    with pytest.raises(SojournError, match=r"no kernel to run a cell on \(none was built\): apt-get .* --wifi$"):
        find.find(wifi=True)
    radios = put_built("6.12.9", key="1", driver="d")
    assert find.find().path == wired.linux
    assert not find.find().wifi
    assert find.find(wifi=True).path == find.find("virtual", wifi=True).path == radios.linux
    assert find.find(wifi=True).wifi
    # Whoever names it gets it.
    assert find.find(radios.name).path == radios.linux
    with pytest.raises(ParamError, match=f"^kernel is '{wired.name}', but a run with a cell needs one with the Wi-Fi"):
        find.find(wired.name, wifi=True)
    with pytest.raises(SojournError, match="no kernel of the kind host to run a cell on"):
        find.find("host", wifi=True)


def test_a_named_program_has_radios_if_the_driver_is_in_it(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    radios = fake_kernel(nowhere / "radios", "6.12.9")
    plain = fake_kernel(nowhere / "plain", "6.12.9")
    plain.write_text(plain.read_text().replace("sojourn_radio.radios", "another_radio.radios"))
    monkeypatch.setenv(find.VARIABLE, str(radios))
    assert find.find(wifi=True).path == find.find().path == radios
    monkeypatch.setenv(find.VARIABLE, str(plain))
    assert find.find().path == plain
    with pytest.raises(ParamError, match=f"^{find.VARIABLE} is '.*plain', but a run with a cell needs one with the"):
        find.find(wifi=True)
    assert status.status().chosen_for_cells is None


def test_no_kernel_at_all_is_one_sentence_with_the_command(nowhere: Path) -> None:
    with pytest.raises(SojournError) as caught:
        find.find()
    for words in (
        "there is no kernel to run on",
        "none was built",
        "the package user-mode-linux is not installed",
        "does not let us make namespaces: Operation not permitted",
        "apt-get install linux-source build-essential flex bison bc; sojourn kernel build",
    ):
        assert words in str(caught.value)
    with pytest.raises(SojournError, match="there is no kernel of the kind uml to run on"):
        find.find("uml")


NOT_KERNELS = {
    "not there": (lambda path: path / "nothing", "is not a file"),
    "a folder": (lambda path: path, "is not a file"),
    "not executable": (lambda path: _without_x(fake_kernel(path / "a")), "is not executable"),
    "another program": (lambda path: program(path / "a", "#!/bin/sh\n"), "is not a kernel for User-Mode Linux"),
    "a kernel for another machine": (
        lambda path: program(path / "a", "# Linux version 6.1.9 (a@b) #1 x\n"),
        "is not a kernel for User-Mode Linux",
    ),
    "no modules": (lambda path: fake_kernel(path / "a", travels=False), "but its modules .* are missing"),
    "panics": (
        lambda path: fake_kernel(path / "a", before="echo 'Kernel panic - not syncing: x'; exit 6"),
        "ended with status 6: Kernel panic - not syncing: x",
    ),
    "not for this machine": (lambda path: _bad_format(path / "a"), "cannot be started: "),
}


def _without_x(path: Path) -> Path:
    path.chmod(0o644)
    return path


def _bad_format(path: Path) -> Path:
    fake_kernel(path)
    path.write_text("\0" + path.read_text())
    return path


@pytest.mark.parametrize("name", NOT_KERNELS)
def test_a_program_in_the_environment_that_is_no_kernel_is_refused(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name == "not executable" and os.access(_without_x(fake_kernel(nowhere / "x")), os.X_OK):
        optional.PERMISSIONS.skip()
    make, words = NOT_KERNELS[name]
    folder = nowhere / "folder"
    folder.mkdir()
    monkeypatch.setenv(find.VARIABLE, str(make(folder)))
    put_built("6.1.9")
    with pytest.raises(ParamError, match=f"^SOJOURN_UML_KERNEL is '.*', but .*{words}"):
        find.find()
    found = status.status()
    assert found.chosen is None


def test_a_relative_path_in_the_environment_is_refused(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(find.VARIABLE, "linux")
    with pytest.raises(ParamError, match="SOJOURN_UML_KERNEL is 'linux', but must be an absolute path"):
        find.find()


def test_a_kernel_without_the_bed_is_passed_over(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_kernel(nowhere / "linux.uml", "6.1.7", travels=False)
    put_modules(nowhere, "6.1.7", lacks=("sch_netem", "sch_pie"))
    lacking = Host(release="6.6.0", version="#1", namespace="root", why_not=None, lacks=("veth", "sch_tbf", "sch_pie"))
    monkeypatch.setattr(host, "probe", lambda: lacking)
    with pytest.raises(
        SojournError, match="linux.uml lacks sch_netem, without which.*kernel 6.6.0 lacks veth, sch_tbf,"
    ):
        find.find()


def test_a_broken_kernel_in_the_cache_is_passed_over_and_told(nowhere: Path) -> None:
    newer = put_built("6.12.1")
    older = put_built("6.1.9")
    newer.linux.write_text("changed")
    assert find.find().path == older.linux
    text = status.status().as_text()
    assert "is not what was built" in text
    assert f"-> built: Linux 6.1.9-fake, virtual time, {older.linux}" in text
    with pytest.raises(SojournError, match="is not what was built"):
        find.find(newer.name)


def write_lists(folder: Path, needed: dict[str, list[str]], builtin: list[str]) -> Path:
    """Write the lists of modules, and the files."""
    (folder / "modules.dep").write_text("".join(f"{name}: {' '.join(rest)}\n" for name, rest in needed.items()))
    (folder / "modules.builtin").write_text("".join(f"{name}\n" for name in builtin))
    for name in needed:
        program(folder / name, "")
    return folder


def test_modules_come_after_those_that_they_need(tmp_path: Path) -> None:
    needed = {
        "net/sch-cake.ko": ["net/a.ko", "lib/b.ko"],
        "net/a.ko": ["lib/b.ko"],
        "lib/b.ko": [],
        "drivers/veth.ko": ["lib/c.ko"],
        "lib/c.ko": ["lib/b.ko"],
        "net/not_wanted.ko": [],
    }
    found = modules.needed(
        write_lists(tmp_path, needed, ["net/cls_u32.ko"]), ["veth", "cls_u32", "sch_cake", "sch_nothing"]
    )
    names = [str(path.relative_to(tmp_path)) for path in found.paths]
    assert names == ["lib/b.ko", "lib/c.ko", "drivers/veth.ko", "net/a.ko", "net/sch-cake.ko"]
    assert found.lacks == ("sch_nothing",)


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_any_modules_heeds_their_needs(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    names = [f"m{count}.ko" for count in range(20)]
    needed = {name: draw.sample(names[:count], draw.randint(0, min(3, count))) for count, name in enumerate(names)}
    shuffled = dict(draw.sample(sorted(needed.items()), len(needed)))
    found = modules.needed(write_lists(tmp_path, shuffled, []), ["m19", "m7"])
    order = [path.name for path in found.paths]
    assert len(set(order)) == len(order)
    assert {"m19.ko", "m7.ko"} <= set(order)
    for place, name in enumerate(order):
        assert set(needed[name]) <= set(order[:place])


def test_broken_lists_of_modules_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SojournError, match="modules.dep cannot be read"):
        modules.needed(tmp_path, ["veth"])
    for needed, words in (
        ({"a.ko": ["b.ko"], "b.ko": ["a.ko"]}, "circle: a.ko needs b.ko needs a.ko"),
        ({"a.ko.xz": []}, "a.ko.xz is compressed"),
        ({"a.ko.zst": []}, "a.ko.zst is compressed"),
        ({"a.ko": ["../../evil.ko"]}, "'../../evil.ko', but must name files below"),
        ({"a.ko": ["gone.ko"]}, "names gone.ko, but there is no such file"),
    ):
        with pytest.raises(SojournError, match=re.escape(words)):
            modules.needed(write_lists(tmp_path, needed, []), ["a"])
    (tmp_path / "modules.dep").write_text("veth\n")
    with pytest.raises(SojournError, match="has the line 'veth', but must have"):
        modules.needed(tmp_path, ["veth"])


def test_status_says_what_is_there_and_what_is_missing(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "missing_tools", lambda: (tools.TOOLS[0], tools.TOOLS[4]))
    monkeypatch.setattr(source, "packages", lambda: (Path("/usr/src/linux-source-6.1.tar.xz"),))
    empty = status.status()
    assert empty.as_json()["chosen"] is None
    assert "No kernel can run." in empty.as_text()
    assert "gcc and flex are missing, which a build of the kernel needs: apt-get install flex gcc" in empty.as_text()
    built = put_built("6.1.9")
    found = json.loads(json.dumps(status.status().as_json()))
    assert found["format"] == "sojourn-kernel-status/1"
    assert found["chosen"]["path"] == str(built.linux)
    assert found["chosen"]["identity"] == f"sha256:{built.sha256}"
    assert [one["place"] for one in found["candidates"]] == ["cache", "stock", "host"]
    assert found["built"] == [{"name": built.name, "size_bytes": built.size_bytes}]
    assert found["wifi"] == {
        "chosen": None,
        "candidates": [{"place": "cache", "kernel": None, "why_not": "none was built"}],
    }
    radios = put_built("6.12.9", driver="d")
    assert json.loads(json.dumps(status.status().as_json()))["wifi"]["chosen"]["path"] == str(radios.linux)
    assert f"For cells:\n-> built: Linux 6.12.9-fake, virtual time, {radios.linux}\n" in status.status().as_text()
    assert found["build"]["missing"] == [
        {"program": "gcc", "package": "gcc"},
        {"program": "flex", "package": "flex"},
    ]


def test_the_exit_status_says_whether_a_kernel_can_run(nowhere: Path, inside: Cli) -> None:
    assert "No kernel can run." in inside("kernel", "status", status=1).stdout
    assert json.loads(inside("kernel", "status", "--json", status=1).stdout)["chosen"] is None
    built = put_built("6.1.9")
    assert f"-> built: Linux 6.1.9-fake, virtual time, {built.linux}" in inside("kernel", "status").stdout
    assert_one_sentence(inside("kernel", status=2))
    assert_one_sentence(inside("kernel", "mend", status=2))


def test_the_kernel_of_this_machine_is_asked() -> None:
    found = host.probe((*needs.ESSENTIAL, "sch_made_up", "tcp_made_up", "made_up"))
    assert found.release == os.uname().release
    if found.namespace is None:
        assert found.why_not
    else:
        assert {"sch_made_up", "tcp_made_up", "made_up"} <= set(found.lacks)


def real_kernel() -> Path:
    """Return a real kernel for virtual time, or skip."""
    try:
        path = find.find("virtual").path
    except (ParamError, SojournError) as error:
        optional.KERNEL.skip(error)
    assert path is not None
    return path


@pytest.mark.slow
def test_a_real_kernel_keeps_its_promises(tmp_path: Path) -> None:
    linux = real_kernel()
    (tmp_path / "one").mkdir()
    (tmp_path / "a much longer name of a folder").mkdir()
    first = verify.verify(linux, tmp_path / "one")
    again = verify.verify(linux, tmp_path / "a much longer name of a folder")
    assert first.release == image.read(linux).release
    assert first.uuids == again.uuids


@pytest.mark.slow
def test_a_real_kernel_has_all_that_is_modelled_as_root_and_in_a_user_namespace(tmp_path: Path) -> None:
    linux = real_kernel()
    probe = f"/usr/bin/python3 -I {Path(host.__file__).with_name('host_probe.py')} {' '.join(needs.ALL)} sch_made_up"
    for name in ("python3", "setpriv"):  # run in the guest
        optional.program(name, path="/usr/bin")
    script = f"mount -t proc proc /proc\n{probe}\nsetpriv --reuid 65534 --regid 65534 --clear-groups {probe}\n"
    lines = boot.boot(linux, script, tmp_path / "work", boot.arguments(1))
    assert [json.loads(line) for line in lines] == [
        {"namespace": "root", "lacks": ["sch_made_up"]},
        {"namespace": "user", "lacks": ["sch_made_up"]},
    ]


@pytest.mark.slow
def test_a_real_kernel_says_how_it_was_configured(tmp_path: Path) -> None:
    from sojourn.kernel import config

    linux = real_kernel()
    lines = boot.boot(linux, "mount -t proc proc /proc\ngzip -dc /proc/config.gz", tmp_path / "work", boot.arguments(1))
    (tmp_path / "config").write_text("\n".join(lines))
    config.check(tmp_path / "config", 1000)


@pytest.mark.slow
def test_the_stock_kernel_is_judged_by_booting_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not find.STOCK.exists():
        optional.STOCK_KERNEL.skip()
    monkeypatch.delenv(find.VARIABLE, raising=False)
    monkeypatch.setenv("SOJOURN_CACHE", str(tmp_path))
    (stock,) = (one for one in find.candidates() if one.place == "stock")
    if stock.kernel is None:
        assert stock.why_not is not None
        assert "panic" in stock.why_not
    else:
        assert stock.kernel.kind == "uml"
        assert len(stock.kernel.modules) >= len(needs.ESSENTIAL)
