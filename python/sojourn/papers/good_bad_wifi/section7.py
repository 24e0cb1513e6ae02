"""Section 7 of seed 000: experiments over a Wi-Fi link before the bottleneck, and pairs of devices.

Source: seed 000 section 7 and Table 3. A laptop and an access point, a driver with queues of its own below the
discipline at both ends, and the bottleneck of the wired experiments behind it. The claims are judged with the pair of
devices that `sojourn.papers.good_bad_wifi.devices.UNEVEN` is; `of_pair` puts another pair's runs in its place.
"""

from __future__ import annotations

from dataclasses import replace

from sojourn.papers.good_bad_wifi.evidence import Evidence

#: The experiments over the Wi-Fi link; those with pages with the page, such as `"wifi_web:google"`.
WIFI_RRUL, WIFI_VOIP, WIFI_VOIP_RRUL = "wifi_rrul", "wifi_voip", "wifi_voip_rrul"
WIFI_WEB, WIFI_WEB_RRUL, WIFI_WEB_IDLE = "wifi_web", "wifi_web_rrul", "wifi_web_idle"
#: An ablation: hardly any room in the drivers.
SHALLOW = "wifi_rrul shallow"


def in_pair(pair: str, experiment: str) -> str:
    """Return the name of an experiment with another pair of devices."""
    return f"{pair} {experiment}"


#: RRUL with two other pairs of devices.
STRONG_POINT, STRONG_LAPTOP = in_pair("strong point", WIFI_RRUL), in_pair("strong laptop", WIFI_RRUL)
FAST_LINK, SLOW_LINKS = "100/100", ("10/10", "10/1")

#: Tables 2 and 3: a loss is met within this factor.
FACTOR = 2.0
#: Table 3, percent: one stream and RRUL.
TABLE_3: dict[str, tuple[float, float]] = {
    "pfifo_fast": (0.34, 16.66),
    "ared": (0.13, 5.30),
    "pie": (0.18, 27.52),
    "codel": (0.19, 18.56),
    "sfq": (0.47, 1.71),
    "fq_nocodel": (0.17, 1.59),
    "fq_codel": (0.22, 2.64),
}


def of_pair(evidence: Evidence, pair: str) -> Evidence:
    """Return the evidence with the runs of another pair of devices in the place of those with the paper's."""
    own = {cell: runs for cell, runs in evidence.cells.items() if not cell.experiment.startswith("wifi_")}
    prefix = in_pair(pair, "")
    other = {
        cell.replaced(experiment=cell.experiment.removeprefix(prefix)): runs
        for cell, runs in own.items()
        if cell.experiment.startswith(prefix)
    }
    return replace(evidence, cells=own | other)
