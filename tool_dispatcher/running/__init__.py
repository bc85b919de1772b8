"""The run of a batch's units, each from its arguments to its settled results. Read `call.py` first."""
