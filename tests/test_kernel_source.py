"""The kernel's source: packages, archives that are hostile, edits, the configuration."""

from __future__ import annotations

import gzip
import os
import tarfile
import tempfile
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.errors import ParamError, SojournError
from sojourn.kernel import config, edits, source
from sojourn.kernel import tree as kernel_tree
from sojourn.kernel.edits import Edit, Unless
from tests.miniature import LINES, archive, entry, files, tree
from tests.miniature import source as miniature


def test_the_newest_package_comes_first(tmp_path: Path) -> None:
    for name in (
        "linux-source-6.1.tar.xz",
        "linux-source-6.12.tar.xz",
        "linux-source-6.2.0.tar.bz2",
        "linux-6.9.tar.xz",
    ):
        (tmp_path / name).touch()
    (tmp_path / "linux-source-6.13.tar.xz").symlink_to("nowhere")
    (tmp_path / "linux-source-6.14").mkdir()
    found = [path.name for path in source.packages(tmp_path)]
    assert found == ["linux-source-6.12.tar.xz", "linux-source-6.2.0.tar.bz2", "linux-source-6.1.tar.xz"]


def test_no_package_is_a_sentence_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(SojournError, match=r"there is no .*linux-source-\*\.tar\.xz; apt-get install linux-source"):
        source.choose(None, tmp_path)
    with pytest.raises(ParamError, match="source is '.*nothing', but must be"):
        source.choose(tmp_path / "nothing", tmp_path)


def test_the_package_of_one_series_is_chosen(tmp_path: Path) -> None:
    for name in ("linux-source-6.1.tar.xz", "linux-source-6.120.tar.xz"):
        (tmp_path / name).touch()
    assert source.choose(None, tmp_path, "6.1").name == "linux-source-6.1.tar.xz"
    with pytest.raises(SojournError, match=r"no .*linux-source-6\.12\.tar\.xz; apt-get install linux-source-6\.12 "):
        source.choose(None, tmp_path, "6.12")


@pytest.mark.parametrize("name", ["a.tar.xz", "a.tar.bz2", "a.tar.gz", "a.tar"])
def test_every_compression_is_unpacked(tmp_path: Path, name: str) -> None:
    found = source.unpack(miniature(tmp_path / name), tmp_path / "out")
    assert found.version == "6.1.9"
    assert {path: (found.folder / path).read_text() for path in files()} == files()


def test_links_and_folders_of_a_source_are_kept(tmp_path: Path) -> None:
    entries = [entry(f"l/{name}", text) for name, text in files().items()]
    entries += [
        entry("./l/", kind=tarfile.DIRTYPE),
        entry("l/include/dt", kind=tarfile.SYMTYPE, leads_to="../arch/um"),
        entry("l/again", kind=tarfile.SYMTYPE, leads_to="include/dt/Kconfig"),
        entry("l/gone", kind=tarfile.SYMTYPE, leads_to="not/there"),
    ]
    found = source.unpack(archive(tmp_path / "a.tar.xz", entries), tmp_path / "out")
    assert (found.folder / "again").read_text() == LINES["arch/um/Kconfig"]
    assert (found.folder / "gone").is_symlink()


def test_what_no_build_needs_stays_in_the_archive(tmp_path: Path) -> None:
    needed = ("arch/Kconfig", "arch/x86/a.c", "arch/arm/Kconfig", "drivers/gpu/drm/Makefile", "drivers/net/tun.c")
    unneeded = ("arch/arm/a.c", "drivers/gpu/drm/a.c", "drivers/net/ethernet/a.c", "Documentation/a.rst")
    entries = [entry(f"l/{name}", text) for name, text in files().items()]
    entries += [entry(f"l/{name}", "x") for name in (*needed, *unneeded)]
    folder = source.unpack(archive(tmp_path / "a.tar.xz", entries), tmp_path / "out").folder
    assert [name for name in needed if not (folder / name).is_file()] == []
    assert [name for name in unneeded if (folder / name).exists()] == []


HOSTILE = {
    "a path upwards": ([entry("l/../../evil", "x")], "leads out"),
    "an absolute path": ([entry("/tmp/evil", "x")], "leads out"),
    "a link out": ([entry("l/a", kind=tarfile.SYMTYPE, leads_to="../../evil")], "symbolic link 'l/a' leads out"),
    "an absolute link": ([entry("l/a", kind=tarfile.SYMTYPE, leads_to="/etc/passwd")], "leads out"),
    "a link in place of the top": ([entry("l", kind=tarfile.SYMTYPE, leads_to="..")], "leads out"),
    "a file through a link": (
        [entry("l/a", kind=tarfile.SYMTYPE, leads_to=".."), entry("l/a/evil", "x")],
        "'l/a' is in it twice",
    ),
    "a link through a link": (
        [
            entry("l/a", kind=tarfile.SYMTYPE, leads_to="../.."),
            entry("l/a/evil", kind=tarfile.SYMTYPE, leads_to="b"),
        ],
        "below a symbolic link",
    ),
    "links that climb together": (
        [
            entry("l/a/b/c/up", kind=tarfile.SYMTYPE, leads_to="../../.."),
            entry("l/out", kind=tarfile.SYMTYPE, leads_to="a/b/c/up/.."),
        ],
        "'l/out' leads out",
    ),
    "a hard link": ([entry("l/a", kind=tarfile.LNKTYPE, leads_to="/etc/passwd")], "neither a file"),
    "a device": ([entry("l/a", kind=tarfile.CHRTYPE)], "neither a file"),
    "a pipe": ([entry("l/a", kind=tarfile.FIFOTYPE)], "neither a file"),
    "a chain of links": (
        [entry(f"l/{n}", kind=tarfile.SYMTYPE, leads_to=str(n + 1)) for n in range(5000)],
        "'l/0' leads out",
    ),
    "a long path": ([entry("l/" + "a/" * 1500 + "x", "x")], "1502 deep, but must lie at most 64 deep"),
    **{f"the time {time}": ([entry("l/a", "x", mtime=time)], "after 1970") for time in ("1e300", "-1e300", "inf")},
    "a file with holes": ([entry("l/a", "x", GNU_sparse_major="1", GNU_sparse_minor="0")], "holes"),
    "a file with holes, of old": ([entry("l/a", kind=tarfile.GNUTYPE_SPARSE)], "holes"),
    "many headers": ([entry("l/a", kind=tarfile.XGLTYPE)] * 5000, "too many headers"),
    "a file twice": ([entry("l/a", "x"), entry("l/a", "y")], "twice"),
    "two folders": ([entry("l/a", "x"), entry("m/a", "x")], "'m' beside 'l'"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused(tmp_path: Path, name: str) -> None:
    entries, words = HOSTILE[name]
    outside = tmp_path / "outside"
    outside.mkdir()
    with pytest.raises(SojournError, match=words):
        source.unpack(archive(outside / "a.tar", entries), outside / "out")
    assert not [path for path in tmp_path.rglob("evil") if not path.resolve().is_relative_to(outside / "out")]
    assert sorted(path.name for path in outside.iterdir()) == ["a.tar", "out"]


LONG = {
    "a name": tarfile.GNUTYPE_LONGNAME,
    "a link": tarfile.GNUTYPE_LONGLINK,
    "attributes": tarfile.XHDTYPE,
    "attributes of all": tarfile.XGLTYPE,
}


@pytest.mark.parametrize("kind", LONG.values(), ids=LONG)
def test_a_header_of_gigabytes_is_not_believed(tmp_path: Path, kind: bytes) -> None:
    header = tarfile.TarInfo("l/a")
    header.size, header.type = 7_000_000_000, kind
    path = tmp_path / "a.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(header.tobuf())
        for _ in range(64):
            file.write(bytes(1 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(SojournError, match="a header of 7000000000 bytes is in it, but each must have at most"):
            source.unpack(path, tmp_path / "out")
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_a_source_that_does_not_fit_ends_before_the_rest_is_unpacked(tmp_path: Path) -> None:
    entries = [entry(f"l/{name}", text) for name, text in files(**{"arch/um/Kconfig": "config HZ\n"}).items()]
    path = archive(tmp_path / "a.tar", [*entries, entry("l/late", "x")])
    words = r"changes the 100 ticks a second in arch/um/Kconfig, and that line is there 0 times, but must be there once"
    with pytest.raises(SojournError, match=words):
        source.unpack(path, tmp_path / "out", check=edits.check)
    assert not (tmp_path / "out/l/late").exists()


def test_no_edit_is_made_through_a_link(tmp_path: Path) -> None:
    tree(tmp_path / "other", LINES)
    tree(tmp_path / "l", {name: text for name, text in LINES.items() if name != "arch/um/Kconfig"})
    (tmp_path / "l/arch/um/Kconfig").symlink_to(tmp_path / "other/arch/um/Kconfig")
    with pytest.raises(SojournError, match="leads out of"):
        edits.apply(tmp_path / "l", 1000)
    assert (tmp_path / "other/arch/um/Kconfig").read_text() == LINES["arch/um/Kconfig"]


HOSTILE_TREES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe for the Makefile": (lambda top: ((top / "Makefile").unlink(), os.mkfifo(top / "Makefile")), "Makefile"),
    "a pipe for a file that is changed": (
        lambda top: ((top / "arch/um/os-Linux/util.c").unlink(), os.mkfifo(top / "arch/um/os-Linux/util.c")),
        "neither a file nor",
    ),
    "a terabyte of nothing": (lambda top: (top / "big").touch() or os.truncate(top / "big", 10**12), "more than 4 GB"),
    "a deep tree": (lambda top: (top / ("a/" * 200)).mkdir(parents=True), "lies 65 deep"),
}


@pytest.mark.parametrize("name", HOSTILE_TREES)
def test_a_hostile_tree_is_refused(tmp_path: Path, name: str) -> None:
    spoil, words = HOSTILE_TREES[name]
    spoil(tree(tmp_path / "l", files()))
    with pytest.raises(SojournError, match=words):
        kernel_tree.read(tmp_path / "l")


def test_more_than_a_source_has_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "a.tar.gz", [entry(f"l/{count}", "x" * 100) for count in range(5)])
    monkeypatch.setattr(source, "MOST_BYTES", 499)
    with pytest.raises(SojournError, match="more than"):
        source.unpack(path, tmp_path / "one")
    monkeypatch.setattr(source, "MOST_BYTES", 500)
    monkeypatch.setattr(source, "MOST_ENTRIES", 4)
    with pytest.raises(SojournError, match="more than 4 entries"):
        source.unpack(path, tmp_path / "two")


@pytest.mark.parametrize("suffix", ["xz", "bz2", "gz"])
def test_a_damaged_archive_is_one_sentence(tmp_path: Path, suffix: str) -> None:
    whole = miniature(tmp_path / f"a.tar.{suffix}").read_bytes()
    for name, data in {"cut": whole[: len(whole) // 2], "changed": whole[:60] + b"\0" * 40 + whole[100:]}.items():
        path = tmp_path / f"{name}.{suffix}"
        path.write_bytes(data)
        with pytest.raises(SojournError) as caught:
            source.unpack(path, tmp_path / name)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "contents",
    [{}, {"Makefile": "all:\n"}, files(**{"arch/um/Kconfig": None}), files(Makefile="VERSION = 6\nPATCHLEVEL = 1\n")],
)
def test_another_archive_is_not_a_kernel(tmp_path: Path, contents: dict[str, str]) -> None:
    with pytest.raises(SojournError, match="is not the source of a kernel"):
        source.unpack(miniature(tmp_path / "a.tar.xz", contents), tmp_path / "out")
    (tmp_path / "b.tar.xz").write_bytes(b"not an archive")
    with pytest.raises(SojournError, match="not a tar archive"):
        source.unpack(tmp_path / "b.tar.xz", tmp_path / "out2")


NAMES = st.lists(st.sampled_from(["l", "a", "b", "..", ".", "", "evil"]), max_size=5).map("/".join)
ENTRIES = st.lists(
    st.tuples(NAMES, st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE]), NAMES),
    max_size=8,
)


@given(ENTRIES)
@settings(max_examples=150, deadline=None)
def test_nothing_is_ever_written_outside_and_no_link_leads_out(entries: list[tuple[str, bytes, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        target = top / "in" / "out"
        target.parent.mkdir()
        path = top / "a.tar"
        archive(
            path,
            [
                entry(f"l/{name}", "x" if kind == tarfile.REGTYPE else "", kind=kind, leads_to=to)
                for name, kind, to in entries
            ],
        )
        try:
            source.unpack(path, target)
        except SojournError as error:
            accepted = "is not the source of a kernel" in str(error)
        else:
            accepted = True
        assert sorted(one.name for one in top.iterdir()) == ["a.tar", "in"]
        assert [one.name for one in target.parent.iterdir()] == ["out"]
        if accepted:
            links = [one for one in target.rglob("*") if one.is_symlink()]
            # Unlike Path.resolve, this takes a link that leads to itself.
            assert all(Path(os.path.realpath(one)).is_relative_to(target) for one in links)


def test_the_edits_change_these_lines_only(tmp_path: Path) -> None:
    around = {name: f"before\n{text}after\n" for name, text in LINES.items()}
    assert edits.apply(tree(tmp_path, around), 250) == tuple(LINES)
    changed = {name: (tmp_path / name).read_text() for name in LINES}
    assert changed == {
        "arch/um/Kconfig": "before\nconfig HZ\n\tint\n\tdefault 250\nafter\n",
        "arch/x86/um/user-offsets.c": "before\nDEFINE_LONGS(HOST_FP_SIZE, 16384)\nafter\n",
        "arch/um/os-Linux/util.c": "before\n\treturn -1;\nafter\n",
    }


@pytest.mark.parametrize("file", LINES)
@pytest.mark.parametrize(("text", "words"), [("other\n", "0 times"), (None, "cannot be read"), ("twice", "2 times")])
def test_a_line_that_is_not_there_once_is_a_sentence_and_nothing_is_changed(
    tmp_path: Path, file: str, text: str | None, words: str
) -> None:
    contents = {**LINES, file: LINES[file] * 2 if text == "twice" else text or ""}
    tree(tmp_path, contents)
    if text is None:
        (tmp_path / file).unlink()
    with pytest.raises(SojournError, match=f"the source cannot be changed: .*{file}.*{words}"):
        edits.apply(tmp_path, 1000)
    assert all((tmp_path / name).read_text() == contents[name] for name in LINES if name != file)


def test_a_newer_kernel_that_asks_the_processor_needs_no_room(tmp_path: Path) -> None:
    newer = {
        **LINES,
        "arch/x86/um/user-offsets.c": "other\n",
        "arch/x86/um/shared/sysdep/ptrace.h": "extern unsigned long host_fp_size;\n",
    }
    assert edits.apply(tree(tmp_path, newer), 1000) == ("arch/um/Kconfig", "arch/um/os-Linux/util.c")
    assert (tmp_path / "arch/x86/um/user-offsets.c").read_text() == "other\n"


def test_edits_of_one_file_follow_each_other_and_keep_every_byte(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one \xe4\r\ntwo\n")
    first = Edit(file="a", what="x", pattern="one", replacement="two", why="first")
    second = Edit(file="a", what="x", pattern="^two ", replacement="three ", why="second")
    never = Edit(
        file="a", what="x", pattern="four", replacement="", why="x", unless=Unless(file="a", pattern="two", why="y")
    )
    assert edits.apply(tmp_path, 100, [first, second, never]) == ("a",)
    assert (tmp_path / "a").read_bytes() == b"three \xe4\r\ntwo\n"


def test_a_reason_may_be_reworded_and_nothing_else() -> None:
    one = Edit(file="a", what="x", pattern="b", replacement="c", why="d", unless=Unless(file="e", pattern="f", why="g"))
    reworded = replace(one, why="other", unless=Unless(file="e", pattern="f", why="other"))
    assert edits.as_text([reworded]) == edits.as_text([one])
    for change in ({"file": "x"}, {"pattern": "x"}, {"replacement": "x"}, {"unless": None}):
        assert edits.as_text([replace(one, **change)]) != edits.as_text([one])


def write_config(path: Path, hz: int = 1000, **changes: str | None) -> Path:
    options = {**config.required_options(), "CONFIG_HZ": str(hz), "CONFIG_BESIDES": "y", **changes}
    lines = [f"# {name} is not set" if value in (None, "n") else f"{name}={value}" for name, value in options.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_configuration_that_has_everything_is_accepted(tmp_path: Path) -> None:
    config.check(write_config(tmp_path / "c"), 1000)
    config.check(write_config(tmp_path / "c", hz=250), 250)


@pytest.mark.parametrize("name", config.required_options())
def test_the_option_that_is_not_set_is_named(tmp_path: Path, name: str) -> None:
    other = {"n": "y"}.get(config.required_options()[name])
    with pytest.raises(SojournError, match=f"has {name}={other or 'n'}, but must have"):
        config.check(write_config(tmp_path / "c", **{name: other}), 1000)


def test_an_option_that_a_tree_may_lack_is_asked_for_and_not_required(tmp_path: Path) -> None:
    for name in config.optional_options():
        assert f"{name}=y\n" in config.fragment()
        assert name not in config.required_options()
    config.check(write_config(tmp_path / "c", CONFIG_PREEMPT_NONE=None, CONFIG_NET_SCH_DUALPI2=None), 1000)


def test_other_ticks_than_asked_for_are_named(tmp_path: Path) -> None:
    with pytest.raises(SojournError, match="has CONFIG_HZ=100, but must have 1000"):
        config.check(write_config(tmp_path / "c", hz=100), 1000)


def test_a_kernel_with_radios_has_all_that_another_one_has_but_the_name() -> None:
    wired, radios = config.required_options(), config.required_options(config.WIFI_GROUPS)
    assert {name for name, value in wired.items() if radios[name] != value} == {"CONFIG_LOCALVERSION"}
    for name in ("MAC80211", "MAC80211_RC_MINSTREL", "MAC80211_DEBUGFS", "CFG80211", "SOJOURN_RADIO"):
        assert f"CONFIG_{name}=y\n" in config.fragment(radios)
        assert f"CONFIG_{name}=" not in config.fragment()
    assert "CONFIG_MAC80211_HWSIM" not in config.fragment(radios)


def test_the_fragment_asks_for_all_that_is_modelled() -> None:
    text = config.fragment()
    kinds = "RED PIE FQ_PIE CODEL FQ_CODEL SFQ CAKE FQ TBF HTB NETEM PRIO DRR ETS DUALPI2"
    others = (
        "VETH TUN IFB PACKET USER_NS NET_NS NET_CLS_BASIC NET_CLS_FW NET_CLS_U32 NET_CLS_FLOW "
        "NET_CLS_FLOWER NET_CLS_MATCHALL TCP_CONG_CUBIC "
        "TCP_CONG_BBR TCP_CONG_DCTCP SYSCTL HOSTFS TMPFS IKCONFIG_PROC"
    )
    for name in [f"NET_SCH_{kind}" for kind in kinds.split()] + others.split():
        assert f"CONFIG_{name}=y\n" in text
