"""Faults put into recordings, and how a session would have gone on."""
