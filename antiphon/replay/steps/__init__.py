"""The repetition of recorded steps with today's code. Read `repeat.py` first."""
