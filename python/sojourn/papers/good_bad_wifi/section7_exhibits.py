"""Figures 9, 10 and 11 and Table 3 of "The Good, the Bad and the WiFi", drawn from measured numbers."""

from __future__ import annotations

from collections.abc import Iterator

from sojourn.papers.good_bad_wifi.measured import Measured
from sojourn.papers.good_bad_wifi.section7 import TABLE_3
from sojourn.plots import good_bad_wifi as plots
from sojourn.plots.panels import LOADS
from sojourn.report.exhibit import Exhibit, draw
from sojourn.report.table import Table
from sojourn.stats.bootstrap import Interval
from sojourn.stats.proportion import share_interval
from sojourn.tables import interval

_PAGES = ("google", "huffpost")


def exhibits(found: Measured) -> Iterator[Exhibit]:
    """Yield every exhibit of section 7 that there are numbers for."""
    if not found.rrul.is_empty():
        yield Exhibit(
            name="fig9",
            title="Fig. 9: goodput against induced latency over Wi-Fi",
            section="7.1",
            says="As Fig. 2, with a Wi-Fi link before the bottleneck of 100 Mbit/s; the paper has downstream above "
            "upstream.",
            figures=(
                draw(
                    "fig9",
                    "Both directions, with the same latencies.",
                    plots.latency_goodput(found.rrul, directions=("up", "down"), title="Wi-Fi, 100/100 Mbit/s"),
                ),
            ),
            claims=tuple(f"gbw-wifi-{number:02}" for number in range(1, 9)),
        )
    if found.voip_delay_ms:
        yield Exhibit(
            name="fig10",
            title="Fig. 10: delay of a voice stream over Wi-Fi",
            section="7.2",
            says="As Fig. 3, with the Wi-Fi link: beside one TCP stream (upper row) and RRUL (lower row).",
            figures=(
                draw(
                    "fig10",
                    "All samples of all runs: means over 200 ms, less the least of the run. Linear below 1 ms.",
                    plots.voip_delay_cdf(found.voip_delay_ms),
                ),
            ),
            claims=("gbw-wifi-09", "gbw-wifi-10"),
        )
    if found.voip_loss:
        yield Exhibit(
            name="table3",
            title="Table 3: loss of a voice stream over Wi-Fi",
            section="7.2",
            says="Share of the voice packets that were lost, beside the paper's.",
            table=table3(found.voip_loss),
            claims=("gbw-t3-", "gbw-wifi-11"),
        )
    if found.page_s:
        yield Exhibit(
            name="fig11",
            title="Fig. 11: fetch time of pages over Wi-Fi",
            section="7.3",
            says="As Figs. 4 and 5, with the Wi-Fi link: beside one TCP stream (upper row) and RRUL (lower row).",
            figures=tuple(
                draw(
                    f"fig11-{page}",
                    f"{page}: mean and standard deviation of the runs' means, with the fetch that the end of a run cut "
                    "off if that had taken longer. Hatched: without other traffic.",
                    plots.page_fetch_bars(found.page_s[page], found.page_unloaded_s.get(page, {})),
                )
                for page in _PAGES
                if page in found.page_s
            ),
            claims=("gbw-wifi-13", "gbw-wifi-14", "gbw-wifi-15"),
        )


def table3(loss: dict[tuple[str, str], dict[str, tuple[list[int], list[int]]]]) -> Table:
    """Return the loss of the voice stream: the paper's and ours with its 95 % interval, per cent."""
    rows, records = [], []
    for qdisc, stated in TABLE_3.items():
        shown = [qdisc]
        for load, paper in zip(LOADS, stated, strict=True):
            lost, sent = loss.get(("100/100", load), {}).get(qdisc, ([], []))
            found: Interval | None = share_interval(lost, sent) if any(sent) else None
            ours, ratio = "no data", "-"
            record: dict[str, str | float | int | None] = {"qdisc": qdisc, "cross_traffic": load, "paper": paper}
            numbers: dict[str, float | int | None] = {"ours": None, "low": None, "high": None, "runs": 0}
            if found is not None:
                low, high = (None if end is None else 100 * end for end in (found.low, found.high))
                ours = interval(100 * found.value, low, high, 2)
                ratio = f"{100 * found.value / paper:.2g}"
                numbers = {"ours": 100 * found.value, "low": low, "high": high, "runs": found.n}
            record |= numbers
            shown += [f"{paper:g}", ours, ratio]
            records.append(record)
        rows.append(tuple(shown))
    return Table(
        name="table3",
        headers=("qdisc", *(head for load in LOADS for head in (f"{load}: paper", "ours", "ours / paper"))),
        rows=tuple(rows),
        records=tuple(records),
        note="Per cent. Ours: mean over the runs of lost / sent and its 95 % interval.",
        left=1,
    )
