"""Recorded sessions, repeated by today's code: verified, compared, updated, forked and run again.

Read `steps/repeat.py` first, which repeats every step of a recording, and `checks/`, which compares the results by
kind of step; then `verify.py`.
"""
