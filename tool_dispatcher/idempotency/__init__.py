"""Writes that happen once: claimed before they run, settled after, and never silently run again.

Read running/write.py first, which makes one write, then `claims.py`. The Lua scripts are the transitions of its record.
"""
