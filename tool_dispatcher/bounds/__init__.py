"""Bounds shared by all dispatcher processes: calls of a tool at once, and calls per period of time.

Read `slots.py` and `rate.py`; `refusals.py` holds their exceptions.
"""
