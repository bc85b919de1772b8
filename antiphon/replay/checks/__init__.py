"""The check of each component, one file each: its recorded steps, repeated by its own pure code."""
