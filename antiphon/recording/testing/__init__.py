"""What the pytest plugin is made of. No file here imports pytest."""
