"""The replay of recorded sessions by today's code: they are verified, compared, updated, forked and run again.

First read `steps/repeat.py`, which repeats every step of a recording, and `checks/`, which compares the results by
kind of step; then `verify.py`.
"""
