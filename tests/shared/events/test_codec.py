"""The edge where bytes become events: nothing is guessed, nothing crashes."""

from typing import Any

import orjson
import pytest
from antiphon_shared.events import (
    ApprovalDecided,
    BriefingRequested,
    CancellationRequested,
    EventData,
    QuerySubmitted,
    QuestionAnswered,
    ToolsCompleted,
    decode,
    encode,
)
from antiphon_shared.events.codec import EVENT_DATA
from antiphon_shared.formats import Upcaster
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import ToolResult
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row
from tests.shared.events.examples import ENTRY, EXAMPLES, an_event, named

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def fields_of(data: EventData) -> dict[str, Any]:
    """Return the event's JSON, to be damaged."""
    fields: dict[str, Any] = orjson.loads(encode(an_event(data)))
    return fields


def test_every_event_has_an_example() -> None:
    assert [type(example) for example in EXAMPLES] == list(EVENT_DATA)


@each_row("data", EXAMPLES, ids=named)
def test_an_event_survives_its_journey(data: EventData) -> None:
    event = an_event(data)
    assert decode(encode(event)) == event


@each_row("data", EXAMPLES, ids=named)
def test_an_event_meets_the_cloudevents_specification(data: EventData) -> None:
    fields = fields_of(data)
    assert fields["specversion"] == "1.0"
    assert fields["type"] == data.type
    assert fields["subject"] == "s1"
    assert fields["datacontenttype"] == "application/json"
    assert fields["time"] == "2026-11-21T12:00:00Z"


@pytest.mark.parametrize(
    "data", [e for e in EXAMPLES if isinstance(e, ApprovalDecided | QuestionAnswered)], ids=named
)
@pytest.mark.parametrize("calls", [["c"] * 1_001, ["c" * 201]])
def test_the_calls_of_an_approval_request_are_bounded(data: EventData, calls: list[str]) -> None:
    fields = fields_of(data)
    fields["data"]["calls"] = calls
    with pytest.raises(UnreadableEvent, match="calls"):
        decode(orjson.dumps(fields))


@given(content=json_values)
def test_the_data_of_a_tool_result_survives_encoding(content: Any) -> None:
    """Nulls too: only fields of ours are left out when they are null."""
    result = ToolResult(index=0, call_id="t1", tool="t", status="ok", data=content)
    event = an_event(ToolsCompleted(round=1, results=(result,)))
    assert decode(encode(event)) == event


@each_row("data", EXAMPLES, ids=named)
def test_an_unknown_field_is_refused_by_name(data: EventData) -> None:
    fields = fields_of(data)
    fields["data"]["surplus"] = 1
    with pytest.raises(UnreadableEvent, match=r"data\.surplus"):
        decode(orjson.dumps(fields))


@each_row("data", EXAMPLES, ids=named)
def test_a_missing_field_is_named(data: EventData) -> None:
    for name, info in type(data).model_fields.items():
        if info.is_required():
            fields = fields_of(data)
            del fields["data"][name]
            with pytest.raises(UnreadableEvent, match=rf"data\.{name}: Field required"):
                decode(orjson.dumps(fields))


def test_an_event_without_a_type_lacks_a_field_and_the_reason_is_a_sentence() -> None:
    with pytest.raises(UnreadableEvent, match=r"^type: there is no field 'type'\. `antiphon events schema`"):
        decode(b'{"a": 1}')


@each_row(
    ("where", "value", "named_field"),
    [
        (("data", "round"), "2", "data.round"),
        (("data", "round"), 2.0, "data.round"),
        (("data", "round"), True, "data.round"),
        (("data", "round"), None, "data.round"),
        (("data", "round"), 0, "data.round"),
        (("data", "question"), "yesterday", "data.question"),
        (("data", "level"), "detailed", "data.level"),
        (("data",), [], "data"),
        (("data",), None, "data"),
        (("id",), "not-a-uuid", "id"),
        (("id",), 7, "id"),
        (("specversion",), "0.3", "specversion"),
        (("source",), "", "source"),
        (("subject",), "", "subject"),
        (("subject",), "../etc", "subject"),
        (("subject",), "s1\n", "subject"),
        (("subject",), "s" * 129, "subject"),
        (("time",), "yesterday", "time"),
        (("time",), 1732190400, "time"),
        (("time",), "2026-11-21T12:00:00", "time"),
        (("traceparent",), "00-xyz", "traceparent"),
        (("surplus",), 1, "surplus"),
        (("type",), "antiphon.unheard.of.v1", "type"),
        (("type",), None, "type"),
        (("type",), [], "type"),
        (("type",), {"v": 1}, "type"),
    ],
)
def test_a_field_at_fault_is_named_and_nothing_is_coerced(
    where: tuple[str, ...], value: Any, named_field: str
) -> None:
    fields = fields_of(BriefingRequested(round=2, max_rounds=4, question=ENTRY))
    place = fields
    for step in where[:-1]:
        place = place[step]
    place[where[-1]] = value
    with pytest.raises(UnreadableEvent, match="antiphon events schema") as caught:
        decode(orjson.dumps(fields))
    assert caught.value.message.startswith(f"{named_field}: ")


GOOD = encode(
    an_event(
        ToolsCompleted(
            round=1, results=(ToolResult(index=0, call_id="t1", tool="t", status="ok", data="HERE"),)
        )
    )
)


def with_data(content: bytes) -> bytes:
    """Return a good event whose one tool result holds `content`."""
    return GOOD.replace(b'"HERE"', content)


@each_row(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b"7",
        b'"event"',
        b"{}",
        b"\xff\xfe\x00",
        GOOD[:-1],
        GOOD + b"x",
        GOOD.replace(b'"test"', b'"\xff"'),
        GOOD.replace(b'"test"', b'"\\ud800"'),
        b"[" * 100_000,
        b'{"data":' * 100_000,
        with_data(b"[" * 1000 + b"]" * 1000),
        with_data(b"NaN"),
        with_data(b"-Infinity"),
        with_data(b"9" * 5000),
        GOOD.replace(b'"round":1', b'"round":1e999'),
        GOOD.replace(b'"round":1', b'"round":' + b"9" * 30),
        GOOD.replace(b'"round":1', b'"round":' + b"9" * 5000),
    ],
    ids=lambda raw: repr(raw[:20]),
)
def test_malformed_bytes_are_unreadable_and_raise_nothing_else(raw: bytes) -> None:
    with pytest.raises(UnreadableEvent, match="antiphon events schema"):
        decode(raw)


@given(raw=st.binary(max_size=300))
def test_any_bytes_at_all_are_read_or_refused(raw: bytes) -> None:
    with pytest.raises(UnreadableEvent):
        decode(raw)


def test_text_that_looks_like_nan_is_allowed() -> None:
    event = an_event(QuerySubmitted(query="Is NaN smaller than Infinity?"))
    assert decode(encode(event)) == event


def test_the_reason_stays_short_for_any_input() -> None:
    fields = fields_of(CancellationRequested()) | {"x" * 100_000: 1, "type": "y" * 100_000}
    with pytest.raises(UnreadableEvent) as caught:
        decode(orjson.dumps(fields))
    assert len(str(caught.value)) < 2000


OLDEST, OLDER = "antiphon.query.asked.v1", "antiphon.query.asked.v2"


def renames(old: str, new: str) -> Upcaster:
    def carry_over(data: dict[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in data.items() if name != old}
        return {**kept, new: data[old]}

    return carry_over


CHAIN = {
    OLDEST: (OLDER, renames("q", "question")),
    OLDER: (QuerySubmitted.type, renames("question", "query")),
}


def an_old_event(data: Any, kind: str = OLDEST) -> bytes:
    return orjson.dumps(fields_of(QuerySubmitted(query="Why?")) | {"type": kind, "data": data})


@pytest.mark.parametrize(("kind", "field"), [(OLDEST, "q"), (OLDER, "question")])
def test_an_old_event_is_brought_to_its_current_version(kind: str, field: str) -> None:
    event = decode(an_old_event({field: "Why?"}, kind), CHAIN)
    assert event == an_event(QuerySubmitted(query="Why?"))


def test_an_old_event_keeps_an_integer_beyond_64_bits() -> None:
    whole = encode(
        an_event(
            ToolsCompleted(
                round=1, results=(ToolResult(index=0, call_id="t1", tool="t", status="ok", data=10**30),)
            )
        )
    )
    old = whole.replace(ToolsCompleted.type.encode(), OLDEST.encode())
    event = decode(old, {OLDEST: (ToolsCompleted.type, dict)})
    assert isinstance(event.data, ToolsCompleted)
    assert event.data.results[0].data == 10**30


def test_an_old_event_is_validated_after_it_was_carried_over() -> None:
    with pytest.raises(UnreadableEvent, match=r"data\.query"):
        decode(an_old_event({"q": 7}), CHAIN)


def test_without_an_upcaster_an_old_event_is_unreadable() -> None:
    with pytest.raises(UnreadableEvent, match="type: "):
        decode(an_old_event({"q": "Why?"}), {})


def test_a_current_event_is_not_carried_over() -> None:
    registry = {QuerySubmitted.type: (OLDEST, renames("query", "q"))}
    event = an_event(QuerySubmitted(query="Why?"))
    assert decode(encode(event), registry) == event


def _divides_by_zero(data: dict[str, Any]) -> dict[str, Any]:
    return {"query": 1 / 0}


def _forgets_to_return(data: dict[str, Any]) -> dict[str, Any]:
    return None  # type: ignore[return-value]  # the mistake under test


def _makes_what_is_no_json(data: dict[str, Any]) -> dict[str, Any]:
    return {"query": object()}


@pytest.mark.parametrize("data", [None, [], 7, "text", {}])
def test_data_an_upcaster_cannot_read_is_unreadable(data: Any) -> None:
    with pytest.raises(UnreadableEvent, match="cannot be carried over"):
        decode(an_old_event(data), CHAIN)


def test_an_old_event_without_data_is_unreadable() -> None:
    with pytest.raises(UnreadableEvent, match="cannot be carried over"):
        decode(orjson.dumps({"type": OLDEST}), CHAIN)


@pytest.mark.parametrize("broken", [_divides_by_zero, _forgets_to_return, _makes_what_is_no_json])
def test_a_broken_upcaster_makes_the_event_unreadable(broken: Upcaster) -> None:
    with pytest.raises(UnreadableEvent, match="data: "):
        decode(an_old_event({"q": "Why?"}), {OLDEST: (QuerySubmitted.type, broken)})


def test_upcasters_that_run_in_a_circle_come_to_an_end() -> None:
    circle: dict[str, tuple[str, Upcaster]] = {OLDEST: (OLDER, dict), OLDER: (OLDEST, dict)}
    with pytest.raises(UnreadableEvent, match="cycle"):
        decode(an_old_event({"q": "Why?"}), circle)
    with pytest.raises(UnreadableEvent, match="cycle"):
        decode(an_old_event({"q": "Why?"}), {OLDEST: (OLDEST, dict)})
