"""Processes of two releases on one Redis: work begun by an earlier release is ended by this one, and vice versa."""
