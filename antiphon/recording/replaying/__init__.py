"""Recorded steps done again by today's code. Read `replay.py` first; `checks/` has one file for each component."""
