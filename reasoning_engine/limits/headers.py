"""What a server says of its limits in the headers of a reply. Pure, and total: headers may hold anything.

The names are those of the Messages API: `anthropic-ratelimit-<meter>-limit`, `-remaining` and `-reset`, the last the
moment when nothing is used any more, as RFC 3339 (https://docs.claude.com/en/api/rate-limits). Limits are per minute.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from reasoning_engine.limits.meters import METERS, Meter

MINUTE_S = 60.0
_LIMITS: Mapping[Meter, range] = {
    meter: range(1 if meter == "requests" else 100, 10**9 + 1) for meter in METERS
}
"""No server means less, or more, per minute."""
_DIGITS_MAX = 12


@dataclass(frozen=True, slots=True)
class Told:
    """Of one meter."""

    limit: int
    remaining: int | None = None
    """What of it is left; None when the server does not say."""


def told_by(headers: Mapping[str, str]) -> dict[Meter, Told]:
    """What the headers say of each meter; nothing of one whose limit is absent or absurd."""
    told: dict[Meter, Told] = {}
    for meter in METERS:
        limit = _count(headers.get(f"anthropic-ratelimit-{meter.replace('_', '-')}-limit"))
        if limit is not None and limit in _LIMITS[meter]:
            told[meter] = Told(limit, _remaining(headers, meter, limit))
    return told


def _remaining(headers: Mapping[str, str], meter: Meter, limit: int) -> int | None:
    """As told, or what is left when an even refilling ends at the moment told."""
    name = f"anthropic-ratelimit-{meter.replace('_', '-')}"
    if (left := _count(headers.get(f"{name}-remaining"))) is not None:
        return min(left, limit)
    try:
        reset = datetime.fromisoformat(headers.get(f"{name}-reset", ""))
        until_s = (reset - parsedate_to_datetime(headers.get("date", ""))).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return int(limit * (1 - until_s / MINUTE_S)) if 0 <= until_s <= MINUTE_S else None


def _count(value: str | None) -> int | None:
    """A plain whole number; None for what is none."""
    if value is None or len(value) > _DIGITS_MAX or not (value.isascii() and value.isdigit()):
        return None
    return int(value)
