"""Where the built pages of `web/` are: in a package beside the code, in a checkout where `make web` puts them.

The pages need Node to be built, and nothing else of Sojourn does, so they may be absent.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent
#: What a wheel holds.
_INSTALLED = _PACKAGE / "view" / "static"
_CHECKOUT = _PACKAGE.parents[1]


def built(name: str) -> Path | None:
    """Return a built file, such as `view.html`; `None` if the pages were not built."""
    folders = [_INSTALLED]
    if (_CHECKOUT / "web" / "package.json").is_file():
        folders.append(_CHECKOUT / "out" / "web")
    return next((folder / name for folder in folders if (folder / name).is_file()), None)
