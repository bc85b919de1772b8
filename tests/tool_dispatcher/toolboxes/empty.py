"""No tools here."""

number = 1
