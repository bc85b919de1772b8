"""Tool sets with data of our own making, to try the pipeline with."""
