"""Running the units of a batch, each from its arguments to its settled results. Read `call.py` first."""
