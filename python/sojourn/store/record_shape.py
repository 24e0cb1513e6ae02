"""What the keys of a record must have to do with each other; what each must look like says `sojourn.record`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, field

from sojourn import bounded
from sojourn.record import ProbeRecord, Record, SeriesRecord
from sojourn.schema import Misfit, Name, Number, Rate, Seed, Text, Time, Whole, Words, convert


class ScenarioFlow(Struct):
    """What is read of a flow of a scenario."""

    name: Name
    direction: Literal["up", "down"]
    rtt: Time
    client: Whole = 1
    server: Whole = 1
    dscp: Whole = 0


class ScenarioProbe(Struct):
    """What is read of a probe of a scenario."""

    name: Name
    kind: Text
    rtt: Time


class _Tcp(Struct):
    mss: Whole


class RecordScenario(Struct):
    """What is read of a record's scenario."""

    experiment: Text
    up: Rate
    down: Rate
    rtt: Time
    duration: Time
    lead: Time
    qdisc_up: Words
    qdisc_down: Words
    seed: Seed
    flows: list[ScenarioFlow]
    probes: list[ScenarioProbe]
    tcp: _Tcp


def scenario_of(record: Record) -> RecordScenario:
    """Return what is read of the scenario of a record; raises `Misfit` if that does not fit."""
    return convert(record.scenario, RecordScenario, "scenario")


#: What a probe of a kind has.
_OF_KIND = {
    "icmp": ("rtt_ms",),
    "udp_rr": ("rtt_ms",),
    "voip": ("delay_ms", "codec", "bitrate_kbit", "frame_ms", "base_delay_ms", "jitter_ms", "ipdv_ms"),
}
_CATEGORIES = {"vo", "vi", "be", "bk"}
_WAYS = {"up", "down"}


def check_head(record: Record, refuse: bounded.Refuse) -> None:
    """Raise `Misfit` unless the keys of a record fit together; its series are not looked at."""
    bounded.check_values(record.scenario, refuse)
    scenario = scenario_of(record)
    if record.seed >= 2**64:
        message = f"seed is {record.seed}, but must be a whole number from 0 to {2**64 - 1}"
        raise Misfit(message)
    _check_keys(record.bottleneck, _WAYS, "bottleneck")
    for probe in record.probes:
        _check_probe(probe)
    for place, station in enumerate(record.wifi.stations if record.wifi is not None else ()):
        if station.deficit_us is not None:
            _check_keys(station.deficit_us, _CATEGORIES, f"wifi.stations[{place}].deficit_us")
    _check_same(
        "flows",
        [(one.name, one.direction) for one in record.flows],
        [(one.name, one.direction) for one in scenario.flows],
    )
    _check_same("probes", [(one.name, one.kind) for one in record.probes], [(o.name, o.kind) for o in scenario.probes])


def _check_probe(probe: ProbeRecord) -> None:
    for key in _OF_KIND.get(probe.kind, ()):
        absent = UNSET if key in {"jitter_ms", "ipdv_ms"} else None
        if getattr(probe, key) is absent:
            message = f"probe {probe.name} is of the kind {probe.kind}, but its {key} is missing"
            raise Misfit(message)


def _check_keys(table: Collection[str], keys: set[str], where: str) -> None:
    for key in sorted(keys.difference(table)):
        message = f"{where}.{key} is missing"
        raise Misfit(message)


def _check_same(key: str, here: Sequence[tuple[str, str]], there: Sequence[tuple[str, str]]) -> None:
    if sorted(here) != sorted(there) or len(dict(here)) < len(here):
        message = f"{key} are not those of scenario.{key}"
        raise Misfit(message)


def check_series(series: SeriesRecord, record: Record) -> None:
    """Raise `Misfit` unless there is one value for each time, and every flow and every probe has its series."""
    bins = len(series.t_s)
    by_way = {key: getattr(series, key) for key in ("backlog_packets", "drops", "packets")}
    for key, table in by_way.items():
        _check_keys(table, _WAYS, f"series.{key}")
    tables = [series.goodput_mbit, series.cwnd_segments, *by_way.values(), series.airtime_ms or {}]
    tables += [_lists(one) for one in [*(series.flusher or {}).values(), *(series.links or {}).values()]]
    for table in tables:
        _check_length(table, bins)
    for echo in series.rtt.values():
        _check_length(_lists(echo), len(echo.t_s))
    for voice in series.voip.values():
        _check_length(_lists(voice), len(voice.t_s))
    groups: dict[str, Collection[str]] = {"voip": series.voip, "icmp": series.rtt, "udp_rr": series.rtt}
    required: list[tuple[str, Collection[str], str]]
    required = [("goodput_mbit", series.goodput_mbit, flow.name) for flow in record.flows]
    required += [
        ("voip" if probe.kind == "voip" else "rtt", groups[probe.kind], probe.name)
        for probe in record.probes
        if probe.kind in groups
    ]
    for key, group, name in required:
        if name not in group:
            message = f"series.{key}.{name} is missing"
            raise Misfit(message)


def _lists(one: Struct) -> dict[str, list[Any]]:
    values = ((key, getattr(one, key)) for key in one.__struct_fields__)
    return {key: value for key, value in values if value is not None}


def _check_length(table: Mapping[str, list[Any]], length: int) -> None:
    for key, values in table.items():
        if len(values) != length:
            message = f"series {key} has {len(values)} values, but must have {length}"
            raise Misfit(message)


class SeriesPart(Struct, frozen=True, kw_only=True):
    """A piece of the series: its steps from the top, of which ours have up to three, and what it is made of."""

    path: Annotated[list[Name], Meta(min_length=1, max_length=8)]
    kind: Literal["empty", "value", "times", "real", "whole"] = field(name="is")
    rows: Whole = 0
    value: Number | None = None


class StoredSeries(Struct, frozen=True, kw_only=True):
    """How many rows the file of series has, and what they are."""

    rows: Whole
    parts: list[SeriesPart]


class Stored(Struct, frozen=True, kw_only=True):
    """How the series of a stored run are put back into its record, and what its file must be."""

    id: Text
    bytes: Whole
    crc32: Text
    series: StoredSeries


def check_stored(stored: Stored) -> None:
    """Raise `Misfit` unless the rows of the parts are those of the series."""
    rows = sum(part.rows for part in stored.series.parts if part.kind in {"real", "whole"})
    if rows != stored.series.rows:
        message = f"stored.series.rows is {stored.series.rows}, but its parts have {rows}"
        raise Misfit(message)
