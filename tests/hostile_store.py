"""A folder of results as somebody who means harm would make it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

#: A name that a page must show and not obey.
HTML = '<img src=x onerror="document.title=1"></script><b>'


def make_hostile(results: Path, folder: Path) -> None:
    """Copy results of four runs: one has HTML for names, three are broken, and two that are none are added."""
    shutil.copytree(results, folder)
    whole, *rest = sorted(each for each in (folder / "runs").iterdir() if each.is_dir())
    head = json.loads((whole / "run.json").read_text())
    head["scenario"]["experiment"] = head["experiment"] = HTML
    head["scenario"]["qdisc_up"] = head["scenario"]["qdisc_down"] = HTML
    (whole / "run.json").write_text(json.dumps(head))
    (rest[0] / "run.json").write_bytes(b"\xff\xfe{")
    (rest[1] / "series.parquet").write_bytes(b"PAR1")
    (rest[2] / "run.json").unlink()
    os.mkfifo(rest[2] / "run.json")
    (folder / "runs" / ("a" * 32)).symlink_to("/")
    (folder / "runs" / ("b" * 32)).write_text("no folder")
    index = json.loads((folder / "index.json").read_text())
    index["title"] = index["command"] = HTML
    (folder / "index.json").write_text(json.dumps(index))
    plain = {"id": "x-1", "section": HTML, "says": HTML, "verdict": "holds", "value": 1, "low": None, "high": None}
    claim = plain | {"unit": HTML, "reason": HTML, "worlds": {HTML: HTML}}
    (folder / "claims.json").write_text(json.dumps([claim]))
