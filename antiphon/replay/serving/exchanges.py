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


@dataclass(slots=True)
class _Kept:
    session_id: str
    asked: Asked
    is_used: bool = False


class Exchanges:
    """All calls of the recordings that are run again. The n-th equal request gets the n-th recorded answer."""

    def __init__(self, scores: Iterable[RecordingIndex], match: Match = "strict") -> None:
        self.misses: list[Miss] = []
        self.served = 0
        self._all = [
            _Kept(recording_index.session_id, asked)
            for recording_index in scores
            for exchange in recording_index.exchanges.values()
            for asked in exchange.calls
        ]
        self._names = (request_hash,) if match == "strict" else (request_hash, semantic_hash)
        self._by_name: dict[str, list[_Kept]] = {}
        for kept in self._all:
            for name in self._names:
                self._by_name.setdefault(name(kept.asked.request), []).append(kept)

    def take(self, request: Mapping[str, Any], session_id: str = "") -> Asked | None:
        """Return the recorded call of a request, in the given session if any; otherwise note a miss; return None."""
        for name in self._names:
            for kept in self._by_name.get(name(request), ()):
                if not kept.is_used and session_id in ("", kept.session_id):
                    kept.is_used = True
                    self.served += 1
                    return kept.asked
        self.misses.append(self._miss(request, session_id))
        return None

    def _miss(self, request: Mapping[str, Any], session_id: str) -> Miss:
        kept = [one for one in self._all if session_id in ("", one.session_id)]
        asked = f"a request to the model {request.get('model')!r} was not recorded"
        if any(request_hash(one.asked.request) == request_hash(request) for one in kept):
            return Miss(session_id, "model", asked + " so often")
        lines = shown(request)
        others = [shown(one.asked.request) for one in kept[:_COMPARED_MAX]]
        nearest = max(others, key=lambda other: _likeness(other, lines), default=[])
        diff = unified_diff(nearest, lines, "recorded", "today", lineterm="", n=1)
        return Miss(session_id, "model", asked, "\n".join(list(diff)[:_DIFF_LINES_MAX]))


def semantic_hash(request: Mapping[str, Any]) -> str:
    """Return the same hash for requests that differ only in white space, ids of calls, tool order and `max_tokens`."""
    said = {name: _plain(value) for name, value in request.items() if name != "max_tokens"}
    if isinstance(tools := said.get("tools"), list):
        said["tools"] = sorted(map(_uncached, tools), key=to_json)
    return request_hash(said)


def shown(request: Mapping[str, Any]) -> list[str]:
    """Return a request as lines for a diff, bounded."""
    lines: list[str] = []
    for name, value in sorted(request.items()):
        if name == "stream":
            continue
        for part in value if isinstance(value, list) else [value]:
            lines += [f"{name}:", *(f"  {line}" for line in _told(part).splitlines())]
    return lines[:_LINES_MAX]


def _told(part: Any) -> str:
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
