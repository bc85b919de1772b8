"""What came of a run, as it travels: JSON, without secrets, cut to size. Read `outcome.py` first."""
