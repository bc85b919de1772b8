"""Recordings verified by two codes: today's, and that of a git ref or of a released version."""
