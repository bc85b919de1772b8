"""Recorded calls to a model, found by the content of a request; each is used once."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import Literal

from pydantic_core import to_json

from antiphon.replay.requests import request_hash
from antiphon.replay.serving.recording_index import RecordedRequest

_LINES_MAX = 2_000
_DIFF_LINES_MAX = 200
_COMPARED_MAX = 200


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that was not recorded, and so was refused."""

    session_id: str
    of: Literal["model", "tool"]
    request: str
    """The request, in a sentence."""
    diff: str = ""
    """The difference from the nearest recorded request."""


class Exchanges:
    """All model calls of one recording; the n-th equal request gets the n-th recorded answer."""

    def __init__(self, session_id: str, calls: Iterable[RecordedRequest], misses: list[Miss]) -> None:
        """Create the calls of one session; requests that were not recorded are added to `misses`."""
        self._session_id, self._all, self._misses = session_id, list(calls), misses
        self._unused: dict[str, deque[RecordedRequest]] = defaultdict(deque)
        for asked in self._all:
            self._unused[request_hash(asked.request)].append(asked)

    def take(self, request: Mapping[str, object]) -> RecordedRequest | None:
        """Return the recorded call of a request; if it was not recorded, note a miss and return None."""
        if left := self._unused.get(request_hash(request)):
            return left.popleft()
        self._misses.append(self._miss(request))
        return None

    def _miss(self, request: Mapping[str, object]) -> Miss:
        problem = f"a request to the model {request.get('model')!r} was not recorded"
        if request_hash(request) in self._unused:
            return Miss(self._session_id, "model", problem + " so often")
        lines = request_lines(request)
        others = [request_lines(one.request) for one in self._all[:_COMPARED_MAX]]
        nearest = max(others, key=lambda other: _likeness(other, lines), default=[])
        diff = unified_diff(nearest, lines, "recorded", "today", lineterm="", n=1)
        return Miss(self._session_id, "model", problem, "\n".join(list(diff)[:_DIFF_LINES_MAX]))


def request_lines(request: Mapping[str, object]) -> list[str]:
    """Return a request as a limited number of lines for a diff."""
    lines: list[str] = []
    for name, value in sorted(request.items()):
        if name == "stream":
            continue
        for part in value if isinstance(value, list) else [value]:
            lines += [f"{name}:", *(f"  {line}" for line in _part_text(part).splitlines())]
    return lines[:_LINES_MAX]


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and (text := part.get("text", part.get("content"))) and isinstance(text, str):
        return text
    return to_json(part, indent=2).decode()


def _likeness(one: list[str], other: list[str]) -> float:
    """Return the similarity of two texts, from 0 to 1, by their common lines, in linear time."""
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / max(1, len(one) + len(other))
