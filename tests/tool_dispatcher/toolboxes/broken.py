"""Leaves the interpreter when imported."""

raise SystemExit("no licence")
