"""The parts of a fork: the restored state, the changes, and its import into a Redis."""
