"""A search in the whole source of Linux 6.1. It takes half an hour, so it runs only when it is asked for.

    SOJOURN_WHOLE_BISECT=/var/tmp/bisect .venv/bin/python -m pytest -m slow tests/test_kernel_bisect_whole.py

The folder keeps the build and the kernels, so a second run takes minutes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import optional
from tests.conftest import Cli

SOURCE = Path("/usr/src/linux-source-6.1.tar.xz")
WORK = os.environ.get("SOJOURN_WHOLE_BISECT")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        WORK is None or not SOURCE.is_file() or shutil.which("git") is None,
        reason=optional.Need(
            "the package linux-source-6.1, git and half an hour", "SOJOURN_WHOLE_BISECT=/var/tmp/bisect make test-all"
        ).reason(),
    ),
]

CODEL, DRR = "net/sched/sch_codel.c", "net/sched/sch_drr.c"
COMMENT = "/* A comment at the end. */\n"
READ = "q->params.{0} = ((u64){0} * NSEC_PER_USEC) >> CODEL_SHIFT;"
DOUBLED = "q->params.{0} = ((u64){0} * 2 * NSEC_PER_USEC) >> CODEL_SHIFT;"
CULPRIT = "net/sched: codel: tidy the reading of options"

#: Each commit's subject, and what it changes: a file, a text that it has once, and what takes its place. Without a text
#: the last is appended.
HISTORY: list[tuple[str, list[tuple[str, str, str]]]] = [
    ("README: add a line", [("README", "", "\nA line more.\n")]),
    ("net/sched: sfq: add a comment", [("net/sched/sch_sfq.c", "", COMMENT)]),
    (
        "tcp: cubic: say that fast convergence is on",
        [
            (
                "net/ipv4/tcp_cubic.c",
                "fast_convergence __read_mostly = 1;",
                "fast_convergence __read_mostly = 1; /* on */",
            )
        ],
    ),
    ("net/sched: pie: comment in the header", [("include/net/pie.h", "", "/* The end. */\n")]),
    ("docs: networking: add a comment", [("Documentation/networking/index.rst", "", "\n.. a comment\n")]),
    ("net/sched: drr: begin a change that does not build", [(DRR, "", '#error "not finished yet"\n')]),
    ("net/sched: drr: end the change", [(DRR, '#error "not finished yet"\n', "")]),
    (CULPRIT, [(CODEL, READ.format(one), DOUBLED.format(one)) for one in ("target", "interval")]),
    ("net/sched: codel: add a comment", [(CODEL, "", COMMENT)]),
    ("net/sched: red: add a comment", [("net/sched/sch_red.c", "", COMMENT)]),
    (
        "net/sched: a comment in a header that many files include",
        [("include/net/sch_generic.h", "struct qdisc_rate_table {", "struct qdisc_rate_table { /* of a rate */")],
    ),
    ("README: add another line", [("README", "", "\nAnd another one.\n")]),
]


def git(top: Path, *words: str) -> str:
    who = {f"GIT_{role}_{what}": "someone@somewhere" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    settings = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(["git", *words], cwd=top, env=settings, capture_output=True, text=True, check=True).stdout


def test_the_commit_that_doubled_codels_times_is_found(inside: Cli, tmp_path: Path) -> None:
    top = tmp_path / "linux"
    top.mkdir()
    subprocess.run(["tar", "-xJf", SOURCE, "--strip-components=1"], cwd=top, check=True)
    git(top, "init", "--quiet", "--initial-branch=main")
    git(top, "add", "--all", "--force")  # Debian's own .gitignore leaves everything out
    git(top, "commit", "--quiet", "--message=Linux 6.1 of Debian 12")
    git(top, "tag", "base")
    for subject, changes in HISTORY:
        for name, text, instead in changes:
            before = (top / name).read_text()
            assert not text or before.count(text) == 1
            (top / name).write_text(before.replace(text, instead) if text else before + instead)
        git(top, "commit", "--quiet", "--all", f"--message={subject}")
    words = ("--source", str(top), "--good", "base", "--bad", "main", "--work", str(WORK), "--out", "found")
    traffic = ("tcp_1up", "--qdisc", "codel", "--duration", "10s", "--threshold", "10%")
    assert f"  {CULPRIT}\n" in inside("kernel", "bisect", *words, *traffic).stdout
    plain = json.loads((tmp_path / "found/bisect.json").read_text())
    assert plain["first_bad"]["sha"] == git(top, "rev-parse", "main~4").strip()
    assert plain["difference"]["low"] > 2
    # A commit that changes a comment has the same kernel to the byte, and its runs are not made again.
    kernels = {one["side"]: set() for one in plain["commits"] if one["side"]}
    for one in plain["commits"]:
        if one["side"]:
            kernels[one["side"]].add(one["kernel_sha256"])
    assert {side: len(found) for side, found in kernels.items()} == {"good": 1, "bad": 1}
