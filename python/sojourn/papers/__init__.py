"""The papers that `sojourn reproduce` runs again."""

from sojourn.papers.kit.paper import PAPERS, Paper, Profile

__all__ = ["PAPERS", "Paper", "Profile"]
