"""The ground floor: events, the bus, and the types that all five components share.

It imports no other package of this repository, and is imported only from within the repository.
"""
