"""The results of calls in their final form: as JSON, without secrets, cut to size. Read `outcome.py` first."""
