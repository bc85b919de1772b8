"""The same trips booked by rounds with ten tools, and by one call of a workflow, under failures."""
