"""The limits that a server reports in the headers of a reply. Pure, and total: headers may hold anything.

The names are those of the Messages API: `anthropic-ratelimit-<meter>-limit`, `-remaining` and `-reset`, the
last the time at which the limit is fully available again, as RFC 3339
(https://docs.claude.com/en/api/rate-limits). Limits are per minute. Chat completions have
`x-ratelimit-limit-<meter>`, `-remaining-<meter>` and `-reset-<meter>`, the last a duration such as `6m0s`
(https://platform.openai.com/docs/guides/rate-limits).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from reasoning_engine.limits.meters import METERS, Meter
from reasoning_engine.wires import Wire

MINUTE_S = 60.0
_LIMITS: Mapping[Meter, range] = {
    meter: range(1 if meter == "requests" else 100, 10**9 + 1) for meter in METERS
}
"""The plausible limits per minute."""
_DIGITS_MAX = 12
_CHAT_METERS: tuple[Meter, ...] = ("requests", "tokens")
_BY_THE_MINUTE_S_MAX = 2 * MINUTE_S
"""The time within which a limit per minute is fully available again, rounding included."""
_NUMBER = r"(\d{1,9}(?:\.\d{1,9})?)"
_DURATION = re.compile(
    rf"(?:{_NUMBER}d)?(?:{_NUMBER}h)?(?:{_NUMBER}m)?(?:{_NUMBER}s)?(?:{_NUMBER}ms)?", re.ASCII
)
_DURATION_CHARACTERS_MAX = 60
_UNITS_S = (86_400.0, 3_600.0, 60.0, 1.0, 0.001)


@dataclass(frozen=True, slots=True)
class ReportedLimits:
    """The reported limit of one meter."""

    limit: int
    remaining: int | None = None
    """The remaining part of it, or None if the server does not report it."""


def limits_in(headers: Mapping[str, str], wire: Wire = "messages") -> dict[Meter, ReportedLimits]:
    """Return the reported limits by meter, without absent and implausible ones."""
    return dict(_reported_by_chat(headers) if wire == "chat" else _reported_by_messages(headers))


def _reported_by_messages(headers: Mapping[str, str]) -> Iterator[tuple[Meter, ReportedLimits]]:
    for meter in METERS:
        name = f"anthropic-ratelimit-{meter.replace('_', '-')}"
        limit = _count(headers.get(f"{name}-limit"))
        if limit is not None and limit in _LIMITS[meter]:
            yield meter, ReportedLimits(limit, _remaining(headers, name, limit))


def _reported_by_chat(headers: Mapping[str, str]) -> Iterator[tuple[Meter, ReportedLimits]]:
    """Yield the limits that chat completions report for requests and tokens, if they are per minute.

    Some accounts have daily limits under the same names. Those refill so slowly that the reset time reveals
    them.
    """
    for meter in _CHAT_METERS:
        limit = _count(headers.get(f"x-ratelimit-limit-{meter}"))
        if limit is None or limit not in _LIMITS[meter]:
            continue
        left = _count(headers.get(f"x-ratelimit-remaining-{meter}"))
        until_s = _duration_s(headers.get(f"x-ratelimit-reset-{meter}", ""))
        used = limit - left if left is not None and left < limit else 0
        if used and until_s is not None and until_s * limit / used > _BY_THE_MINUTE_S_MAX:
            continue
        yield meter, ReportedLimits(limit, None if left is None else min(left, limit))


def _duration_s(value: str) -> float | None:
    """Return the seconds of a duration such as `6m0s`, `1.5s` or `20ms`; None for anything else."""
    match = _DURATION.fullmatch(value[:_DURATION_CHARACTERS_MAX])
    if not value or match is None:
        return None
    return sum(float(part) * unit for part, unit in zip(match.groups("0"), _UNITS_S, strict=True))


def _remaining(headers: Mapping[str, str], name: str, limit: int) -> int | None:
    """Return the reported remainder, or one computed from the reset time on the assumption of even refilling."""
    if (left := _count(headers.get(f"{name}-remaining"))) is not None:
        return min(left, limit)
    try:
        reset = datetime.fromisoformat(headers.get(f"{name}-reset", ""))
        until_s = (reset - parsedate_to_datetime(headers.get("date", ""))).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return int(limit * (1 - until_s / MINUTE_S)) if 0 <= until_s <= MINUTE_S else None


def _count(value: str | None) -> int | None:
    """Return a plain whole number; None for any other text."""
    if value is None or len(value) > _DIGITS_MAX or not (value.isascii() and value.isdigit()):
        return None
    return int(value)
