"""How Sojourn's figures look: one colour and one marker for each discipline, in this one place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from textwrap import fill
from typing import Any
from zlib import crc32

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.typing import LineStyleType

#: By what a discipline is called in figures: colour and marker. The colours are Okabe and Ito's palette, which
#: colour-blind readers can tell apart: FIFO dark, AQMs warm, fair queueing cool.
_STYLES = {
    "pfifo_fast": ("#333333", "s"),
    "pfifo": ("#333333", "s"),
    "ared": ("#E69F00", "^"),
    "red": ("#E69F00", "^"),
    "pie": ("#D55E00", "v"),
    "codel": ("#CC79A7", "D"),
    "sfq": ("#56B4E9", "P"),
    "fq_codel": ("#0072B2", "o"),
    "fq_nocodel": ("#009E73", "X"),
    "fifo": ("#333333", "s"),
    "fq_mac": ("#009E73", "X"),
    "airtime": ("#D55E00", "v"),
}
#: What has a style of its own.
NAMES = frozenset(_STYLES)
_COLOURS = {name: colour for name, (colour, _) in _STYLES.items()}
_MARKERS = {name: marker for name, (_, marker) in _STYLES.items()}
_OTHER_COLOURS = ("#8C564B", "#7A6FAC", "#6B8E23", "#B5485D", "#17868F", "#A8822E")
_OTHER_MARKERS = ("<", ">", "p", "h", "d", "*")

#: Lines of disciplines that often coincide with another's: a dashed line shows the one beneath.
_DASHES = {"fq_nocodel": (0, (4.0, 2.0))}

#: From this ratio of largest to smallest value on, an axis of times is logarithmic.
WIDE_RATIO = 8.0

#: Characters of a label that still go beside a plot.
LONGEST_BESIDE = 24

#: Two sides that are compared, and are no disciplines.
SIDES = ("#0072B2", "#D55E00")
INK = "#1b1f24"
FAINT = "#8b949e"
GRID = "#e3e6ea"

_RC: dict[Any, Any] = {
    "figure.facecolor": "white",
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10.0,
    "axes.titlesize": 12.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10.0,
    "axes.labelsize": 10.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    # A name may hold a dollar sign, which would begin a formula; the figures have none.
    "text.parse_math": False,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.6,
    "svg.hashsalt": "sojourn",
    "svg.fonttype": "path",
}


def kind(label: str) -> str:
    """Return what a discipline is called in a figure: `gbw:codel` is `codel`, tc text keeps its first word."""
    return label.rsplit(":", 1)[-1].split(maxsplit=1)[0] if label.strip() else label


def colours(labels: list[str]) -> dict[str, str]:
    """Return a colour for each label: its discipline's own, if no other label has taken it."""
    return _assign(labels, _COLOURS, _OTHER_COLOURS)


def markers(labels: list[str]) -> dict[str, str]:
    """Return a marker for each label, by the same rule."""
    return _assign(labels, _MARKERS, _OTHER_MARKERS)


def dashes(labels: list[str]) -> dict[str, LineStyleType]:
    """Return a line style for each label."""
    return {label: _DASHES.get(kind(label), "-") for label in labels}


def log_ticks(axis: Axis) -> None:
    """Label a logarithmic axis at 1, 2 and 5 times the powers of ten, in plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def line_handles(labels: list[str]) -> list[Line2D]:
    """Return what a legend of lines shows."""
    colour, dash, names = colours(labels), dashes(labels), short_names(labels)
    return [
        Line2D([], [], color=colour[label], linestyle=dash[label], linewidth=2.5, label=names[label])
        for label in labels
    ]


def wrapped(text: str, width: int) -> str:
    """Return a title in lines of at most `width` characters, no more than three for each of its own lines."""
    return "\n".join(fill(line, width, max_lines=3, placeholder=" …") for line in text.splitlines())


def short_names(labels: list[str]) -> dict[str, str]:
    """Return the shortest name of each label that tells it from the others: its kind, or all of it."""
    kinds = [kind(label) for label in labels]
    return {label: name if kinds.count(name) == 1 else label for label, name in zip(labels, kinds, strict=True)}


def _assign(labels: list[str], own: dict[str, str], others: tuple[str, ...]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    spare = list(others)
    for label in labels:
        mine = own.get(kind(label))
        if mine is None or mine in chosen.values():
            mine = spare.pop(0) if spare else others[crc32(label.encode()) % len(others)]
        chosen[label] = mine
    return chosen


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the house style; the caller's own settings are left as they were."""
    with mpl.rc_context(_RC):
        yield


@contextmanager
def canvas(width: float, height: float) -> Iterator[Figure]:
    """Draw on a figure of a size in inches, in the house style; its parts make room for each other."""
    with house_style():
        yield Figure(figsize=(width, height), layout="constrained")


def add_title(figure: Figure, title: str) -> None:
    """Put a title above a figure, if there is one."""
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, weight="bold")


def add_legend(figure: Figure, handles: Sequence[Artist], *, title: str | None = None) -> None:
    """Put a legend beside the plots, or below them if its words are long."""
    longest = max(len(str(handle.get_label())) for handle in handles)
    if longest <= LONGEST_BESIDE:
        figure.legend(handles=handles, loc="outside right center", title=title, alignment="left")
    else:
        figure.legend(handles=handles, loc="outside lower left", title=title, alignment="left")
