"""Recordings: a session's events with how each step came about, as a file; and what can be done with one.

Read `lines.py` first, which says what stands in a file, then `replay.py`, which does every step again.
"""
