"""Flent's data files (https://flent.org): runs out, measurements in.

The format is described in docs/formats.md. Flent itself is neither needed nor imported.
"""

from sojourn.interop.flent.export import data_file, export
from sojourn.interop.flent.read import Imported, read

__all__ = ["Imported", "data_file", "export", "read"]
