"""The run of each unit of a batch, from its arguments to its settled results. Read `call.py` first."""
