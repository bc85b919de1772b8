"""Writes that happen once: they are claimed before they run, settled after, and never silently run again.

First read running/write.py, which makes one write, then `claims.py`. The Lua scripts are the transitions of the
write's record.
"""
