"""The kinds of hostile inputs: each writes its files into the folder it is in, and returns the command line."""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import shutil
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from random import Random

from tests.hostile import damage, values

#: What a case works on, made once: see `tests.hostile.judge.make_material`.
Material = Path
Case = Callable[[Material, Random], list[str]]

#: Options that would have a case leave this machine's simulator: back ends that boot a kernel.
_NEVER = {"--backend", "--help"}
#: What these commands would do takes minutes or longer, as it should: they are refused at the latest by this.
_REFUSED = {
    **dict.fromkeys(("reproduce", "validate", "tune"), ("--workers", "0")),
    # No kernel is booted, and no commit is built.
    "kernel bisect": ("--good", "no such commit"),
    "kernel bugs": ("--kernel", "no such kernel"),
    # They would serve until they are ended.
    **dict.fromkeys(("view", "lab"), ("--port", "65536")),
}


def command_line(material: Material, rng: Random) -> list[str]:
    """Return a command with values that do not belong where they stand."""
    shutil.copytree(material / "good", "good")
    commands = _commands()
    name = rng.choice(sorted(commands))
    bases: dict[str, list[str]] = {
        "run": ["bulk", "--duration", "1s", "--rate", "2mbit", "--workers", "1"],
        "compare": [
            "bulk",
            "--qdisc",
            "codel",
            "--duration",
            "1s",
            "--rate",
            "2mbit",
            "--repeat",
            "1",
            "--workers",
            "1",
        ],
        "sweep": [str(material / "sweep.toml"), "--out", "swept", "--workers", "1"],
        "reproduce": [rng.choice(("good-bad-wifi", "rural", "wifi-stack", "flusher")), "--out", "made"],
        "validate": [rng.choice(("rrul", "random", "tcp_1up", "voip"))],
        "tune": [rng.choice(values.DISCIPLINES)],
        "plot": [rng.choice(("ellipse", "timeseries", "cdf")), "good", "--out", "drawn.svg"],
        "report": ["good", "--out", "page.html"],
        "rtt": [str(material / "a.pcapng"), str(material / "b.pcapng")],
        "export": ["--flent", "good", "--out", "flent"],
        "import": [str(material / "good.flent.gz")],
        "kernel": ["status"],
        "kernel compare": ["no-such-kernel", "6.1", "bulk", "--duration", "1s"],
        "kernel bisect": [
            *("bulk", "--source", "good", "--good", "a", "--bad", "b", "--threshold", "10%"),
            *("--duration", "1s", "--work", "work"),
        ],
        "kernel bugs": [rng.choice(("red-idle", "pie-probability", "no such bug"))],
        "l4s map": [
            *("--pair", "reno/cubic", "--bottleneck", "fifo", "--plane", "rate-rtt", "--axis", "rate=1mbit"),
            *("--axis", "rtt=10ms", "--duration", "1s", "--repeat", "1", "--workers", "1", "--out", "map"),
        ],
        "view": ["good", "--no-browser"],
        "lab": ["--no-browser"],
        "certify": ["bbr", "--repeat", "1"],
        "stacks list": ["--stacks", "good"],
        "stacks check": ["--stack", "quinn", "--stacks", "good"],
        "stacks compare": ["good", "no-such-program", "--stack", "quinn"],
    }
    words = bases.get(name, [])
    if words and rng.random() < 0.2:
        at = rng.randrange(len(words))
        if not words[at].startswith("--") and not name.startswith("kernel"):
            words[at] = rng.choice(values.SOURCES if at < 3 else values.WORDS)
    options = [option for option in commands[name] if option.option_strings and option.option_strings[-1] not in _NEVER]
    for option in rng.sample(options, min(len(options), rng.choice((1, 1, 2, 3)))):
        words.append(option.option_strings[-1])
        if option.nargs != 0:
            words.append(values.for_option(str(option.metavar or ""), rng))
    if rng.random() < 0.05:
        words.insert(rng.randrange(len(words) + 1), rng.choice(values.WORDS))
    return [*name.split(), *words, *_REFUSED.get(name, ())]


@lru_cache(maxsize=1)
def _commands() -> dict[str, list[argparse.Action]]:
    """Return the options of every command."""
    from sojourn.cli.main import build_parser

    def parsers(parent: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
        [groups] = [one for one in parent._actions if isinstance(one, argparse._SubParsersAction)]
        return dict(groups.choices)

    every = parsers(build_parser())
    for group, names in (
        ("kernel", ("compare", "bisect", "bugs")),
        ("l4s", ("map",)),
        ("stacks", ("list", "check", "compare")),
    ):
        below = parsers(every[group])
        every |= {f"{group} {name}": below[name] for name in names}
    del every["l4s"], every["stacks"]  # which do nothing by themselves
    return {name: parser._actions for name, parser in every.items()}


def store(material: Material, rng: Random) -> list[str]:
    """Return a command that reads a folder of results, one of whose files is damaged."""
    shutil.copytree(material / "good", "good")
    run = rng.choice(sorted(Path("good/runs").glob("*/run.json")))
    file = rng.choice((Path("good/index.json"), Path("good/claims.json"), Path("good/runs/store.json"), *[run] * 6))
    damage.file_of(file, rng, damage.json_of)
    return _reading(rng, run.parent)


def outside(material: Material, rng: Random) -> list[str]:
    """Return a command that reads a folder of results, which leads out of it or is half exchanged."""
    shutil.copytree(material / "good", "good")
    shutil.copytree(material / "good", "secret")
    index = json.loads(Path("good/index.json").read_text())
    run = rng.choice(sorted(Path("good/runs").glob("*/run.json")))
    match rng.randrange(6):
        case 0:
            index["store"] = rng.choice(("../secret/runs", str(Path("secret/runs").resolve()), "/", "x" * 5000, "\0"))
        case 1:
            path = rng.choice((Path("good/runs"), run.parent))
            shutil.rmtree(path)
            path.symlink_to(Path("secret", path.relative_to("good")).resolve())
        case 2:
            path = rng.choice((run, run.with_name("series.parquet"), Path("good/index.json"), Path("good/claims.json")))
            path.unlink()
            path.symlink_to(Path("secret", path.relative_to("good")).resolve())
        case 3:
            mark = {"format": "sojourn-folder-mark/1", "files": ["index.json"], "exchange": rng.choice(("move", "x"))}
            Path("good/.new").mkdir()
            Path("good/.new/folder.json").write_text(json.dumps(mark))
        case 4:
            claims = json.loads(Path("good/claims.json").read_text())
            Path("good/claims.json").write_text(json.dumps(claims * 20_000))
        case _:
            for cell in index["cells"]:
                cell["qdisc"] = f"{cell['qdisc']} {'limit 10240 ' * 800}"
            index["title"] = "t" * 9000
    if not Path("good/index.json").is_symlink():
        Path("good/index.json").write_text(json.dumps(index))
    return _reading(rng, run.parent)


def parquet(material: Material, rng: Random) -> list[str]:
    """Return a command that reads damaged Parquet under a right checksum."""
    shutil.copytree(material / "good", "good")
    runs = sorted(Path("good/runs").glob("*/run.json"))
    for run in runs if rng.random() < 0.3 else runs[:1]:
        damage.parquet_of(run.parent, rng)
    return rng.choice(
        (["plot", "timeseries", "good", "--out", "new.svg"], ["export", "--flent", "good", "--out", "new"])
    )


def _reading(rng: Random, run: Path) -> list[str]:
    compare = ["compare", "voip_rrul", "--qdisc", "codel", "--qdisc", "fq_codel", "--duration", "1s", "--repeat", "1"]
    return rng.choice(
        (
            ["plot", "ellipse", "good", "--out", "new.png"],
            ["plot", "timeseries", "good", "--out", "new.svg"],
            ["plot", "cdf", "good", "--out", "new.svg"],
            ["plot", "timeseries", str(run), "--out", "new.svg"],
            ["report", "good", "--out", "new.html"],
            ["export", "--flent", "good", "--out", "new"],
            ["export", "--flent", str(run / "run.json"), "--out", "new"],
            [*compare, "--store", "good/runs", "--workers", "1"],
            [*compare, "--store", "good/runs", "--workers", "1", "--json"],
            ["run", "voip_rrul", "--qdisc", "codel", "--duration", "1s", "--store", "good/runs", "--workers", "1"],
        )
    )


def whole_record(material: Material, rng: Random) -> list[str]:
    """Return a command that reads a damaged record with its series in it."""
    Path("one").mkdir()
    shutil.copy(material / "one.json", "one/run.json")
    damage.file_of(Path("one/run.json"), rng, damage.json_of)
    commands = (["plot", "timeseries", "one", "--out", "new.svg"], ["report", "one", "--out", "new.html"])
    return rng.choice((*commands, ["export", "--flent", "one/run.json", "--out", "new"]))


def experiment(material: Material, rng: Random) -> list[str]:
    """Return a run of a damaged experiment file."""
    source = rng.choice(sorted((material / "examples").glob("*.toml")))
    Path("x.toml").write_bytes(damage.toml_of(source.read_text(), rng))
    return ["run", "x.toml", "--duration", "1s", "--workers", "1", *rng.choice(([], ["--json"], ["--out", "new"]))]


def sweep(material: Material, rng: Random) -> list[str]:
    """Return a sweep of a damaged file."""
    Path("s.toml").write_bytes(damage.toml_of((material / "sweep.toml").read_text(), rng))
    return ["sweep", "s.toml", "--out", "new", "--workers", "1", "--repeat", "1"]


def flent(material: Material, rng: Random) -> list[str]:
    """Return an import of a damaged data file."""
    text = gzip.decompress((material / "good.flent.gz").read_bytes()).decode()
    data = damage.means_of(text, rng) if rng.random() < 0.4 else damage.json_of(text, rng)
    match rng.randrange(4):
        case 0:
            data = gzip.compress(data, 1)
        case 1:
            data = bz2.compress(data, 1)
        case 2:
            data = damage.bytes_of(gzip.compress(data, 1), rng)
    Path("x.flent").write_bytes(data)
    return ["import", "x.flent", *rng.choice(([], ["--json"], ["--out", "new"]))]


def capture(material: Material, rng: Random) -> list[str]:
    """Return a measurement of round-trip times from damaged captures."""
    for name in ("a.pcapng", "b.pcapng"):
        data = (material / name).read_bytes()
        if rng.random() < 0.4:
            data = damage.blocks_of(data, rng)
        Path(name).write_bytes(damage.bytes_of(data, rng) if rng.random() < 0.7 else data)
    return ["rtt", "a.pcapng", "b.pcapng", *rng.choice(([], ["--json"], ["--csv", "new.csv"], ["--plot", "new.svg"]))]


def part(material: Material, rng: Random) -> list[str]:
    """Return a page of a damaged validation."""
    Path("part").mkdir()
    shutil.copy(material / "part.json", "part/part.json")
    damage.file_of(Path("part/part.json"), rng, damage.json_of)
    # A second part that is refused, so that nothing is run: what was read before it has been checked by then.
    return ["validate", "rrul", "--with", "part", "--document", "new.md", "--workers", "0"]


def journal(material: Material, rng: Random) -> list[str]:
    """Return a search that would go on from a damaged journal."""
    shutil.copytree(material / "tuned", "tuned")
    lines = Path("tuned/measures.jsonl").read_text().splitlines(keepends=True)
    at = rng.randrange(len(lines))
    lines[at] = damage.json_of(lines[at], rng).decode("utf-8", "surrogateescape") + "\n"
    Path("tuned/measures.jsonl").write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    return json.loads((material / "tuned.json").read_text())


#: Lines of scripts that would take time, memory or a stack, reach out of the script, or mean nothing.
SCRIPT_LINES = (
    "+0 %{ x = 'a'\n" + "x = x + x; y = f'{x}{x}'\n" * 60 + "}%",
    "+0 %{ x = (1,)\n" + "x = (x, x, x == x)\n" * 60 + "}%",
    "+0 %{ x = 3\n" + "x = x * x\n" * 60 + "}%",
    "+0 %{ assert " + "(" * 99_999 + " }%",
    "+0 %{ assert 0" + " + 1" * 99_999 + " }%",
    "+0 %{ assert " + "not " * 99_999 + "1 }%",
    "+0 %{ print(" + "f'{" * 99 + "1" + "}'" * 99 + ") }%",
    "+0 %{ print(9 ** 9 ** 9, 1 << 10 ** 9, '%999999999d' % 1, 'a' * 10 ** 12) }%",
    "+0 %{ print('\\x1b[2J', \"\x1b[2J\") }%\n" * 300,
    "+0 %{ __import__('os').system('touch /tmp/reached') }%",
    "+0 %{ x = open('/etc/passwd').read(); print(x) }%",
    "+0 %{ while True: pass }%",
    "+0 %{ assert 1 % 0, '%d' % () }%",
    "+0 write(3, ..., 9223372036854775807) = 1",
    "+0 shutdown(3, -9223372036854775808) = 0",
    "+0 < S 4294967295:4294967295(0) win 65535\n+0 < S 7:7(0) win 0",
    "+0 <\tS\n.\n0\n:\n0\t(\n0\n)\n<\nmss\t1",
    "`./defaults.sh`\n" * 9,
)


def script(material: Material, rng: Random) -> list[str]:
    """Return a command that runs a hostile or damaged packetdrill script, by our TCP."""
    del material
    file = rng.choice(sorted((Path(__file__).resolve().parents[2] / "testdata/packetdrill").glob("*.pkt")))
    text = file.read_bytes()
    if rng.random() < 0.5:
        lines = text.decode().splitlines()
        lines.insert(rng.randint(0, len(lines)), rng.choice(SCRIPT_LINES))
        text = "\n".join(lines).encode()
        Path("defaults.sh").write_text("sysctl -q net.ipv4.tcp_ecn=`reboot`\n$(reboot) ; reboot > /dev/null\n")
    if rng.random() < 0.5:
        text = damage.bytes_of(text, rng)
    Path("damaged.pkt").write_bytes(text)
    Path("below/.hidden").mkdir(parents=True)
    Path("below/up").symlink_to("..")
    shutil.copy("damaged.pkt", rng.choice(("below/deep.pkt", "below/.hidden/deep.pkt")))
    return ["kernel", "drill", "--ours", *rng.choice(([], ["--json"])), rng.choice(("damaged.pkt", "."))]


#: How often each kind is tried.
KINDS: tuple[tuple[Case, int], ...] = (
    (command_line, 30),
    (store, 20),
    (outside, 6),
    (parquet, 12),
    (whole_record, 6),
    (experiment, 10),
    (sweep, 5),
    (flent, 8),
    (capture, 4),
    (part, 3),
    (journal, 2),
    (script, 4),
)


def draw(rng: Random) -> Case:
    """Return a kind."""
    return rng.choices([kind for kind, _ in KINDS], [often for _, often in KINDS])[0]
