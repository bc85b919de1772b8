"""A component as a process: its settings, logs, clock, ids, health and errors."""
