"""Recorded sessions of the real pipeline, and how they are made: see README.md."""
