"""The built-in experiments: what traffic runs over the bottleneck, apart from link, discipline and seed.

An experiment is a function from `Options` to a `Scenario`. A TOML file with the keys of a scenario is an
experiment too: `find` takes either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import ParamError
from sojourn.experiments import bulk, rrul, rtt_fairness, rural, single, voip, web, wifi
from sojourn.experiments.options import Options
from sojourn.scenario import Scenario

__all__ = ["BUILT_IN", "Experiment", "Options", "find", "overlay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A named experiment.

    Attributes
    ----------
    name
        What one types.
    summary
        One sentence.
    build
        Makes the scenario.
    """

    name: str
    summary: str
    build: Callable[[Options], Scenario]


BUILT_IN: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            name="rrul",
            summary="real-time response under load: 4 TCP flows up and 4 down, ICMP and UDP round-trip probes",
            build=rrul.build,
        ),
        Experiment(
            name="bulk",
            summary="--flows-up N and --flows-down M TCP flows (default 1 and 1) and an ICMP probe",
            build=bulk.build,
        ),
        Experiment(name="tcp_1up", summary="one TCP flow up and an ICMP probe", build=single.build_up),
        Experiment(name="tcp_1down", summary="one TCP flow down and an ICMP probe", build=single.build_down),
        Experiment(name="voip", summary="a G.711 voice stream up and one TCP flow up", build=voip.build),
        Experiment(name="voip_rrul", summary="a G.711 voice stream up and the RRUL test", build=voip.build_rrul),
        Experiment(
            name="web", summary="a web page (--page) fetched again and again, and one TCP flow up", build=web.build
        ),
        Experiment(
            name="web_rrul",
            summary="a web page (--page) fetched again and again, and the RRUL test",
            build=web.build_rrul,
        ),
        Experiment(
            name="web_idle",
            summary="a web page (--page) fetched again and again on an idle link",
            build=web.build_idle,
        ),
        Experiment(
            name="rtt_fairness",
            summary="four TCP flows up with base RTTs of 10, 50, 200 and 500 ms, an ICMP probe on each path",
            build=rtt_fairness.build,
        ),
        Experiment(
            name="transient",
            summary="the first 25 s of the RRUL test, with 5 s of the idle path before it",
            build=rrul.build_transient,
        ),
        Experiment(
            name="rural",
            summary="files and bulk flows up, thin streams or an echo (--load, --traffic), at 1 Mbit/s and 300 ms",
            build=rural.build,
        ),
        Experiment(
            name="wifi_tcp",
            summary="a cell of two fast stations and a slow one (--scheme): a TCP flow down to each, and ICMP probes",
            build=wifi.build_tcp,
        ),
        Experiment(
            name="wifi_udp",
            summary="the same cell (--scheme): UDP of 50 Mbit/s down to each station, and ICMP probes",
            build=wifi.build_udp,
        ),
        Experiment(
            name="wifi_voip",
            summary="the same cell (--scheme): wifi_tcp and a G.711 stream (--dscp) down to the slow station",
            build=wifi.build_voip,
        ),
        Experiment(
            name="wifi_dense",
            summary="--stations N (1 to 64) of rates that the seed draws (--scheme): --protocol tcp or udp to each",
            build=wifi.build_dense,
        ),
    )
}


def find(name: str, backend: str = "sim") -> Experiment:
    """Return the built-in experiment of this name, or the one that the TOML file of this path holds, for a back end.

    Raises
    ------
    ParamError
        If it is neither.
    SojournError
        If the file cannot be read.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        stored = Scenario.from_toml(path, backend)
        return Experiment(
            name=stored.experiment, summary=f"read from {path}", build=lambda options: overlay(stored, options)
        )
    message = f"experiment is {name!r}, but must be one of {', '.join(BUILT_IN)} or the path of a TOML file"
    raise ParamError(message)


def overlay(stored: Scenario, options: Options) -> Scenario:
    """Return a scenario with the options that were given laid over it.

    Raises
    ------
    ParamError
        If numbers of flows or a page were given, which a finished scenario has fixed.
    """
    options.refuse_foreign(stored.experiment)
    scenario = dataclasses.replace(stored, **options.given())
    if options.cc is not None:
        flows = tuple(
            flow if flow.protocol == "udp" else dataclasses.replace(flow, congestion_control=options.cc)
            for flow in scenario.flows
        )
        clients = tuple(dataclasses.replace(client, congestion_control=options.cc) for client in scenario.web)
        files = tuple(dataclasses.replace(download, congestion_control=options.cc) for download in scenario.downloads)
        scenario = dataclasses.replace(scenario, flows=flows, web=clients, downloads=files)
    return scenario
