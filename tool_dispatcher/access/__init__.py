"""Permissions of a session: its verified grant, and the rules that every call is checked against.

Read `gatekeeper.py` first.
"""
