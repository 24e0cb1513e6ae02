"""A web page fetched again and again, beside bulk traffic or alone.

Source: seed 000 section 5.3: http-getter fetches a page with one TCP flow from client to server, which competes
with its requests, or with the real-time response under load test; and on an idle link, to compare with.
"""

from __future__ import annotations

from dataclasses import dataclass

from sojourn.experiments import options, rrul
from sojourn.experiments.options import option, scenario
from sojourn.experiments.pages import DEFAULT_PAGE, client, pages
from sojourn.scenario import Probe, Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(options.Options):
    """The page, too."""

    page: str = option(DEFAULT_PAGE, "the page that is fetched; see `sojourn list pages`", words=lambda: tuple(pages()))


def build(options: Options) -> Scenario:
    """Return the scenario of a page beside one flow up."""
    return _web("web", options, up=1, down=0, probes=())


def build_rrul(options: Options) -> Scenario:
    """Return the scenario of a page beside the RRUL traffic and its probes."""
    return _web("web_rrul", options, up=rrul.FLOWS_EACH_WAY, down=rrul.FLOWS_EACH_WAY, probes=rrul.probes())


def build_idle(options: Options) -> Scenario:
    """Return the scenario of a page and nothing else."""
    return _web("web_idle", options, up=0, down=0, probes=())


def _web(name: str, options: Options, *, up: int, down: int, probes: tuple[Probe, ...]) -> Scenario:
    web = (client(options.page, options.cc),)
    return scenario(name, options, flows_up=up, flows_down=down, probes=probes, web=web)
