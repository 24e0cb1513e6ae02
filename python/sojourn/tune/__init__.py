"""Parameters for a given link: what `sojourn tune` does.

`link`, `loads`, `space` and `goals` read the question; `bench` runs settings, `search` proposes them, `study` leads
from the question to the answer; `front` and `sensitivity` are mathematics; `answer`, `words` and `figure` say what
came of it.
"""
