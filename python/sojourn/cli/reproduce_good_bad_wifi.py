"""`sojourn reproduce good-bad-wifi`: what is told of "The Good, the Bad and the WiFi"."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sojourn import backends, tables
from sojourn.cli import options
from sojourn.cli.reproduction import Reproduction, check, last_facts, parts_of, profile_of, reproduce, title_of
from sojourn.errors import ParamError
from sojourn.papers.kit.paper import GOOD_BAD_WIFI
from sojourn.store.cell import links
from sojourn.store.index import Results, write_index

if TYPE_CHECKING:
    from sojourn.papers.good_bad_wifi.plan import Bed, Outcome
    from sojourn.papers.kit.claims import Claim
    from sojourn.report import PaperReport
    from sojourn.store.folder import ResultFolder

#: What the exhibits of a part of the paper begin with.
_EXHIBITS = {
    "rrul": ("table1", "fig2"),
    "voip": ("fig3", "table2", "voip"),
    "web": ("fig4", "fig5", "page"),
    "fairness": ("fig6",),
    "transient": ("fig7",),
    "wifi": ("fig9", "fig10", "fig11", "table3", "wifi-"),
}
_SETUP = (
    "Client, router, delay, router and server in a row; tbf and the discipline under test at both bottleneck egresses; "
    "base round-trip time 50 ms; disciplines as in Linux 3.14 with the parameters of Table 1, the same in both "
    "directions. Section 7 has a Wi-Fi link in the client's place: 802.11n at 5 GHz, the discipline at both ends above "
    "drivers that hold 123 (access point) and 256 frames (laptop). The laptop sends no aggregates: its card, a WiFi "
    "Link 5100, is one of those for which Linux 3.14 has them off unless asked for (iwldvm). Not stated, and assumed: "
    "57.8 Mbit/s both ways, a tenth of the frames lost on the air, hostapd's contention parameters; RRUL unmarked, as "
    "in section 5. All runs are simulated."
)


def handle(asked: argparse.Namespace) -> int:
    """Run it."""
    from sojourn.papers.good_bad_wifi import plan as good_bad_wifi
    from sojourn.papers.good_bad_wifi.judges import JUDGES
    from sojourn.papers.kit.claims import load

    check(GOOD_BAD_WIFI, asked)
    parts = parts_of(GOOD_BAD_WIFI, asked)
    backend = backends.for_many(asked.backend, "reproduce")
    bed = good_bad_wifi.Bed(
        profile=profile_of(GOOD_BAD_WIFI.profiles[asked.profile], asked),
        parts=parts,
        seed=1 if asked.seed is None else asked.seed,
        tcp=asked.tcp or ("linux-3.14" if backend.name == "sim" else "linux-6.1"),
        spared=backend.name == "sim",
    )
    if backend.name != "sim" and parts is not None and good_bad_wifi.WIFI_PART in parts:
        message = f"only is {good_bad_wifi.WIFI_PART!r}, but needs the sim back end: only the simulator has Wi-Fi cells"
        raise ParamError(message)
    prefixes = ["gbw-"] if parts is None else [prefix for part in parts for prefix in good_bad_wifi.CLAIMS[part]]
    if backend.name != "sim" and parts is None:
        over_wifi = good_bad_wifi.CLAIMS[good_bad_wifi.WIFI_PART]
        claims = [claim for claim in load("good_bad_wifi", "gbw-") if not claim.id.startswith(over_wifi)]
    else:
        claims = [claim for prefix in prefixes for claim in load("good_bad_wifi", prefix)]
    paper: Reproduction[Outcome] = Reproduction(
        paper=GOOD_BAD_WIFI,
        backend=backend,
        plan=good_bad_wifi.plan(bed),
        run=lambda means: good_bad_wifi.reproduce(bed, means),
        judge=lambda outcome: JUDGES.judge(claims, outcome.evidence),
        tell=lambda outcome, judged: _told(bed, outcome, claims, judged),
        hidden="table1",
        keep=_keep,
        begin=_begin,
    )
    return reproduce(asked, paper)


def _told(bed: Bed, outcome: Outcome, claims: list[Claim], judged: list[dict[str, Any]]) -> PaperReport:
    from sojourn.papers.good_bad_wifi import pairs
    from sojourn.papers.good_bad_wifi import plan as good_bad_wifi
    from sojourn.papers.good_bad_wifi.exhibits import exhibits
    from sojourn.report import PaperReport

    about_wifi = [claim for claim in claims if claim.id.startswith(good_bad_wifi.CLAIMS[good_bad_wifi.WIFI_PART])]
    shown = (
        *exhibits(outcome.measured, outcome.over_wifi),
        *pairs.exhibits(outcome.evidence, about_wifi, judged),
    )
    wanted = None if bed.parts is None else tuple(name for part in bed.parts for name in _EXHIBITS[part])
    profile = bed.profile
    fair = bed.parts is None or "fairness" in bed.parts
    other, long = f" ({profile.other_repeat} with New Reno)", f"; RTT fairness {profile.long_duration}"
    facts = (
        ("runs", str(outcome.runs)),
        ("repeats", f"{profile.repeat} of each cell{other if fair else ''}"),
        ("measured window", f"{profile.duration}{long if fair else ''}"),
        *last_facts(bed.seed, judged, TCP=f"{bed.tcp}, CUBIC"),
    )
    return PaperReport(
        title=title_of("The Good, the Bad and the WiFi", GOOD_BAD_WIFI, bed.parts),
        reference=GOOD_BAD_WIFI.reference,
        command=options.command_line(),
        facts=facts,
        setup=_SETUP,
        exhibits=tuple(one for one in shown if wanted is None or one.name.startswith(wanted)),
        claims=tuple(judged),
    )


def _keep(folder: ResultFolder, told: PaperReport, outcome: Outcome) -> None:
    from sojourn import report

    comparison = outcome.comparison
    if not comparison.cells:
        return
    folder.write_frame("runs.parquet", comparison.runs)
    folder.write("table.csv", comparison.summary.write_csv())
    parts = [
        f"## {link} Mbit/s (down/up)\n\n{tables.markdown(report.headers(), report.table_rows(comparison, link))}\n"
        for link in links(comparison.cells)
    ]
    folder.write("table.md", "\n".join(parts))
    results = Results(
        title=told.title, comparison=comparison, command=told.command, paper=told.reference, claims=told.claims
    )
    write_index(folder, results)


def _begin(outcome: Outcome) -> list[str]:
    from sojourn import report

    comparison = outcome.comparison
    return [
        f"{link} Mbit/s (down/up)\n{tables.text(report.headers(), report.table_rows(comparison, link))}"
        for link in links(comparison.cells)
    ]
