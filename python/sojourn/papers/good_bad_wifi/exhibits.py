"""The figures and tables of "The Good, the Bad and the WiFi", drawn from measured numbers."""

from __future__ import annotations

from collections.abc import Iterator

from sojourn.errors import ParamError
from sojourn.frame_library import pl
from sojourn.papers.good_bad_wifi import section7_exhibits, tables
from sojourn.papers.good_bad_wifi.measured import Measured
from sojourn.plots import good_bad_wifi as plots
from sojourn.plots.panels import FALLING, LOADS, RISING, finite, in_order, labels_of
from sojourn.report.exhibit import Exhibit, Figure, draw
from sojourn.report.table import Table
from sojourn.stats import mean_interval, measure_transient
from sojourn.stats.bootstrap import Interval
from sojourn.stats.transient import STEADY_S, WINDOW_S, Course
from sojourn.store.cell import link_words
from sojourn.tables import interval, number

#: Letters of the three links in Fig. 2.
_LETTERS = dict(zip(FALLING, "abc", strict=True))
#: The pages of Figs. 4 and 5 and their numbers; other pages are drawn after them.
_PAGES = {"google": 4, "huffpost": 5}
_PAGE_WORDS = {"google": "Google, 56 kB in 3 requests", "huffpost": "Huffington Post, 3 MB in 110 requests"}


def exhibits(found: Measured, over_wifi: Measured | None = None) -> tuple[Exhibit, ...]:
    """Return Table 1 and every figure and table that there are numbers for, in the order of the paper.

    `over_wifi` are the numbers of section 7.
    """
    return (*_each(found), *(() if over_wifi is None else section7_exhibits.exhibits(over_wifi)))


def transient_table(courses: dict[str, dict[str, Course]]) -> Table:
    """Return peak, settling time and excess of every course (`sojourn.stats.transient`).

    A row whose runs are too short for the steady level has dashes.
    """
    rows: list[tuple[str, ...]] = []
    records = []
    for link in [link for link in FALLING if link in courses] + [link for link in courses if link not in FALLING]:
        for qdisc, course in courses[link].items():
            try:
                numbers = measure_transient(course)
            except ParamError:
                rows.append((link, qdisc, "-", "-", "-", "-", "-"))
                continue
            parts = (
                numbers.steady_ms,
                numbers.peak_ms,
                numbers.peak_s,
                numbers.settling_s,
                numbers.excess_ms_s,
            )
            rows.append((link, qdisc, *(_interval(part, digits) for part, digits in zip(parts, _DIGITS, strict=True))))
            for name, part in zip(_RECORD_NAMES, parts, strict=True):
                records.append(
                    {
                        "link": link,
                        "qdisc": qdisc,
                        "quantity": name,
                        "value": part.value,
                        "low": part.low,
                        "high": part.high,
                        "runs": part.n,
                    }
                )
    return Table(
        name="fig7-numbers",
        headers=(
            "link",
            "qdisc",
            "steady level (ms)",
            "peak (ms)",
            "at (s)",
            "settles after (s)",
            "excess (ms s)",
        ),
        rows=tuple(rows),
        records=tuple(records),
        note=(
            f"Of the point-wise mean and its 95 % interval over runs. Peak and excess: first {WINDOW_S:g} s. Steady "
            f"level: mean from {STEADY_S[0]:g} to {STEADY_S[1]:g} s. Settled: the mean over 1 s is for 5 s on end not "
            "more than a tenth (at least 5 ms) above the steady level. ∞: not within the time looked at."
        ),
    )


def mos_table(scores: dict[tuple[str, str], dict[str, list[float | None]]]) -> Table:
    """Return the mean opinion score of each cell, in the layout of Table 2; runs without a score are left out."""
    labels = labels_of(scores.values())
    links = in_order((link for link, _ in scores), RISING)
    rows: list[tuple[str, ...]] = []
    records = []
    for load in in_order((load for _, load in scores), LOADS):
        for qdisc in labels:
            shown = [load, qdisc]
            for link in links:
                values = finite(scores.get((link, load), {}).get(qdisc, []))
                if not len(values):
                    shown.append("-")
                    continue
                found = mean_interval(values)
                shown.append(interval(found.value, found.low, found.high))
                records.append(
                    {
                        "cross_traffic": load,
                        "qdisc": qdisc,
                        "link": link,
                        "mos": found.value,
                        "low": found.low,
                        "high": found.high,
                        "runs": found.n,
                    }
                )
            rows.append(tuple(shown))
    return Table(
        name="voip-mos",
        headers=("cross traffic", "qdisc", *map(link_words, links)),
        rows=tuple(rows),
        records=tuple(records),
        note=(
            "Mean over the runs and its 95 % interval. E-model (ITU-T G.107) with its default values, G.711 without "
            "loss concealment, delay = mean one-way delay + 2 × mean |IPDV|. From 1 to 4.5; below about 3.6 many users "
            "are dissatisfied."
        ),
    )


_DIGITS = (0, 0, 1, 1, 0)
_RECORD_NAMES = ("steady_ms", "peak_ms", "peak_s", "settling_s", "excess_ms_s")


def _each(found: Measured) -> Iterator[Exhibit]:
    yield Exhibit(
        name="table1",
        title="Table 1: parameters",
        section="4",
        says="The parameters of each discipline at each rate, as the paper gives them and as they were run.",
        table=tables.table1(),
        claims=("gbw-cfg-",),
    )
    if not found.rrul.is_empty():
        yield Exhibit(
            name="fig2",
            title="Fig. 2: goodput against induced latency",
            section="5.1.1",
            says="Median and 1σ ellipse of the runs' mean goodput and mean induced latency under the RRUL test; better "
            "is up and to the right.",
            figures=tuple(_figure2(found)),
            claims=("gbw-rrul-",),
        )
    if found.voip_delay_ms:
        yield Exhibit(
            name="fig3",
            title="Fig. 3: delay of a voice stream",
            section="5.2.1",
            says="Distribution of the induced one-way delay of an upstream voice stream beside one TCP stream (upper "
            "row) and RRUL (lower row).",
            figures=(
                draw(
                    "fig3",
                    "All samples of all runs: means over 200 ms, less the least of the run. Linear below 1 ms.",
                    plots.voip_delay_cdf(found.voip_delay_ms),
                ),
            ),
            claims=("gbw-voip-",),
        )
    if found.voip_loss:
        yield Exhibit(
            name="table2",
            title="Table 2: loss of a voice stream",
            section="5.2.1",
            says="Share of the voice packets that were lost, beside the paper's.",
            table=tables.table2(found.voip_loss),
            claims=("gbw-t2-",),
        )
    if found.voip_mos:
        yield Exhibit(
            name="voip-mos",
            title="Quality of a voice call",
            section="5.2.1",
            says="Mean opinion score of the voice stream; not in the paper.",
            table=mos_table(found.voip_mos),
        )
    for page, cells in sorted(found.page_s.items(), key=lambda item: (_PAGES.get(item[0], 9), item[0])):
        name = f"fig{_PAGES[page]}" if page in _PAGES else f"page-{page}"
        yield Exhibit(
            name=name,
            title=f"Fig. {_PAGES[page]}: fetch time of a page, {page}" if page in _PAGES else f"Fetch time: {page}",
            section="5.3.1",
            says=f"Mean time to fetch a page ({_PAGE_WORDS.get(page, page)}) beside one TCP stream (upper row) and "
            "RRUL (lower row).",
            figures=(
                draw(
                    name,
                    "Mean and standard deviation of the runs' means. Hatched and dashed: without other traffic.",
                    plots.page_fetch_bars(cells, found.page_unloaded_s.get(page, {})),
                ),
            ),
            claims=("gbw-web-",),
        )
    if found.jain:
        yield Exhibit(
            name="fig6",
            title="Fig. 6: fairness between round-trip times",
            section="6.1.1",
            says="Four upstream TCP flows with base round-trip times of 10, 50, 200 and 500 ms share a link: how "
            "evenly, and what each of them gets.",
            figures=(
                draw("fig6a", "Jain's fairness index: mean and standard deviation.", plots.jain_bars(found.jain)),
                draw(
                    "fig6bcd",
                    "Goodput of each flow: mean and standard deviation.",
                    plots.flow_goodput_bars(found.flow_goodput_mbit),
                ),
            ),
            claims=("gbw-fair-",),
        )
    if found.transient:
        yield Exhibit(
            name="fig7",
            title="Fig. 7: latency while flows start",
            section="6.2.1",
            says="Latency over the first 25 s of the RRUL test, in which eight TCP flows start at once.",
            figures=(draw("fig7", "Point-wise mean over the runs.", plots.transient_lines(found.transient)),),
            table=transient_table(found.transient),
            claims=("gbw-tran-",),
        )


def _figure2(found: Measured) -> Iterator[Figure]:
    there = found.rrul["link"].unique(maintain_order=True).to_list()
    for link in sorted(there, key=lambda link: FALLING.index(link) if link in FALLING else len(FALLING)):
        down, _, up = link.partition("/")
        both = down != up
        caption = (
            f"{link_words(link)}: {'both directions, with the same latencies' if both else 'one direction shown'}."
        )
        yield draw(
            f"fig2{_LETTERS.get(link, '-' + link.replace('/', '-'))}",
            caption,
            plots.latency_goodput(
                found.rrul.filter(pl.col("link") == link),
                directions=("up", "down") if both else ("down",),
                title=link_words(link),
            ),
        )


def _interval(part: Interval, digits: int) -> str:
    def say(value: float | None) -> str:
        return "∞" if value == float("inf") else number(value, digits)

    if part.low is None or part.high is None:
        return say(part.value)
    return f"{say(part.value)} [{say(part.low)}, {say(part.high)}]"
