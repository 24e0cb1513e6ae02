"""Files of other programs: Flent's data files, out and in, and packet captures.

Nothing here imports another program's code: the formats are written and read from their description.
"""
