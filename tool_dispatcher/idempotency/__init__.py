"""Writes that happen once: claimed before they run, settled after, and never silently run again.

Start reading at `once.py`: the life of one write. The scripts beside it are its transitions.
"""
