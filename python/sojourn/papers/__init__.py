"""The papers that `sojourn reproduce` runs again."""

from sojourn.papers.paper import PAPERS, Paper, Profile

__all__ = ["PAPERS", "Paper", "Profile"]
