"""What an author of tools works with: the decorator, the contract, and what is made of a function and its hints.

Read `tool.py` first.
"""
