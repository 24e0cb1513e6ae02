"""The built-in experiments: what traffic runs over the bottleneck, apart from link, discipline and seed.

An experiment is a function from its own kind of `Options` to a `Scenario`. A TOML file with the keys of a scenario is
an experiment too: `find` takes either.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sojourn.errors import ParamError
from sojourn.experiments import bulk, hosts, rrul, rtt_fairness, rural, single, voip, web, wifi
from sojourn.experiments.options import Options
from sojourn.scenario import Scenario

__all__ = ["BUILT_IN", "Experiment", "Options", "StoredExperiment", "find", "option_types", "takers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A named experiment."""

    #: What one types.
    name: str
    #: One sentence without its full stop.
    summary: str
    #: Makes the scenario of options that are an `options`.
    build: Callable[[Any], Scenario]
    #: What can be chosen.
    options: type[Options] = Options
    #: Common options that it does not take, with the sentence that says why not.
    fixed: Mapping[str, str] = field(default_factory=dict)

    def make(self, **chosen: Any) -> Scenario:
        """Return the scenario with these options; what is `None` or left out has the default of the experiment.

        Raises `ParamError` if an option is none of this experiment's, or its value is refused.
        """
        values = {name: value for name, value in chosen.items() if value is not None}
        refuse_foreign(self.name, self.options, **values)
        for name, why in self.fixed.items():
            if name in values:
                message = f"{name} is {values[name]!r}, but {self.name} has {why}"
                raise ParamError(message)
        return self.build(self.options(**values))


BUILT_IN: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            name="rrul",
            summary="real-time response under load: 4 TCP flows run up and 4 down, ICMP and UDP probes measure the RTT",
            build=rrul.build,
            options=rrul.RrulOptions,
        ),
        Experiment(
            name="bulk",
            summary="--flows-up N and --flows-down M TCP flows run (default 1 and 1), an ICMP probe measures the RTT",
            build=bulk.build,
            options=bulk.Options,
        ),
        Experiment(
            name="tcp_1up", summary="one TCP flow runs up, an ICMP probe measures the RTT", build=single.build_up
        ),
        Experiment(
            name="tcp_1down",
            summary="one TCP flow runs down, an ICMP probe measures the RTT",
            build=single.build_down,
        ),
        Experiment(
            name="hosts",
            summary="--first N TCP flows of one host run beside --second M of another (--side), each has an ICMP probe",
            build=hosts.build,
            options=hosts.Options,
        ),
        Experiment(
            name="voip",
            summary="a G.711 voice stream runs up beside TCP flows, by default one up (--flows-up, --flows-down)",
            build=voip.build,
            options=voip.VoipOptions,
        ),
        Experiment(
            name="voip_rrul", summary="a G.711 voice stream runs up beside the RRUL test", build=voip.build_rrul
        ),
        Experiment(
            name="web",
            summary="a client fetches a web page (--page) again and again beside one TCP flow up",
            build=web.build,
            options=web.Options,
        ),
        Experiment(
            name="web_rrul",
            summary="a client fetches a web page (--page) again and again beside the RRUL test",
            build=web.build_rrul,
            options=web.Options,
        ),
        Experiment(
            name="web_idle",
            summary="a client fetches a web page (--page) again and again on an idle link",
            build=web.build_idle,
            options=web.Options,
        ),
        Experiment(
            name="rtt_fairness",
            summary="four TCP flows run up with base RTTs of 10, 50, 200 and 500 ms, each path has an ICMP probe",
            build=rtt_fairness.build,
            fixed={"rtt": "fixed round-trip times of 10, 50, 200 and 500 ms"},
        ),
        Experiment(
            name="transient",
            summary="the first 25 s of the RRUL test run, with 5 s of the idle path before them",
            build=rrul.build_transient,
            options=rrul.TransientOptions,
        ),
        Experiment(
            name="rural",
            summary="files, bulk flows, and thin streams or an echo run up at 1 Mbit/s and 300 ms (--load, --traffic)",
            build=rural.build,
            options=rural.Options,
        ),
        Experiment(
            name="wifi_tcp",
            summary="two fast stations and a slow one in a cell (--scheme) have a TCP flow down and an ICMP probe each",
            build=wifi.build_tcp,
            options=wifi.Options,
        ),
        Experiment(
            name="wifi_udp",
            summary="the stations of wifi_tcp (--scheme) have UDP of 50 Mbit/s down and an ICMP probe each",
            build=wifi.build_udp,
            options=wifi.Options,
        ),
        Experiment(
            name="wifi_voip",
            summary="a G.711 stream (--dscp) goes down to the slow station beside the traffic of wifi_tcp (--scheme)",
            build=wifi.build_voip,
            options=wifi.VoiceOptions,
        ),
        Experiment(
            name="wifi_dense",
            summary="--stations N (1 to 64) receive --protocol tcp or udp (--scheme), at rates that the seed draws",
            build=wifi.build_dense,
            options=wifi.DenseOptions,
        ),
    )
}


def option_types() -> dict[str, tuple[type, ...]]:
    """Return all options that there are, by name, with the types that each may have."""
    return {
        name: typing.get_args(hint) or (hint,)
        for one in BUILT_IN.values()
        for name, hint in typing.get_type_hints(one.options).items()
    }


def takers(option: str) -> list[str]:
    """Return the built-in experiments that take an option."""
    return [one.name for one in BUILT_IN.values() if option in one.options.__dataclass_fields__]


def refuse_foreign(experiment: str, options: type[Options], /, **chosen: Any) -> None:
    """Raise `ParamError` if something was chosen that an experiment does not take."""
    for name, value in chosen.items():
        if name in options.__dataclass_fields__:
            continue
        *others, last = takers(name) or [""]
        if not last:
            message = f"there is no option {name!r}"
            raise ParamError(message)
        who = f"experiments {', '.join(others)} and {last} take" if others else f"experiment {last} takes"
        option = name.replace("_", "-")
        message = f"{option} is {value!r}, but only the {who} it; {experiment} has no such option"
        raise ParamError(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredExperiment:
    """A finished scenario as an experiment: the common options are laid over it."""

    #: The scenario.
    scenario: Scenario

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return self.scenario.experiment

    def make(self, **chosen: Any) -> Scenario:
        """Return the scenario with these options laid over it; what is `None` or left out is as it was.

        Raises `ParamError` if an option is only some built-in experiments'.
        """
        values = {name: value for name, value in chosen.items() if value is not None}
        refuse_foreign(self.name, Options, **values)
        cc = values.pop("cc", None)
        scenario = dataclasses.replace(self.scenario, **values)
        if cc is None:
            return scenario
        flows = tuple(
            flow if flow.protocol == "udp" else dataclasses.replace(flow, congestion_control=cc)
            for flow in scenario.flows
        )
        clients = tuple(dataclasses.replace(client, congestion_control=cc) for client in scenario.web)
        files = tuple(dataclasses.replace(download, congestion_control=cc) for download in scenario.downloads)
        return dataclasses.replace(scenario, flows=flows, web=clients, downloads=files)


def find(name: str, backend: str = "sim") -> Experiment | StoredExperiment:
    """Return the built-in experiment of this name, or the one that the TOML file of this path holds, for a back end.

    Raises `ParamError` if it is neither, and `SojournError` if the file cannot be read.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        return StoredExperiment(scenario=Scenario.from_toml(path, backend))
    message = f"experiment is {name!r}, but must be one of {', '.join(BUILT_IN)} or the path of a TOML file"
    raise ParamError(message)
