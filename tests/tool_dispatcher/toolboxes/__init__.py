"""Modules as a deployment would name them in ANTIPHON_TOOLS."""
