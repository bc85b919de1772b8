"""Runs of workflows: nodes per second, what an event costs, and how long the first node waits."""
