"""Figures as bytes, the same bytes each time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter
from PIL import Image, ImageChops
from PIL.PngImagePlugin import PngInfo

from sojourn.plots.style import house_style

if TYPE_CHECKING:
    from sojourn.store.folder import ResultFolder

FORMATS = ("svg", "png")


#: Most pixels of a picture; a larger figure has fewer for each inch.
MOST_PIXELS = 40_000_000
#: A picture of a page has the fewest of these colours by which hardly a pixel, of 1, changes by so much of 255.
PAGE_COLOURS, CHANGED_PIXELS, CHANGED_COLOUR = (16, 32, 64), 0.001, 32
#: Or it has all its colours and is at most so many pixels wide, as a heat map. The smaller of both is taken.
PAGE_WIDTH, PAGE_QUALITY = 1280, 55
#: Most characters of a line of text in a figure, and most lines. More is cut out of their middle.
MOST_CHARACTERS, MOST_LINES = 160, 24


def write(folder: ResultFolder, figures: Mapping[str, Figure]) -> None:
    """Write figures by their names into `figures/` of a folder of results, in every format."""
    for name, figure in figures.items():
        for form in FORMATS:
            folder.write(f"figures/{name}.{form}", to_bytes(figure, form))


def to_bytes(figure: Figure, file_format: str) -> bytes:
    """Return the figure as SVG or PNG; raises `ValueError` if the format is another."""
    if file_format not in FORMATS:
        message = f"format is {file_format!r}, but must be one of {', '.join(FORMATS)}"
        raise ValueError(message)
    FigureCanvasAgg(figure)
    cut_texts(figure)
    buffer = BytesIO()
    # Dates would make two files of one figure differ.
    metadata = {"Date": None, "Creator": "Sojourn"} if file_format == "svg" else {"Software": "Sojourn"}
    with house_style():
        dpi = _dots(figure) if file_format == "png" else rcParams["savefig.dpi"]
        figure.savefig(buffer, format=file_format, metadata=metadata, bbox_inches="tight", pad_inches=0.12, dpi=dpi)
    return buffer.getvalue() if file_format == "svg" else _with_palette(buffer)


def cut_texts(figure: Figure) -> None:
    """Cut texts that are too long to be read: a picture is as wide as the widest of them."""
    for text in figure.findobj(Text):
        if _cut(text.get_text()) != text.get_text():
            text.set_text(_cut(text.get_text()))
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            formatter = axis.get_major_formatter()
            if isinstance(formatter, FixedFormatter):
                formatter.seq = [_cut(one) for one in formatter.seq]


def _cut(text: str) -> str:
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], "..."]
    end = MOST_CHARACTERS // 4
    return "\n".join(
        line if len(line) <= MOST_CHARACTERS else f"{line[: MOST_CHARACTERS - end - 3]}...{line[-end:]}"
        for line in lines
    )


def _dots(figure: Figure) -> float:
    """Return how many dots an inch of a picture has."""
    # Before the layout, which is made only once: so this is about the size.
    box = figure.get_tightbbox()
    dots = float(rcParams["savefig.dpi"])
    return min(dots, math.sqrt(MOST_PIXELS / max(box.width * box.height, 1e-9)))


def _with_palette(png: BytesIO) -> bytes:
    """Return the picture with 256 colours, which takes a third of the room and looks the same."""
    picture = Image.open(png).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    texts = PngInfo()
    texts.add_text("Software", "Sojourn")
    buffer = BytesIO()
    picture.save(buffer, "PNG", optimize=True, pnginfo=texts)
    return buffer.getvalue()


def for_page(png: bytes) -> bytes:
    """Return a picture as WebP, for a page that is kept: small, and as easy to read."""
    picture = Image.open(BytesIO(png)).convert("RGB")
    files = [_as_webp(_narrowed(picture), quality=PAGE_QUALITY, method=6)]
    for colours in PAGE_COLOURS:
        few = picture.quantize(colours, dither=Image.Dither.NONE).convert("RGB")
        red, green, blue = ImageChops.difference(picture, few).split()
        changed = sum(ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()[CHANGED_COLOUR:])
        if changed <= CHANGED_PIXELS * picture.width * picture.height:
            files.append(_as_webp(few, lossless=True))
            break
    return min(files, key=len)


def _narrowed(picture: Image.Image) -> Image.Image:
    height = round(picture.height * PAGE_WIDTH / picture.width)
    return picture if picture.width <= PAGE_WIDTH else picture.resize((PAGE_WIDTH, height), Image.Resampling.LANCZOS)


def _as_webp(picture: Image.Image, **how: Any) -> bytes:
    buffer = BytesIO()
    picture.save(buffer, "WEBP", **how)
    return buffer.getvalue()
