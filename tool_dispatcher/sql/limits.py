"""The limits of a query. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a query; a query that exceeds one of them fails."""

    cpu_s: int = 10
    memory_mb: int = 256
    rows_max: int = 100_000
    bytes_max: int = 10_000_000
    """The size of the result as JSON."""
