"""The satellite path of the rural study: what is assumed of a service of which the paper states 1 Mbit/s only."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

from sojourn.errors import ParamError, refused
from sojourn.scenario import Scenario
from sojourn.units import seconds

#: Keys of the option, and what they are in a scenario. Data goes up; what comes down is the return channel.
_FIELDS = {"rtt": "rtt", "return": "down", "loss": "loss_up", "jitter": "jitter_down"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Satellite:
    """A model of a geostationary link (seed 001 section V-B)."""

    #: Base round-trip time of the path.
    rtt_ms: int = 580
    #: Rate text: of the return channel, which has a FIFO of 25 packets.
    return_rate: str = "256kbit"
    #: Probability that a packet of data is lost over the satellite, behind the bottleneck's queue.
    loss: float = 0.0
    #: Time text: what on-demand allocation adds to the time that a packet takes over the return channel: uniform in
    #: 0 to this, and no packet overtakes another.
    jitter: str = "0ms"

    @staticmethod
    def read(text: str | None) -> Satellite:
        """Return the model with what `key=value,...` says of it; of `None`, the model as it is.

        Raises `ParamError` if a key is not known, is there twice, or has a value that a path cannot have.
        """
        settings: dict[str, str] = {}
        for part in [] if text is None else text.split(","):
            key, sign, value = part.partition("=")
            if not sign or key not in _FIELDS:
                message = f"satellite has {part!r}, but must be KEY=VALUE of {', '.join(_FIELDS)}, with commas between"
                raise ParamError(message)
            if key in settings:
                message = f"satellite has {key!r} twice, but each key must be there once"
                raise ParamError(message)
            settings[key] = value
        found = Satellite()
        for key, value in settings.items():
            found = found._with(key, value)
        return found

    def over(self, scenario: Scenario) -> Scenario:
        """Return a scenario over this path."""
        jitter = self.jitter if seconds(self.jitter) else None
        return replace(
            scenario, rtt=f"{self.rtt_ms}ms", down=self.return_rate, loss_up=self.loss or None, jitter_down=jitter
        )

    def words(self) -> str:
        """Return the model in words."""
        loss = f"a loss of {100 * self.loss:.4g} % of the data packets" if self.loss else "no loss"
        jitter = (
            f"up to {self.jitter} more for each packet of the return channel, as its capacity is allocated on demand"
            if seconds(self.jitter)
            else "no jitter of on-demand allocation"
        )
        return (
            f"a geostationary path with a base RTT of {self.rtt_ms} ms, 1 Mbit/s towards the receivers behind the "
            f"discipline under test, a return channel of {_spaced(self.return_rate)} with a FIFO of 25 packets, "
            f"{loss}, {jitter}. The paper states only the 1 Mbit/s"
        )

    def _with(self, key: str, value: str) -> Satellite:
        """Return the model with the value of a key, as the one validator reads it."""
        if key == "loss":
            try:
                probability = float(value)
            except ValueError:
                probability = math.nan
            if math.isnan(probability):
                raise refused(value, "satellite's loss", "must be a probability such as 0.001")
            _checked(key, probability)
            return replace(self, loss=probability)
        plain = str(_checked(key, value))
        if key == "return":
            return replace(self, return_rate=plain)
        if key == "jitter":
            return replace(self, jitter=plain)
        rtt_ms = seconds(plain) * 1e3
        if rtt_ms != round(rtt_ms) or rtt_ms < 1:
            raise refused(value, "satellite's rtt", "must be a whole number of milliseconds, at least 1ms")
        return replace(self, rtt_ms=round(rtt_ms))


def _checked(key: str, value: str | float) -> Any:
    field = _FIELDS[key]
    # A base RTT must have room for the access links' delay, which `edge_rate` brings.
    scenario = Scenario(experiment="rural", duration="60s", edge_rate="100mbit", **{field: value})  # type: ignore[arg-type]
    try:
        # What is not there is what it would be if it had not been said.
        return json.loads(scenario.normalized()).get(field, value)
    except ParamError as error:
        message = f"satellite's {key}: {error}"
        raise ParamError(message) from None


def _spaced(rate: str) -> str:
    """Return a rate text with its unit written out: `256kbit` as `256 kbit/s`."""
    digits = rate.rstrip("abcdefghijklmnopqrstuvwxyz")
    return f"{digits} {rate[len(digits) :]}/s"
