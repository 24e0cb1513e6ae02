"""Hostile inputs by the thousand, from a seed: `python -m tests.hostile --seed N --count N`.

Each input is a command line and the files that it reads, damaged on purpose. It runs in a process of its own, with a
limit of time and of memory, beside files that it must not touch. What counts is how it ends: with a result or with a
sentence, and never with an internal error, a traceback, a hang, a signal, a lost file or what steers a terminal.
"""
