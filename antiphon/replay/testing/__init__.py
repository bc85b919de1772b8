"""The parts of the pytest plugin. Only `choices.py` and `items.py` import pytest."""
