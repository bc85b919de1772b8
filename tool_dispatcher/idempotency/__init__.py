"""Writes that happen once: claimed before they run, settled after, and never silently run again.

Read `once.py` first: the life of one write. The Lua scripts are its transitions.
"""
