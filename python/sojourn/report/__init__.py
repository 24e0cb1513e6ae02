"""The report: one HTML file with everything in it, which opens without a network."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from sojourn import __version__, plots, tables
from sojourn.frame_library import pl
from sojourn.plots import style
from sojourn.report import result, zoom
from sojourn.report.exhibit import Exhibit, Figure, Report, draw, elsewhere, verdicts
from sojourn.report.table import Table
from sojourn.store import metrics
from sojourn.store.cell import DisciplineRuns, link_words, links
from sojourn.store.comparison import Comparison
from sojourn.store.index import Results, slug

if TYPE_CHECKING:
    from pathlib import Path

    from sojourn.store.folder import ResultFolder

__all__ = [
    "Exhibit",
    "Figure",
    "Report",
    "all_figures",
    "cell_is_symmetric",
    "compared",
    "directions_of",
    "figures",
    "headers",
    "link_title",
    "page",
    "table_rows",
    "write",
]

#: The columns of every table of results: heading, metric, decimals.
COLUMNS = (
    ("goodput up (Mbit/s)", "goodput_up_mbit", 2),
    ("goodput down (Mbit/s)", "goodput_down_mbit", 2),
    ("induced latency (ms)", "induced_latency_ms", 2),
    ("RTT p95 (ms)", "rtt_p95_ms", 1),
    ("Jain up", "jain_up", 3),
    ("Jain down", "jain_down", 3),
)
#: And those of the results that have them.
OPTIONAL_COLUMNS = (
    ("page fetch (s)", "page_fetch_s", 3),
    ("voice delay (ms)", "voip_delay_ms", 1),
    ("voice loss", "voip_loss", 4),
)


def directions_of(cells: tuple[DisciplineRuns, ...]) -> tuple[str, ...]:
    """Return which directions a plot of these cells shows: one if the link and its traffic are symmetric."""
    scenario = cells[0].runs[0].record.scenario
    loaded = [
        direction for direction in ("up", "down") if any(flow["direction"] == direction for flow in scenario["flows"])
    ]
    if loaded == ["up", "down"] and scenario["up"] == scenario["down"]:
        counts = [sum(flow["direction"] == direction for flow in scenario["flows"]) for direction in loaded]
        if counts[0] == counts[1] and all(cell_is_symmetric(cell) for cell in cells):
            return ("down",)
    return tuple(loaded) or ("down",)


def cell_is_symmetric(cell: DisciplineRuns) -> bool:
    """Tell whether both directions have the same discipline."""
    scenario = cell.runs[0].record.scenario
    return bool(scenario["qdisc_up"] == scenario["qdisc_down"])


def link_title(cell: DisciplineRuns) -> str:
    """Return what was run, apart from the discipline."""
    scenario = cell.runs[0].record.scenario
    return f"{scenario['experiment']}, {link_words(cell.link)}, RTT {scenario['rtt']}"


def table_rows(comparison: Comparison, link: str) -> list[list[str]]:
    """Return the table of one link: a row for each discipline, cells `mean [low, high]`."""
    found = {(row["qdisc"], row["metric"]): row for row in comparison.summary.filter(pl.col("link") == link).to_dicts()}
    return [
        [cell.qdisc]
        + [
            tables.interval(row.get("mean"), row.get("low"), row.get("high"), digits)
            for _, metric, digits in columns(comparison)
            # What was not measured in any run has no row.
            for row in (found.get((cell.qdisc, metric), {}),)
        ]
        for cell in comparison.cells
        if cell.link == link
    ]


def columns(comparison: Comparison | None = None) -> tuple[tuple[str, str, int], ...]:
    """Return the columns of a table of results: the common ones, and those for which this comparison has values."""
    if comparison is None:
        return COLUMNS
    there = set(comparison.summary["metric"])
    return (*COLUMNS, *(column for column in OPTIONAL_COLUMNS if column[1] in there))


def headers(comparison: Comparison | None = None) -> list[str]:
    """Return the headings of the table of a comparison; without one, those that every table has."""
    return ["qdisc", *(heading for heading, _, _ in columns(comparison))]


def figures(comparison: Comparison, link: str, *, prefix: str) -> tuple[Figure, ...]:
    """Draw the figures of one link: ellipses, distribution of the round-trip time, and its course."""
    cells = tuple(cell for cell in comparison.cells if cell.link == link)
    title = link_title(cells[0])
    repeats = len(cells[0].runs)
    both = directions_of(cells)
    series = {cell.qdisc: pl.concat([run.series for run in cell.runs]) for cell in cells}
    first = cells[0].runs[0].seed
    firsts = {cell.qdisc: cell.runs[0].series for cell in cells}
    return (
        draw(
            prefix,
            f"Goodput against induced latency: the median of {repeats} runs and the 1σ ellipse of their covariance. "
            "The latency axis is flipped, so better is up and to the right."
            + (" Both directions are shown with the same latencies." if len(both) > 1 else "")
            + (" One direction is shown." if len(both) == 1 and cells[0].link.count("/") else ""),
            plots.latency_goodput(metrics.runs(cells), directions=both, title=title),
        ),
        draw(
            f"{prefix}-rtt-cdf",
            f"Distribution of all probes' round-trip times over {repeats} runs.",
            plots.rtt_cdf(series, title=title),
            zoom.distribution(series, title=title),
        ),
        draw(
            f"{prefix}-timeseries",
            f"Round-trip time and goodput of the run with seed {first}; the picture shows means over a second.",
            plots.rtt_and_goodput(firsts, title=title),
            zoom.over_time(firsts, title=title, group=f"{prefix}-timeseries"),
        ),
    )


def all_figures(results: Results, prefixes: dict[str, str] | None = None) -> dict[str, tuple[Figure, ...]]:
    """Draw the figures of every link; `prefixes` names those of a paper."""
    there = links(results.comparison.cells)
    names = {link: "ellipse" if len(there) == 1 else f"ellipse-{slug(link)}" for link in there} | (prefixes or {})
    return {link: figures(results.comparison, link, prefix=names[link]) for link in there}


def compared(results: Results, drawn: dict[str, tuple[Figure, ...]]) -> Report:
    """Return the report on disciplines side by side; `drawn` are its figures (`all_figures`)."""
    comparison = results.comparison
    exhibits = []
    for link, of_link in drawn.items():
        labels = [cell.qdisc for cell in comparison.cells if cell.link == link]
        colours = style.colours(labels)
        repeats = len(next(cell for cell in comparison.cells if cell.link == link).runs)
        table = Table.of(
            slug(link),
            (headers(comparison), table_rows(comparison, link)),
            f"Mean over {repeats} runs and its 95 % interval." if repeats > 1 else "One run: no interval.",
            left=1,
            colours=tuple(colours[label] for label in labels),
        )
        title = f"{_figure_number(of_link[0].name)}{link_words(link)} (down/up)"
        exhibits.append(Exhibit(name=f"link-{slug(link)}", title=title, figures=of_link, table=table, folded=True))
    return Report(
        title=results.title,
        reference=results.paper or "Queue disciplines side by side under the same load.",
        result=result.of_comparison(comparison),
        command=results.command,
        facts=_facts(results),
        setup="Each run is determined by its scenario, seed included; sojourn run FILE takes the same keys as TOML.",
        exhibits=tuple(exhibits),
        claims=results.claims,
        scenarios=_scenarios(comparison),
    )


def write(folder: ResultFolder, report: Report) -> Path:
    """Write the figures of a report in every format, and its page `report.html`, whose path it returns."""
    for figure in (one for exhibit in report.exhibits for one in exhibit.figures):
        folder.write(f"figures/{figure.name}.svg", figure.svg)
        folder.write(f"figures/{figure.name}.png", figure.png)
    return folder.write("report.html", page(report))


def page(report: Report) -> str:
    """Return a report as one HTML page: its result, figures and tables, the claims, and how it was made."""
    return _template("page.html.j2").render(
        report=report,
        claims=report.claims,
        verdicts=verdicts(report.claims),
        elsewhere=elsewhere(report.claims),
        script=zoom.script() if any(one.charts for each in report.exhibits for one in each.figures) else None,
    )


def _template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("sojourn.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: "-" if value is None else f"{value:.4g}"
    environment.filters["inlined"] = zoom.inlined
    return environment.get_template(name)


def _figure_number(name: str) -> str:
    """Return `Fig. 2a: ` for a paper's figure `fig2a`, and nothing for one of our own."""
    return f"Fig. {name.removeprefix('fig')}: " if name.startswith("fig") else ""


def _facts(results: Results) -> tuple[tuple[str, str], ...]:
    records = [run.record for cell in results.comparison.cells for run in cell.runs]
    scenario = records[0].scenario
    seeds = sorted({record.seed for record in records})
    simulated = sum(record.cost.sim_s for record in records)
    packets = sum(record.cost.packets for record in records)
    return (
        ("experiment", f"{scenario['experiment']}, {scenario['duration']} measured, RTT {scenario['rtt']}"),
        ("runs", f"{len(records)}, seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"{len(records)}"),
        ("simulated", f"{simulated:,.0f} s, {packets:,} packets"),
        ("back end", str(records[0].backend)),
        ("versions", f"sojourn {__version__} (code {records[0].code_version}), Python {platform.python_version()}"),
    )


def _scenarios(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    shown = []
    for link in links(comparison.cells):
        cell = next(cell for cell in comparison.cells if cell.link == link)
        name = f"{link_words(link)}, {cell.qdisc}, seed {cell.runs[0].seed}"
        shown.append((name, json.dumps(cell.runs[0].record.scenario, indent=2)))
    return tuple(shown)
