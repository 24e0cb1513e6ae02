"""From a record to one of Flent's data files, version 4."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from zlib import crc32

from sojourn import _native
from sojourn.bounds import Plain
from sojourn.errors import ParamError, SojournError
from sojourn.files import check_target, write_file
from sojourn.interop.clock import window_begins
from sojourn.interop.flent.naming import Naming, naming
from sojourn.interop.flent.read import MOST_VALUES
from sojourn.interop.flent.series import STEP_S, Series, Values, compute, measured, on_grid
from sojourn.record import Record
from sojourn.store.cell import DisciplineRuns, label_of, link_name, link_words
from sojourn.store.run import Run
from sojourn.units import bits_per_s, seconds

VERSION = 4
SUFFIX = ".flent.gz"

#: Values of a packet of voice: times, numbers and delays.
_OF_PACKET = 5
#: Longest file name, as Flent cuts it.
_LONGEST_NAME = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A data file that is not written yet."""

    #: As Flent would name it.
    name: str
    #: Its bytes; the same run gives the same.
    content: bytes


def data_file(run: Run, title: str | None = None) -> DataFile:
    """Return the data file of a run.

    - `title`: what Flent's plots call it (default: disciplines, rates and RTT).
    """
    name, body = _named_body(run.record, _title(run.record) if title is None else title)
    text = json.dumps(body, indent=2, sort_keys=True, allow_nan=False)
    # No time of writing in the header: the bytes depend on the run alone.
    return DataFile(name=name, content=gzip.compress(text.encode(), mtime=0))


def export(cells: Sequence[DisciplineRuns], folder: Path, *, force: bool = False) -> list[Path]:
    """Write a data file for each run and return their paths, in the order of the runs.

    Raises `ParamError` if one is there already and `force` is not given, and `SojournError` if one cannot be written.
    """
    files: dict[str, DataFile] = {}
    for cell in cells:
        for run in cell.runs:
            record = run.record
            # What a folder calls a discipline is shorter than its canonical text; a single run has no such name.
            named = cell.qdisc != label_of(record.scenario["qdisc_up"], record.scenario["qdisc_down"])
            title = f"{cell.qdisc}, {link_words(cell.link)}, {record.scenario['rtt']}" if named else _title(record)
            made = data_file(run, title)
            if made.name in files:
                # Two titles that differ only in what a file name cannot hold.
                made = DataFile(name=_apart(made.name, f"{cell.qdisc} {cell.link} {run.seed}"), content=made.content)
            files[made.name] = made
    for name in files:
        if os.path.lexists(folder / name) and not force:
            message = f"out has {name!r} already: name another folder, or give --force"
            raise ParamError(message)
        check_target(folder / name, "out", force=True)
    for made in files.values():
        write_file(folder / made.name, made.content)
    return [folder / name for name in files]


def _apart(name: str, text: str) -> str:
    return f"{name.removesuffix(SUFFIX)[: _LONGEST_NAME - len(SUFFIX) - 9]}_{crc32(text.encode()):08x}{SUFFIX}"


def _title(record: Record) -> str:
    scenario = record.scenario
    label = label_of(*(_short(scenario[f"qdisc_{way}"], scenario[way]) for way in ("up", "down")))
    return f"{label}, {link_words(link_name(scenario['down'], scenario['up']))}, {scenario['rtt']}"


def _short(text: str, rate: str) -> str:
    """Return a canonical discipline's kind alone if nothing but defaults follows it."""
    kind = text.split()[0]
    try:
        return kind if _native.expand_qdisc(kind, bits_per_s(rate)) == text else text
    except ParamError:  # of another version's disciplines
        return text


def _named_body(record: Record, title: str) -> tuple[str, Mapping[str, Plain]]:
    """Return the name of the file of a record, and what it holds."""
    names = naming(record)
    length = seconds(record.scenario["duration"])
    total = length + 2 * names.delay_s
    _check_size(record, total)
    t0 = window_begins(record.seed) - timedelta(seconds=names.delay_s)
    # Counted in steps, not added up: 0.2, 0.4, 0.6 and not 0.6000000000000001.
    x_values = [round(step * STEP_S, 9) for step in range(int(total / STEP_S + 1e-9) + 1)]
    grid = [x - names.delay_s for x in x_values]
    series = measured(record, names)
    results: dict[str, Values] = {}
    for one in series:
        # The packets of a voice stream are in the raw values alone, as in Flent's files.
        results[one.name] = [None] * len(grid) if one.name == "VoIP" else on_grid(one.t_s, one.values, grid)
        for part, values in one.parts.items():
            results[f"{one.name}::{part}"] = on_grid(one.t_s, values, grid)
    meta = {one.name: {"UNITS": one.unit, **one.meta} for one in series}
    for computed in names.computed:
        results[computed.name] = compute(computed, results)
        meta[computed.name] = {"UNITS": computed.unit, **_mean(computed.how, results[computed.name], grid, length)}
    begins = window_begins(record.seed).timestamp()
    name = _file_name(names.test, title, t0)
    metadata = _metadata(record, names, title, t0) | {"DATA_FILENAME": name, "SERIES_META": meta}
    return name, {
        "version": VERSION,
        "x_values": x_values,
        "results": results,
        "raw_values": {one.name: _raw(one, begins) for one in series},
        "metadata": metadata | {"LENGTH": _whole(length), "TOTAL_LENGTH": _whole(total)},
    }


def _lead(record: Record) -> float:
    return seconds(record.scenario["lead"])


def _check_size(record: Record, total: float) -> None:
    """Raise `SojournError` if the file would have too many values: points of the grid, and packets of voice."""
    of_each = total / STEP_S
    voice = _OF_PACKET * sum(sum(stream.sent) for stream in record.series.voip.values())
    for probe in record.probes:
        stream = record.series.voip.get(probe.name)
        # Packets of a damaged file; a stream sends one in each frame, also before the window.
        frame = probe.frame_ms
        if stream and frame is not None and sum(stream.sent) * frame > 2000 * (total + _lead(record) + 1):
            message = f"the voice stream {probe.name} has more packets than its frames of {frame:g} ms"
            raise SojournError(message)
    values = of_each * (2 * len(record.flows) + len(record.probes) + 5) + voice
    if values > MOST_VALUES:
        message = (
            f"the run would have {values:.3g} values as a file of Flent, but such a file has at most {MOST_VALUES}"
        )
        raise SojournError(message)


def _mean(how: str, values: Values, grid: list[float], length: float) -> dict[str, float]:
    """Return the mean over the measured window.

    An index of fairness has none: the mean of an index and the index of the means differ, and Flent takes the former.
    """
    inside = [value for at, value in zip(grid, values, strict=True) if value is not None and 0 < at <= length]
    return {"MEAN_VALUE": sum(inside) / len(inside)} if inside and how != "fairness" else {}


def _raw(series: Series, begins: float) -> list[Mapping[str, Plain]]:
    points: list[Mapping[str, Plain]] = []
    for place, (at, value) in enumerate(zip(series.t_s, series.values, strict=True)):
        if value is not None:
            more = {key: values[place] for key, values in series.raw.items()}
            points.append({"t": round(begins + at, 6), "val": value, **more})
    return points


def _metadata(record: Record, names: Naming, title: str, t0: datetime) -> dict[str, Plain]:
    scenario = record.scenario
    version = f"Sojourn {record.code_version}"
    web = record.web
    note = f"simulated by {version}, seed {record.seed}; up: {scenario['qdisc_up']}; down: {scenario['qdisc_down']}"
    return {
        "NAME": names.test,
        "TITLE": title,
        "NOTE": note,
        "HOST": names.hosts[0],
        "HOSTS": list(names.hosts),
        "LOCAL_HOST": "client",
        "TIME": _stamp(t0),
        "T0": _stamp(t0),
        "STEP_SIZE": STEP_S,
        "TEST_PARAMETERS": names.parameters,
        "IP_VERSION": 4,
        "FLENT_VERSION": version,
        "KERNEL_NAME": version,
        "KERNEL_RELEASE": "simulated",
        "BATCH_NAME": None,
        "BATCH_TIME": None,
        "BATCH_TITLE": None,
        "BATCH_UUID": None,
        "HTTP_GETTER_URLLIST": [client.page for client in web] if len(web) > 1 else None,
        "HTTP_GETTER_DNS": None,
        "HTTP_GETTER_WORKERS": None,
        "FAILED_RUNNERS": 0,
        "SOJOURN": {
            key: getattr(record, key) for key in ("format", "experiment", "backend", "seed", "code_version", "scenario")
        },
    }


def _stamp(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _file_name(test: str, title: str, t0: datetime) -> str:
    stem = f"{test}-{t0.strftime('%Y-%m-%dT%H%M%S.%f')}."
    return stem + re.sub("[^A-Za-z0-9-]", "_", title)[: _LONGEST_NAME - len(stem) - len(SUFFIX)] + SUFFIX


def _whole(value: float) -> int | float:
    return int(value) if value.is_integer() else value
