"""An experiment owns its options: help texts show them, and those of others are refused."""

from __future__ import annotations

import json

import pytest

from sojourn import ParamError
from sojourn.experiments import BUILT_IN, takers
from sojourn.experiments.options import defaults, own
from tests.conftest import Cli

OWN = {name for one in BUILT_IN.values() for name in own(one.options)}


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_help_of_an_experiment_shows_its_own_options_and_defaults(cli: Cli, name: str) -> None:
    text = " ".join(cli("run", name, "--help").stdout.split())
    options = BUILT_IN[name].options
    default = defaults(options)
    for option in OWN:
        flag = "--" + option.replace("_", "-")
        assert (f"[{flag} " in text) == (option in own(options)), option
    for option in own(options):
        assert f"(default {default[option]})" in text
    assert f"starts with the flows (default {default['duration']})" in text
    assert ("[--rtt TIME]" in text) == (name != "rtt_fairness")
    assert BUILT_IN[name].summary in text


def test_the_help_without_an_experiment_says_who_takes_each_option(cli: Cli) -> None:
    text = " ".join(cli("run", "--help").stdout.split())
    for option in OWN:
        assert f"for {', '.join(takers(option))}" in text


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_option_of_another_experiment_is_refused(name: str) -> None:
    mine = own(BUILT_IN[name].options)
    for option in OWN - set(mine):
        with pytest.raises(
            ParamError, match=f"^{option.replace('_', '-')} is 1, but only the experiment.*; {name} has"
        ):
            BUILT_IN[name].make(**{option: 1})
        with pytest.raises(TypeError):
            BUILT_IN[name].options(**{option: 1})


def test_each_option_keeps_to_its_range_or_its_words() -> None:
    for one in BUILT_IN.values():
        for option, declared in own(one.options).items():
            if declared.range is not None:
                for value in (declared.range[0] - 1, declared.range[1] + 1):
                    with pytest.raises(ParamError, match=f"is {value}, but must be from "):
                        one.make(**{option: value})
            elif declared.words is not None:
                for word in declared.words():
                    one.make(**{option: word})
                with pytest.raises(ParamError, match="is 'no such word', but must be one of "):
                    one.make(**{option: "no such word"})


def test_the_list_of_experiments_has_their_options(cli: Cli) -> None:
    found = {one["name"]: one for one in json.loads(cli("list", "experiments", "--json").stdout)["experiments"]}
    assert {one["name"] for one in found["bulk"]["options"]} == {"flows_up", "flows_down"}
    assert {one["name"] for one in found["rrul"]["options"]} == {"marks"}
    assert found["tcp_1up"]["options"] == []
