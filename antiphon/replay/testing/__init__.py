"""The parts of the pytest plugin. No file here imports pytest."""
