"""The ground floor: events, the bus, and the words all five components share.

Imports no other package of ours. Nothing outside this repository imports it.
"""
