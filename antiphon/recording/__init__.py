"""Recordings of sessions as files: each event with the record of its step, and the operations on them.

Read `lines.py` first, which describes the lines of a file, then `replay.py`, which repeats every step.
"""
