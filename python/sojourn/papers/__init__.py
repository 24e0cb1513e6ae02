"""The papers that `sojourn reproduce` runs again."""

from sojourn.papers.good_bad_wifi import PAPER as GOOD_BAD_WIFI
from sojourn.papers.paper import Paper

__all__ = ["PAPERS", "Paper"]

PAPERS: dict[str, Paper] = {GOOD_BAD_WIFI.name: GOOD_BAD_WIFI}
