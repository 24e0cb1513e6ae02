"""The pages that the web experiments fetch, read from `pages.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sojourn.errors import ParamError
from sojourn.scenario import Web

#: The page that is fetched where none is named.
DEFAULT_PAGE = "google"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A web page."""

    #: What one types.
    name: str
    #: One sentence.
    summary: str
    #: Where its weight and the number of its objects come from.
    source: str
    #: Time text: from the beginning of a fetch to that of the next.
    interval: str
    #: Bytes of the main document, then of the other objects in the order in which they are asked for.
    objects: tuple[int, ...]


@cache
def pages() -> dict[str, Page]:
    """Return all pages by name."""
    text = files("sojourn.experiments").joinpath("pages.toml").read_text(encoding="utf-8")
    return {
        name: Page(name=name, **{**plain, "objects": tuple(plain["objects"])})
        for name, plain in tomllib.loads(text).items()
    }


def client(page: str, cc: str) -> Web:
    """Return the web client that fetches a page.

    Raises `ParamError` if there is no page of that name.
    """
    if page not in pages():
        message = f"page is {page!r}, but must be one of {', '.join(pages())}"
        raise ParamError(message)
    found = pages()[page]
    return Web(
        name="web",
        page=page,
        objects=found.objects,
        workers=4,
        interval=found.interval,
        congestion_control=cc,
    )
