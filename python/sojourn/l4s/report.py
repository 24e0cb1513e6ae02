"""The map in words: its rows, its tables, its rules, and its page."""

from __future__ import annotations

import textwrap
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sojourn import tables
from sojourn.l4s.cells import BOTTLENECKS, BUFFERED, FEWEST_PACKETS, PACKET_BYTES, SENDERS, qdisc
from sojourn.l4s.outcome import ALIKE, FILLED, SIDES, STARVES, VERDICTS, JudgedCell, by_verdict
from sojourn.l4s.planes import AXES, PLANES, Plan
from sojourn.l4s.rules import rule
from sojourn.study.cell import Cell

if TYPE_CHECKING:
    from sojourn.report import Figure, Report

FORMAT = "sojourn-l4s-map/1"

#: How bottlenecks are called.
TITLES = {
    "fifo": "FIFO",
    "codel": "CoDel, marking",
    "fq_codel": "FQ-CoDel, marking",
    "fq_codel_l4s": "FQ-CoDel, marking L4S above 1 ms",
    "cake": "CAKE",
    "dualpi2": "DualPI2",
}


def rows(found: Iterable[JudgedCell]) -> list[dict[str, tables.Value]]:
    """Return a row for each cell: what map.csv and map.json hold. Shares are per cent, queues ms, goodput Mbit/s."""
    made = []
    for one in found:
        row: dict[str, tables.Value] = {**one.cell.settings, "qdisc": qdisc(one.cell), "verdict": one.verdict}
        row |= {"share": one.share.value, "share_low": one.share.low, "share_high": one.share.high}
        for name in ("l4s_mbit", "classic_mbit", "l4s_queue_ms", "classic_queue_ms", "utilisation"):
            row[name] = one.mean(name)
        row |= {"retransmissions": one.mean("retransmissions"), "marks": one.mean("marks")}
        row["seeds"] = " ".join(str(run.seed) for run in one.runs)
        made.append({key: _short(value) for key, value in row.items()})
    return made


def _short(value: tables.Value) -> tables.Value:
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _places(found: Iterable[JudgedCell]) -> list[list[JudgedCell]]:
    """Return the cells of each pair at each bottleneck, in the order of the cells."""
    places: dict[tuple[str, str], list[JudgedCell]] = {}
    for one in found:
        places.setdefault((one.cell.pair, one.cell.bottleneck), []).append(one)
    return list(places.values())


def counts_table(found: Sequence[JudgedCell]) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows: of each pair at each bottleneck how many cells have which verdict."""
    body = []
    for cells in _places(found):
        cell = cells[0].cell
        counts = by_verdict(cells)
        body.append([*_place(cell), *(str(counts[verdict]) for verdict in VERDICTS)])
    return ["L4S side / classic side", "bottleneck", *VERDICTS], body


def _place(cell: Cell) -> list[str]:
    return [f"{SENDERS[cell.l4s].title} / {SENDERS[cell.classic].title}", TITLES[cell.bottleneck]]


def terminal(found: Sequence[JudgedCell]) -> str:
    """Return the table of verdicts and the rules, for a terminal."""
    heads, body = counts_table(found)
    lines = [tables.text(heads, body, left=2), ""]
    for cells in _places(found):
        sentences = " ".join(rule(cells, side).sentence() for side in reversed(SIDES))
        lines.append(f"{TITLES[cells[0].cell.bottleneck]}. {sentences}")
    return "\n".join(lines)


def _rules(found: Sequence[JudgedCell], pair: tuple[str, str]) -> list[str]:
    """Return a pair's section of the rules: of the classic side at each bottleneck, then of the L4S side."""
    places = [cells for cells in _places(found) if (cells[0].cell.l4s, cells[0].cell.classic) == pair]
    parts = [f"### {SENDERS[pair[0]].title} beside {SENDERS[pair[1]].title}"]
    for side, question in zip(reversed(SIDES), ("Is {} safe?", "Does {} have too little itself?"), strict=True):
        rules = [rule(cells, side) for cells in places]
        items = [f"- **{TITLES[one.cell.bottleneck]}.** {one.sentence()}" for one in rules]
        parts += [question.format(rules[0].names()[0]), "\n".join(items)]
    return parts


def report_of(
    found: Sequence[JudgedCell], figures: Sequence[Figure], *, command: str, facts: Mapping[str, str]
) -> Report:
    """Return the report of a map; its figures are of the planes, in their order."""
    from sojourn.report import Exhibit, Report
    from sojourn.report.result import extremes
    from sojourn.report.table import Table

    counts = ", ".join(
        f"{count} have the verdict \u201c{each}\u201d" for each, count in by_verdict(found).items() if count
    )
    same = {key for key in found[0].cell.settings if len({one.cell.settings[key] for one in found}) == 1}
    filled = {_words(one, same): one.share for one in found if one.filled}
    note = "How many cells have which verdict; map.csv has every cell with its interval, goodputs, marks and seeds."
    table = Table.of("verdicts", counts_table(found), note)
    sentences = [
        f"{TITLES[cells[0].cell.bottleneck]}. {' '.join(rule(cells, side).sentence() for side in reversed(SIDES))}"
        for cells in _places(found)
    ]
    return Report(
        title="An atlas of L4S beside classic flows",
        reference="Flows of two senders through one bottleneck. The share is what an L4S flow has of what it and a "
        "classic flow have together; 50 % is alike.",
        result=f"Of {len(found)} cells {counts}. {extremes(('share of an L4S flow', filled, '%'))}".strip(),
        command=command,
        facts=tuple(facts.items()),
        setup="The simulator made these cells, and no test bed or kernel did.",
        exhibits=(
            Exhibit(
                name="verdicts", title="Verdicts", figures=tuple(figures), table=table, paragraphs=tuple(sentences)
            ),
        ),
    )


def _words(one: JudgedCell, same: Container[str]) -> str:
    """Return what tells a cell from the others; `same` are the axes that do not."""
    cell = one.cell
    words = {
        "l4s": SENDERS[cell.l4s].title,
        "classic": f"beside {SENDERS[cell.classic].title}",
        "bottleneck": TITLES[cell.bottleneck],
        "rate_mbit": f"{cell.rate_mbit:g} Mbit/s",
        "l4s_rtt_ms": f"RTT {cell.l4s_rtt_ms:g} ms",
        "classic_rtt_ms": f"classic RTT {cell.classic_rtt_ms:g} ms" if cell.classic_rtt_ms != cell.l4s_rtt_ms else "",
    }
    settings = {key: words.get(key, f"{key} {value}") for key, value in cell.settings.items() if key not in same}
    return ", ".join(filter(None, settings.values())) or "the one cell"


def document(
    found: Sequence[JudgedCell],
    plan: Plan,
    *,
    images: str,
    command: str,
    repeat: int,
    seed: int,
    duration: str,
    prague_version: str,
    tcp_variant: str,
) -> str:
    """Return the page; `images` is where a figure is, with `{}` for its name."""
    heads, body = counts_table(found)
    parts = [
        "# An atlas of L4S beside classic flows",
        "How many cells of each pair of senders, behind each bottleneck, have which verdict:",
        tables.markdown(heads, body, left=2),
        "## What a cell is",
        f"Each cell has flows of two senders through one bottleneck, {duration} from their start, {repeat} times with "
        f"seeds {seed} to {seed + repeat - 1}. Its share is what an L4S flow has of what it and a classic flow have "
        "together, and 50 % is alike. It is judged by the 95 % interval of the share:",
        "\n".join(
            [
                f"- *alike*: neither has more than {ALIKE:g} times the other's goodput;",
                f"- *has less*: the other has more than {ALIKE:g} times its goodput;",
                f"- *starves*: the other has more than {STARVES:g} times its goodput;",
                "- *cannot tell*: the interval crosses one of these bounds;",
                f"- *not filled*: all flows together use less than {FILLED * 100:g} % of the link, as where the RTT "
                "is so long that the run ends before they do.",
            ]
        ),
        "Below a share stand the mean times that a packet of either side spends in the queue, ms. "
        "`map.csv` in the folder of results has every cell with its interval, goodputs, marks and seeds.",
        f"The simulator made these cells, and no test bed or kernel did. Prague is version {prague_version}, and TCP "
        f"otherwise that of {tcp_variant}; another version shares otherwise.",
        "## Rules of thumb",
        "A rule tells how often a side has too little, and the one bound that separates these cells best, if one does. "
        "It says nothing about other cells. Cells whose interval crosses the bound of a half are not counted.",
    ]
    for pair in plan.pairs:
        parts += _rules(found, pair)
    for plane in plan.planes:
        along, up = PLANES[plane]
        parts.append(f"## {_sentence(AXES[along].title)} and {AXES[up].title[0].lower()}{AXES[up].title[1:]}")
        parts += [f"![{plane}, {'/'.join(pair)}]({images.format(figure_name(plane, pair))})" for pair in plan.pairs]
    parts.append("## Disciplines")
    texts = {name: BOTTLENECKS[name].format(packets="PACKETS", bytes="BYTES") for name in plan.bottlenecks}
    parts.append("\n".join(f"- {TITLES[name]}: `{text}`" for name, text in texts.items()))
    if BUFFERED.intersection(plan.bottlenecks):
        parts.append(f"A buffer of BYTES holds PACKETS of {PACKET_BYTES} bytes, {FEWEST_PACKETS} at least.")
    if any(SENDERS[side].ecn_low for pair in plan.pairs for side in pair):
        parts.append(
            "BBRv3 with ECN has `tcp.ecn_low`. Its packets are ECT(0), so DualPI2 has them in its classic queue. It "
            "answers marks only where its least round trip is 5 ms at most."
        )
    parts += [
        "## How it was made",
        "```sh\n"
        + " \\\n    ".join(textwrap.wrap(command, 110, break_long_words=False, break_on_hyphens=False))
        + "\n```",
    ]
    return "\n\n".join(_wrap(part) for part in parts) + "\n"


def _wrap(part: str) -> str:
    """Break the lines of prose and of lists."""
    if part.startswith(("#", "|", "!", "```")):
        return part
    lines = part.split("\n")
    return "\n".join(
        textwrap.fill(
            line,
            120,
            subsequent_indent="  " if line.startswith("- ") else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in lines
    )


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def figure_name(plane: str, pair: tuple[str, str]) -> str:
    """Return the name of the figure of a plane and a pair, without what says its format."""
    return f"{plane}_{'_'.join(pair)}"
