"""The mean of each series of an imported file is the one that Flent's own summary prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sojourn.interop import flent
from tests.records import Json
from tests.test_flent_export import run_flent, summary_means  # noqa: F401

LENGTH = 6
#: Seconds since 1970 of 2026-01-01, when the files begin.
BEGIN = 1_767_225_600


def samples(*values: Any, part: str = "val") -> list[Json]:
    return [{"t": BEGIN + place, part: value} for place, value in enumerate(values)]


def file(version: int, series: dict[str, tuple[Any, ...]]) -> Json:
    """Return a file of series: values on the grid, what is stated of each, and its samples."""
    raw = {name: one[2] for name, one in series.items() if len(one) > 2}
    stated = {name: dict(one[1]) for name, one in series.items()}
    if version == 1:
        for name, found in raw.items():
            stated.setdefault(name, {})["RAW_VALUES"] = found
    return {
        "version": version,
        "x_values": [float(at) for at in range(LENGTH)],
        "results": {name: one[0] for name, one in series.items() if one[0] is not None},
        **({} if version == 1 else {"raw_values": raw}),
        "metadata": {
            "NAME": "tcp_nup",
            "TITLE": "by hand",
            "TIME": "2026-01-01T00:00:00.000000Z",
            "T0": "2026-01-01T00:00:00.000000Z",
            "DATA_FILENAME": "x.flent.gz",
            "HOST": "server",
            "HOSTS": ["server"],
            "LENGTH": 2,
            "TOTAL_LENGTH": LENGTH,
            "STEP_SIZE": 1.0,
            "TEST_PARAMETERS": {"upload_streams": "2"},
            "SERIES_META": stated,
        },
    }


NONE = [None] * LENGTH
GRID = [1.0, None, 2.0, 3.0, None, 6.0]

#: Of each kind of series: the grid, what is stated, the samples; and the mean.
NEWEST: dict[str, tuple[tuple[Any, ...], float | None]] = {
    # What is stated goes before samples, and samples before the grid.
    "TCP upload sum": ((GRID, {"MEAN_VALUE": 4.0, "UNITS": "Mbits/s"}, samples(9.0)), 4.0),
    "TCP upload::1": ((GRID, {}, samples(1.0, 2.5, None, 7.0)), 3.5),
    "TCP upload::1::tcp_cwnd": ((GRID, {}), 15.0),
    "TCP upload::2": ((GRID, {"MEAN_VALUE": None, "UNITS": "Mbits/s"}), 3.0),
    "TCP upload::2::tcp_rtt": ((GRID, {}), 3.0),
    # A mean of 0 is taken for none.
    "zero stated": ((GRID, {"MEAN_VALUE": 0}, samples(2.0, 3.0)), 2.5),
    "zero samples": ((GRID, {}, samples(0.0, 0.0)), 3.0),
    "zeros": (([0.0] * LENGTH, {"MEAN_VALUE": 0.0}, samples(0.0)), 0.0),
    "nothing": ((NONE, {"MEAN_VALUE": None}, []), None),
    "only samples": ((NONE, {}, samples(8.0)), 8.0),
    "bytes": ((GRID, {"MEAN_VALUE": 70000.5, "UNITS": "bytes"}), 70000.5),
    "negative": ((GRID, {"MEAN_VALUE": -3}), -3.0),
    "a sum beyond a float": ((GRID, {}, samples(*[1.5e308] * 2)), 1.5e308),
}
NEWEST["TCP upload::1"][0][2].extend(samples(10.0, 20.0, part="tcp_cwnd"))

OLD: dict[str, tuple[tuple[Any, ...], float | None]] = {
    "Ping (ms) UDP BE1": ((GRID, {}, [{**one, "dur": 0.2} for one in samples(20.0, 0.0, 10.0)]), 75.0),
    "Ping (ms) UDP BE2": ((GRID, {}, samples(20.0, 10.0)), 15.0),
    "HTTP latency": ((GRID, {}, samples(0.25, 0.75)), 500.0),
    "UDP upload": ((GRID, {"MEAN_VALUE": 2_000_000.0, "UNITS": "bits/s"}), 2.0),
    "qdisc": ((None, {}, samples(5, 8, 8, part="dropped")), None),
    "qdisc::dropped": ((GRID, {}), 1.0),
}
FILES = {
    "version 4": (4, NEWEST),
    "version 3": (3, OLD),
    "version 2": (2, OLD),
    "version 1": (1, OLD),
    # Without samples Flent takes the grid for them, and everything else as it stands there.
    "version 1 without samples": (1, {"UDP upload": ((GRID, {"MEAN_VALUE": 2e6, "UNITS": "bits/s"}), 2e6)}),
}


def written(name: str, folder: Path) -> Path:
    version, kinds = FILES[name]
    path = folder / "x.flent"
    path.write_text(json.dumps(file(version, {name: one for name, (one, _) in kinds.items()})))
    return path


@pytest.mark.parametrize("name", FILES)
def test_each_mean_is_the_file_s_own(name: str, tmp_path: Path) -> None:
    read = flent.read(written(name, tmp_path))
    kinds = FILES[name][1]
    assert list(read.means) == [series for series, (one, _) in kinds.items() if one[0] is not None]
    for series, mean in read.means.items():
        expected = kinds[series][1]
        assert mean == (expected if expected is None else pytest.approx(expected, rel=1e-12)), series
    rows = read.summary().to_dicts()
    assert {row["name"]: row["mean"] for row in rows} == read.means
    # The window is from 2 to 4 s of the test, and the grid has two values there.
    assert {(row["median"], row["count"]) for row in rows if row["max"]} <= {(2.5, 2)}


def test_a_rate_of_old_is_told_in_the_unit_of_its_mean(tmp_path: Path) -> None:
    assert flent.read(written("version 3", tmp_path)).units["UDP upload"] == "Mbits/s"
    assert flent.read(written("version 1 without samples", tmp_path)).units["UDP upload"] == "bits/s"


@pytest.mark.parametrize("name", FILES)
def test_flent_prints_the_same_means(name: str, run_flent: Any, tmp_path: Path) -> None:  # noqa: F811
    path = written(name, tmp_path)
    body = json.loads(path.read_text())
    for part in (body["results"], body.get("raw_values", {})):
        # Flent itself has no mean for values whose sum is beyond a float.
        part.pop("a sum beyond a float", None)
    path.write_text(json.dumps(body))
    theirs = summary_means(run_flent("-f", "summary", path.name))
    ours = {series: mean for series, mean in flent.read(path).means.items() if mean is not None}
    assert {series: theirs[series] for series in ours} == pytest.approx(ours, abs=0.005)
    assert len(ours) == sum(mean is not None for _, mean in FILES[name][1].values()) - (name == "version 4")
