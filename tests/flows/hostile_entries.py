"""Entries that our programs never write, for each of the six inputs: drawn at random, and real ones changed."""

import json
from dataclasses import dataclass
from typing import Any

from antiphon_shared.events import COMPONENTS, encode
from hypothesis import strategies as st

from tests.shared.events.examples import ENTRY, EXAMPLES, an_event

QUEUE = "queue"
INPUTS = (QUEUE, *COMPONENTS)
OURS = (
    "event", "signature", "log", "again", "attempt", "query", "session_id", "options", "grant", "traceparent",
    "letter", "code", "reason", "entry", "original.query", "version", "content", "session", "type", "text",
)  # fmt: skip
"""Names that mean something to us somewhere."""
SESSIONS = ("closed", "junk", "spoilt", "fresh", "other", "nobody")
"""One that has ended, one whose documents are junk, one whose keys are of other types, and three that may be new."""
HIGHEST = "18446744073709551615-18446744073709551615"

_LITERALS = (
    "null", "true", "-1", "0", "1e400", "-1e400", "NaN", "Infinity", "1" * 5_000, "-" + "9" * 400, "1.5", "[]", "{}",
    '""', '"\\ud800"', '"\\u0000"', '"\\udfff\\ud800"', "[" * 3_000 + "]" * 3_000, "[" * 40,
    '{"a":' * 500 + "1" + "}" * 500,
    '"' + "x" * 20_000 + '"', '"antiphon.query.submitted.v1"', '"closed"', '"2026-11-21T12:00:00"',
    '"9999-12-31T23:59:59Z"',
    '"0001-01-01T00:00:00Z"', "99999999999999999999", "1" + "0" * 309,
)  # fmt: skip
"""JSON values in the place of any other, and values that JSON cannot hold."""
_VALUES: tuple[bytes, ...] = (
    b"", b"x", b"\xff\xfe", b"\x00", b"\xed\xa0\x80", b"-1", b"0", b"999999", b"1000000", b"9" * 40, b"0-0", b"1-1",
    b"18446744073709551615-18446744073709551615", b"99999999999999999999-1", b"nowhere", b"{}", b"[]", b"null",
    b"{" * 2_000, b"\xf0\x9f\x98\x80", b"x" * 40_000, b"00" * 32, b"s" * 129, b"../x", b"a b", b'{"max_rounds": 1e400}',
    b'{"max_rounds": ' + b"1" * 5_000 + b"}", b'{"deadline_s": NaN}', b'{"tools": ["\\ud800"]}', b"a.b.c",
)  # fmt: skip


@dataclass(frozen=True)
class Hostile:
    """One entry: its stream, its id, and its fields. `is_signed`: with a valid signature."""

    to: str
    fields: tuple[tuple[bytes, bytes], ...]
    id: str = "*"
    is_signed: bool = False


def _paths(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [path, *(deeper for key, child in children for deeper in _paths(child, (*path, key)))]


def _with(node: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = node.copy()
    copy[path[0]] = _with(node[path[0]], path[1:], value)
    return copy


@st.composite
def events(draw: st.DrawFn) -> bytes:
    """Return a real event of any type and session, whole or with one thing changed in it."""
    data = draw(st.sampled_from(EXAMPLES))
    raw = encode(an_event(data, draw(st.sampled_from(SESSIONS))))
    change = draw(st.sampled_from(("none", "none", "literal", "literal", "literal", "added", "cut", "byte")))
    if change == "none":
        return raw
    if change == "cut":
        return raw[: draw(st.integers(0, len(raw)))]
    if change == "byte":
        at = draw(st.integers(0, len(raw) - 1))
        return raw[:at] + draw(st.binary(min_size=1, max_size=2)) + raw[at + 1 :]
    event = json.loads(raw)
    path = draw(st.sampled_from(_paths(event)))
    if change == "added":
        path = (
            (draw(st.sampled_from(("data", "id", "extra", "subject"))),)
            if not path
            else (*path[:-1], path[-1])
        )
        event = _with(event, path, "@@") if path[0] in event else {**event, path[0]: "@@"}
    else:
        event = _with(event, path, "@@")
    return json.dumps(event).replace('"@@"', draw(st.sampled_from(_LITERALS)), 1).encode()


def _names() -> st.SearchStrategy[bytes]:
    return st.sampled_from(OURS).map(str.encode) | st.binary(max_size=6)


@st.composite
def hostile(draw: st.DrawFn) -> Hostile:
    """Return an entry of the form that its input takes, and then changed; or one of no form at all."""
    to = draw(st.sampled_from(INPUTS))
    fields: dict[bytes, bytes] = {}
    if draw(st.integers(0, 9)):
        if to == QUEUE and draw(st.booleans()):
            fields = {b"query": b"How long is it?", b"session_id": draw(st.sampled_from(SESSIONS)).encode()}
        else:
            fields = {b"event": draw(events())} | ({} if to == QUEUE else {b"log": ENTRY.encode()})
    for _ in range(draw(st.integers(0, 3))):
        fields[draw(_names())] = draw(st.sampled_from(_VALUES) | st.binary(max_size=20))
    if fields and not draw(st.integers(0, 9)):
        del fields[draw(st.sampled_from(sorted(fields)))]
    if not draw(st.integers(0, 30)):
        fields |= {f"f{n}".encode(): b"x" for n in range(3_000)}
    id = draw(st.sampled_from(("*",) * 12 + ("future", "future", HIGHEST)))
    return Hostile(to, tuple((fields or {b"": b""}).items()), id, draw(st.booleans()))
