"""The process around a component: its settings, logs, clock, ids, health and errors."""
