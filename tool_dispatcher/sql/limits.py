"""What a query may use."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one query. One that goes beyond any of them fails."""

    cpu_s: int = 10
    memory_mb: int = 256
    rows_max: int = 100_000
    bytes_max: int = 10_000_000
    """Of the result, as JSON."""
