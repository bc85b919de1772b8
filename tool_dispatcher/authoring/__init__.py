"""The API for authors of tools: the decorator, the contract, and the schema derived from a function's type hints.

Read `tool.py` first.
"""
