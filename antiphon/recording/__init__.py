"""Recordings of sessions as files: each event with the record of its step.

Read `lines.py` first, which describes the lines of a file, then `files.py`, which reads and writes them. Everything
that runs today's code on a recording is in `antiphon/replay/`; nothing here imports it.
"""
