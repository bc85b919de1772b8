"""What stands around today's code while a recording is run again: the model, the tools, the clock and the people, as
they were recorded.

Read `score.py` first, what a recording says of each; then `parts/`, the five components made of today's code.
"""
