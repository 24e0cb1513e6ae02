"""What runs return, under the names that programs import."""

from sojourn.store.cell import DisciplineRuns, gather, link_name, link_words, links
from sojourn.store.comparison import Comparison
from sojourn.store.run import RUN_FORMAT, Run, voices_in
from sojourn.store.stored_run import StoredRun

__all__ = [
    "RUN_FORMAT",
    "Comparison",
    "DisciplineRuns",
    "Run",
    "StoredRun",
    "gather",
    "link_name",
    "link_words",
    "links",
    "voices_in",
]
