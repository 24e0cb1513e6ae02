"""Worlds beside the declared one: which runs they ask for, how verdicts are counted, and whose reasons are shown."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from sojourn import backends, papers
from sojourn.errors import ParamError
from sojourn.report.exhibit import Report, elsewhere
from sojourn.store.claims import JudgedClaim
from sojourn.study import page as pages
from sojourn.study import worlds
from sojourn.study.claims import Claim, load
from sojourn.study.reproduction import Reproduction, Request
from tests.conftest import Cli
from tests.records import Json

CASES = [(name, world) for name in papers.NAMES for world in papers.paper(name).worlds]


def declared(name: str, **changes: Any) -> Request:
    paper = papers.paper(name)
    plain = Request(
        paper=paper,
        backend=backends.SIMULATOR,
        profile=paper.profiles["paper"],
        parts=None,
        seed=1,
        tcp=paper.tcp_on("sim", None),
        stated_tcp=None,
        satellite=None,
    )
    return replace(plain, **changes)


def reproduction(request: Request) -> Reproduction[Any]:
    found: Reproduction[Any] = import_module(f"sojourn.papers.{request.paper.folder}.reproduce").reproduction(request)
    return found


def texts(request: Request) -> set[tuple[str, str]]:
    name = request.backend.name
    return {(name, one.scenario.normalized(name)) for one in reproduction(request).plan}


@pytest.mark.parametrize(("name", "world"), CASES)
def test_a_world_asks_for_runs_of_its_own_that_its_back_end_takes(name: str, world: str) -> None:
    few = replace(papers.paper(name).profiles["paper"], repeat=1, other_repeat=1)
    request = declared(name, profile=few)
    other = papers.paper(name).worlds[world].request(request)
    assert other is not None
    assert not other.declared or other.profile != request.profile
    assert texts(other) - texts(request)
    assert {one.part for one in other.judged(load(request.paper.folder))} <= {*request.paper.parts, ""}


def test_a_world_has_at_most_the_runs_that_are_asked_for() -> None:
    world = papers.paper("rural").worlds["linux-6.1"]
    assert world.repeat == 10
    for repeat, found in ((100, 10), (3, 3)):
        profile = replace(papers.paper("rural").profiles["paper"], repeat=repeat, other_repeat=repeat)
        there = world.request(declared("rural", profile=profile))
        assert there is not None
        assert (there.profile.repeat, there.profile.other_repeat, there.tcp) == (found, found, "linux-6.1")
    few = replace(papers.paper("good-bad-wifi").profiles["paper"], other_repeat=0)
    there = papers.paper("good-bad-wifi").worlds["linux-6.1"].request(declared("good-bad-wifi", profile=few))
    assert there is not None
    assert there.profile.other_repeat == 0


def test_windows_of_a_world_are_also_those_of_the_long_runs_unless_it_says_otherwise() -> None:
    found = {name: world.request(declared("wifi-stack")) for name, world in papers.paper("wifi-stack").worlds.items()}
    windows = {name: (one.profile.duration, one.profile.long_duration) for name, one in found.items() if one}
    assert windows == {"linux-6.1": ("30s", "120s"), "30 s": ("30s", "30s"), "120 s": ("120s", "120s")}


def test_a_world_without_the_parts_that_are_asked_for_is_left_out() -> None:
    kernel = papers.paper("rural").worlds["kernel"]
    assert kernel.request(declared("rural", parts=("tau",))) is None
    there = kernel.request(declared("rural", parts=("tau", "satellite")))
    assert there is not None
    assert there.parts == ("satellite",)
    assert there.on_kernel
    assert there.tcp == "linux-6.1"


def test_the_flusher_adaptive_takes_the_place_of_the_thesis_s() -> None:
    few = replace(papers.paper("flusher").profiles["quick"], repeat=1, other_repeat=1)
    there = papers.paper("flusher").worlds["adaptive"].request(declared("flusher", profile=few))
    assert there is not None
    cells = [one.cell[1] for one in reproduction(there).plan]
    assert {cell.reading for cell in cells if cell.active} == {"adaptive"}


def claims(*verdicts: tuple[str, str]) -> list[JudgedClaim]:
    """Return claims of a verdict in the declared world and one in another; an empty one was not judged there."""
    found = [claim(f"x-{place}", here) for place, (here, _) in enumerate(verdicts)]
    worlds.beside(found, "other", {f"x-{place}": one for place, (_, one) in enumerate(verdicts) if one})
    return found


def claim(name: str, verdict: str) -> JudgedClaim:
    undecided = Claim(id=name, section="1", says="s").undecided
    return structs.replace(undecided, verdict=verdict, value=1.0, reason="r")


def test_verdicts_are_counted_in_each_world_and_those_by_construction_apart() -> None:
    judged = claims(("holds", "holds"), ("holds", "fails"), ("fails", "holds"), ("cannot tell", "holds"), ("fails", ""))
    judged.append(structs.replace(claim("y", "holds"), by_construction="a constant", worlds={"other": "fails"}))
    table = worlds.table(judged, "declared")
    assert table.rows == (
        ("declared", "6", "1", "2", "2", "1", "", ""),
        ("other", "5", "1", "3", "1", "0", "2", "1"),
    )
    assert {"claim": "x-1", "world": "other", "verdict": "fails"} in table.records
    assert len(table.records) == 6 + 5


def test_a_column_of_the_list_says_what_became_of_each_claim() -> None:
    judged = claims(("holds", "cannot tell"), ("fails", "holds"), ("holds", ""))
    assert elsewhere(judged) == [("other", ["?", "holds", ""])]
    assert elsewhere(claims(("holds", ""))) == []
    report = Report(title="t", reference="r", command="c", facts=(), setup="s", exhibits=(), claims=tuple(judged))
    page = pages.document(report, images="t")
    assert "| verdict | other |\n" in page
    assert "| `x-1` | 1 | s | 1 | fails | holds |\n" in page
    assert "\n- `x-1`: r\n" in page


def test_worlds_are_named_and_in_the_order_of_the_paper() -> None:
    known = papers.paper("rural").worlds
    assert worlds.chosen(known, None) == ()
    assert [one.name for one in worlds.chosen(known, "all")] == list(known)
    assert [one.name for one in worlds.chosen(known, "kernel,linux-6.1")] == ["linux-6.1", "kernel"]
    with pytest.raises(ParamError, match=r"^worlds has 'ipfw', but must be 'all' or some of: linux-6.1, "):
        worlds.chosen(known, "ipfw")


@pytest.mark.parametrize(
    "changes", [{"tcp": "linux-6.1"}, {"backend": backends.for_many("linux", "reproduce")}, {"satellite": "rtt=600ms"}]
)
def test_a_reason_why_is_of_the_declared_world_and_left_out_in_another(changes: Json) -> None:
    known = load("rural")
    assert any(one.why for one in declared("rural").judged(known))
    there = declared("rural", **changes)
    assert not there.declared
    assert not any(one.why for one in there.judged(known))


def test_worlds_stand_beside_the_declared_one(cli: Cli, tmp_path: Path) -> None:
    words = ("wifi-next-steps", "--only", "policies", "--duration", "1s", "--repeat", "2")
    more = ("--worlds", "linux-3.14", "--out", str(tmp_path / "o"), "--document", str(tmp_path / "page.md"))
    done = cli("reproduce", *words, *more)
    assert "The claims in other worlds" in done.stdout
    judged = json.loads((tmp_path / "o/claims.json").read_text())
    assert all(set(claim["worlds"]) == {"linux-3.14"} for claim in judged)
    assert (tmp_path / "o/tables/worlds.csv").read_text().count("\n") == 1 + 2 * len(judged)
    assert "| verdict | linux-3.14 |\n" in (tmp_path / "page.md").read_text()
    assert "<th>linux-3.14</th>" in (tmp_path / "o/report.html").read_text()
    # The plan without the world is another one.
    refused = cli("reproduce", *words, "--out", str(tmp_path / "o"), status=2)
    assert "holds another plan" in refused.stderr or "is there already" in refused.stderr


def test_worlds_beside_another_than_the_declared_one_are_refused(cli: Cli) -> None:
    done = cli("reproduce", "rural", "--tcp", "linux-6.1", "--worlds", "all", "--out", "o", status=2)
    assert done.stderr.startswith("sojourn: worlds is 'all', but other worlds can stand only beside the declared one")
