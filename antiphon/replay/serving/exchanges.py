"""Recorded calls to a model, found by the content of a request. Pure, except that it remembers used calls."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any, Literal

from pydantic_core import to_json

from antiphon.replay.requests import request_hash
from antiphon.replay.serving.recording_index import Asked, RecordingIndex

Match = Literal["strict", "semantic"]
"""`strict`: the same request. `semantic`: the same except for white space, ids of calls, the order of tools
and the limit of output tokens.
"""

_LINES_MAX = 2_000
_DIFF_LINES_MAX = 200
_COMPARED_MAX = 200
_CALL_ID = re.compile(r"\b(?:toolu|call)_[A-Za-z0-9_-]{1,180}")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that the recording does not hold. It was refused, and nothing was called."""

    session_id: str
    of: Literal["model", "tool"]
    asked: str
    """The request, in a sentence."""
    diff: str = ""
    """The difference from the nearest recorded request."""


class Exchanges:
    """All model calls of one recording. The n-th equal request gets the n-th recorded answer."""

    def __init__(self, session_id: str, calls: Iterable[Asked], match: Match = "strict") -> None:
        self.misses: list[Miss] = []
        self._session_id, self._all = session_id, list(calls)
        self._used: set[int] = set()
        self._names = (request_hash,) if match == "strict" else (request_hash, semantic_hash)
        self._by_name: dict[str, list[int]] = {}
        for number, asked in enumerate(self._all):
            for name in self._names:
                self._by_name.setdefault(name(asked.request), []).append(number)

    @classmethod
    def of(cls, recording_index: RecordingIndex, match: Match = "strict") -> "Exchanges":
        """Return the calls of a recording."""
        exchanges = recording_index.exchanges.values()
        return cls(recording_index.session_id, (call for one in exchanges for call in one.calls), match)

    def take(self, request: Mapping[str, Any]) -> Asked | None:
        """Return the recorded call of a request; if it was not recorded, note a miss and return None."""
        for name in self._names:
            for number in self._by_name.get(name(request), ()):
                if number not in self._used:
                    self._used.add(number)
                    return self._all[number]
        self.misses.append(self._miss(request))
        return None

    def _miss(self, request: Mapping[str, Any]) -> Miss:
        asked = f"a request to the model {request.get('model')!r} was not recorded"
        if any(request_hash(one.request) == request_hash(request) for one in self._all):
            return Miss(self._session_id, "model", asked + " so often")
        lines = shown(request)
        others = [shown(one.request) for one in self._all[:_COMPARED_MAX]]
        nearest = max(others, key=lambda other: _likeness(other, lines), default=[])
        diff = unified_diff(nearest, lines, "recorded", "today", lineterm="", n=1)
        return Miss(self._session_id, "model", asked, "\n".join(list(diff)[:_DIFF_LINES_MAX]))


def semantic_hash(request: Mapping[str, Any]) -> str:
    """Return the same hash for requests that differ only in white space, ids of calls, tool order and `max_tokens`."""
    content = {name: _plain(value) for name, value in request.items() if name != "max_tokens"}
    if isinstance(tools := content.get("tools"), list):
        content["tools"] = sorted(map(_uncached, tools), key=to_json)
    return request_hash(content)


def shown(request: Mapping[str, Any]) -> list[str]:
    """Return a request as lines for a diff, bounded."""
    lines: list[str] = []
    for name, value in sorted(request.items()):
        if name == "stream":
            continue
        for part in value if isinstance(value, list) else [value]:
            lines += [f"{name}:", *(f"  {line}" for line in _shown_part(part).splitlines())]
    return lines[:_LINES_MAX]


def _shown_part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and (text := part.get("text", part.get("content"))) and isinstance(text, str):
        return text
    return to_json(part, indent=2).decode()


def _likeness(one: list[str], other: list[str]) -> float:
    """Return the likeness of two texts, by their common lines; linear."""
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / max(1, len(one) + len(other))


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return _SPACE.sub(" ", _CALL_ID.sub("call", value)).strip()
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _uncached(tool: Any) -> Any:
    """Return a tool without the cache breakpoint, which is on the last tool."""
    return (
        {key: value for key, value in tool.items() if key != "cache_control"}
        if isinstance(tool, dict)
        else tool
    )
