"""What a report shows: its result, figures and tables, each with what it shows and where it comes from."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure as Drawing

from sojourn import plots
from sojourn.report.table import Table
from sojourn.report.zoom import Chart
from sojourn.store.claims import JudgedClaim


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of the report."""

    #: Of its files, without suffix.
    name: str
    #: One or two sentences.
    caption: str
    #: The files.
    svg: bytes
    png: bytes
    #: The same to be zoomed, if it can be.
    charts: tuple[Chart, ...] = ()

    @property
    def data_uri(self) -> str:
        """The SVG, to be written into a page."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode()


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """A figure or a table of a report."""

    #: For links, such as `"fig3"`.
    name: str
    #: Number and subject, such as `"Fig. 3: delay of a voice call"`.
    title: str
    #: Of the paper, if it is one's.
    section: str = ""
    #: One sentence: what is shown.
    says: str = ""
    #: What there is to see.
    figures: tuple[Figure, ...] = ()
    table: Table | None = None
    #: What the ids of the claims about it begin with.
    claims: tuple[str, ...] = ()
    #: What is told of it, below.
    paragraphs: tuple[str, ...] = ()
    #: Whether a page has its figures; else a table there has the same numbers.
    on_page: bool = True
    #: Whether the figures after the first are folded up, below the table.
    folded: bool = False

    def among(self, claims: Sequence[JudgedClaim]) -> list[JudgedClaim]:
        """Return those of the claims that are about this exhibit."""
        return [claim for claim in claims if claim.id.startswith(self.claims)] if self.claims else []


@dataclass(frozen=True, kw_only=True)
class Report:
    """Everything that is told of results. It begins with `result`, and ends with how they were made."""

    #: The short title, of a paper that of the paper; what it is about, of a paper its authors, title, where and when.
    title: str
    reference: str
    #: What came of it, in one sentence or two with its numbers.
    result: str = ""
    #: What makes it again.
    command: str
    #: Name and value of what was run: profile, runs, versions.
    facts: tuple[tuple[str, str], ...]
    #: One or two sentences: the test bed.
    setup: str
    #: In the order of the paper. The first figure of them stands beside the result.
    exhibits: tuple[Exhibit, ...]
    #: What became of each.
    claims: tuple[JudgedClaim, ...] = ()
    #: Who says what the claims say: the head of their column.
    claimed: str = "the paper says"
    #: Where the runs are, from the folder of the report.
    store: str = "runs"
    #: Scenarios of runs by their names, in JSON.
    scenarios: tuple[tuple[str, str], ...] = ()

    @property
    def leading(self) -> tuple[Exhibit, Figure] | None:
        """The figure that stands beside the result, and the exhibit that it is of; `None` if there is none."""
        return next(((exhibit, exhibit.figures[0]) for exhibit in self.exhibits if exhibit.figures), None)


def draw(name: str, caption: str, drawing: Drawing, charts: Sequence[Chart] = ()) -> Figure:
    """Return a figure with its files."""
    svg, png = plots.to_bytes(drawing, "svg"), plots.to_bytes(drawing, "png")
    return Figure(name=name, caption=caption, svg=svg, png=png, charts=tuple(charts))


def verdicts(claims: Sequence[JudgedClaim]) -> list[tuple[str, int]]:
    """Return how many claims have each verdict, and how many are by construction and so count as none of them."""
    counted = [claim.verdict for claim in claims if not claim.by_construction]
    words = [(word, counted.count(word)) for word in ("holds", "fails", "cannot tell")]
    return words if len(counted) == len(claims) else [*words, ("by construction", len(claims) - len(counted))]


def worlds_of(claims: Iterable[JudgedClaim]) -> list[str]:
    """Return the worlds that some claim was judged in beside the declared one, in their order."""
    return list(dict.fromkeys(name for claim in claims for name in claim.worlds))


def elsewhere(claims: Sequence[JudgedClaim]) -> list[tuple[str, list[str]]]:
    """Return a column for each world beside the declared one: its name, and a mark for each claim."""
    marks = {"cannot tell": "?"}
    words = {name: [claim.worlds.get(name, "") for claim in claims] for name in worlds_of(claims)}
    return [(name, [marks.get(word, word) for word in column]) for name, column in words.items()]


def verdict(claim: JudgedClaim) -> str:
    """Return the verdict on a claim as a table has it."""
    return f"{claim.verdict}, by construction" if claim.by_construction else claim.verdict
