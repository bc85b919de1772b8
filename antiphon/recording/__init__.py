"""Recordings of sessions as files: each event with the record of its step.

First read `lines.py`, which describes the lines of a file, then `files.py`, which reads and writes them. All code that
runs today's code on a recording is in `antiphon/replay/`, which this package does not import.
"""
