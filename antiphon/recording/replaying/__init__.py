"""The repetition of recorded steps with today's code. Read `replay.py` first; `checks/` has one file per component."""
