"""The surroundings of today's code in a rerun: the model, the tools, the clock and the people, as recorded.

First read `recording_index.py`, which has the content of a recording for each of them, then `components/`, the five
components of today's code.
"""
