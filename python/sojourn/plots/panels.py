"""What the figures of many panels share: the order of links, means with whiskers, and what to show for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from sojourn.plots import style
from sojourn.store.cell import link_words

#: Numbers of repeats; `None` or NaN stands for a repeat that has none.
Values = Sequence[float | None] | npt.NDArray[np.float64]

#: Cross traffic as Table 2 of seed 000 words it; the upper row of its figures comes first.
LOADS = ("1 stream", "RRUL")
#: Links of seed 000, down/up, in the order of its figures 2 and 7, and in that of Table 2 and Fig. 6.
FALLING = ("100/100", "10/10", "10/1")
RISING = FALLING[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Mean and sample standard deviation over repeats; `None` without a repeat, and for the deviation of one."""

    mean: float | None
    deviation: float | None


def spread(values: Values) -> Spread:
    """Return mean and standard deviation (n - 1), repeats without a number left out."""
    there = finite(values)
    return Spread(
        mean=float(there.mean()) if len(there) else None,
        deviation=float(there.std(ddof=1)) if len(there) > 1 else None,
    )


def finite(values: Values) -> npt.NDArray[np.float64]:
    """Return the values that are there."""
    numbers = np.asarray([np.nan if value is None else value for value in values], dtype=np.float64)
    return numbers[np.isfinite(numbers)]


def in_order(found: Iterable[str], order: Sequence[str]) -> list[str]:
    """Return what was found, each once: first what `order` has, in its order, then the rest as it came."""
    there = list(dict.fromkeys(found))
    return [name for name in order if name in there] + [name for name in there if name not in order]


def labels_of(panels: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the disciplines of all panels, each once, in the order of their first appearance."""
    return list(dict.fromkeys(chain.from_iterable(panels)))


def link_title(link: str) -> str:
    """Return a link as a panel's title."""
    return link_words(link)


def load_title(load: str) -> str:
    """Return a cross traffic as a row's title."""
    return {"1 stream": "1 TCP stream", "RRUL": "RRUL"}.get(load, load)


def whisker(axis: Axes, place: float, found: Spread) -> None:
    """Draw one standard deviation to either side of a mean."""
    if found.mean is None or found.deviation is None:
        return
    # A white line beneath keeps the lower half visible on a dark bar.
    for colour, width in (("white", 2.6), (style.INK, 1.0)):
        axis.errorbar(
            place,
            found.mean,
            yerr=found.deviation,
            fmt="none",
            ecolor=colour,
            elinewidth=width,
            capsize=2.6,
            capthick=width,
            zorder=3,
        )


def say_no_data(axis: Axes, *, keep_labels: bool = False) -> None:
    """Write into an empty panel that it is empty; `keep_labels` keeps those of an x axis that others share."""
    axis.text(0.5, 0.5, "no data", transform=axis.transAxes, ha="center", va="center", color=style.FAINT, fontsize=11)
    axis.grid(visible=False)
    axis.tick_params(left=False, bottom=False, labelleft=False)
    if not keep_labels:
        axis.tick_params(labelbottom=False)


def say_no_bar(axis: Axes, place: float) -> None:
    """Write where a bar would be that there is none."""
    axis.text(
        place,
        0.02,
        "no data",
        transform=axis.get_xaxis_transform(),
        rotation=90,
        ha="center",
        va="bottom",
        color=style.FAINT,
        fontsize=7.5,
    )


def say_missing(axis: Axes, labels: Sequence[str], *, y: float = 0.03) -> None:
    """Name the disciplines that a panel has no line of."""
    if labels:
        names = ", ".join(style.short_names(list(labels)).values())
        axis.text(
            0.98,
            y,
            f"no data: {names}",
            transform=axis.transAxes,
            ha="right",
            va="bottom",
            color=style.FAINT,
            fontsize=8.5,
        )
