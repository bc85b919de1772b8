"""Processes of two releases on one Redis: what an earlier one began, this one ends, and the other way round."""
