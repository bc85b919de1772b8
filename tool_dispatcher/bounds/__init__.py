"""Bounds that hold over all dispatcher processes: how many calls of a tool at once, and how many within a time.

Read `slots.py` and `rate.py`; what they raise is in `refusals.py`.
"""
