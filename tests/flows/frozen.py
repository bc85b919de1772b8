"""Imported last by the fork server: the garbage collector leaves alone what all its processes share.

Each would look through all of it when it begins, and would thereby have a copy of its own.
"""

import gc

gc.collect()
gc.freeze()
