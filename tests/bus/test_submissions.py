"""The meaning of an entry of the queue of submissions: read alone, at the limits of valid input."""

from datetime import UTC, datetime
from typing import Any

import pytest
from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.submissions import Unacceptable, read_submission
from antiphon_shared.events import QuerySubmitted, encode
from antiphon_shared.formats import FORMAT

from tests.bus.builders import a_query

STREAM = "antiphon:queries"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)
AGE_BEGINS_MS = 1_000_000_000_000
LARGE = 100_000


def an_entry(fields: dict[str, str | bytes], id: str = f"{NOW_MS}-0") -> Entry:
    raw = {
        name.encode(): value.encode() if isinstance(value, str) else value for name, value in fields.items()
    }
    return Entry(STREAM, id, raw)


def read(fields: dict[str, str | bytes], id: str = f"{NOW_MS}-0", bytes_max: int = LARGE) -> Any:
    return read_submission(an_entry(fields, id), STREAM, bytes_max, NOW)


def why_refused(fields: dict[str, str | bytes], **how: Any) -> tuple[str, str]:
    with pytest.raises(Unacceptable) as caught:
        read(fields, **how)
    return caught.value.message, caught.value.hint or ""


def test_the_same_entry_is_the_same_event_whenever_it_is_read() -> None:
    first, again = read({"query": "Why?"}), read({"query": "Why?"})
    assert first == again
    assert (first.subject, first.correlationid) == (str(first.id), first.id)
    assert (first.source, first.format, first.time) == ("client", FORMAT, NOW)
    assert read({"query": "Why?"}, f"{NOW_MS}-1").id != first.id


def test_an_entry_of_the_future_counts_as_of_now_and_one_of_the_past_as_of_then() -> None:
    assert read({"query": "Why?"}, f"{NOW_MS + 1}-0").time == NOW
    assert int(read({"query": "Why?"}, f"{NOW_MS - 1}-0").time.timestamp() * 1000) == NOW_MS - 1


def test_the_earliest_valid_time_is_accepted_and_the_one_before_is_not() -> None:
    assert read({"query": "Why?"}, f"{AGE_BEGINS_MS}-0").time.year == 2001
    message, hint = why_refused({"query": "Why?"}, id=f"{AGE_BEGINS_MS - 1}-0")
    assert message == f"entry: the time of the id {AGE_BEGINS_MS - 1}-0 is out of range."
    assert "XADD KEY *" in hint


def test_a_submission_may_have_exactly_as_many_bytes_as_are_allowed() -> None:
    fields: dict[str, str | bytes] = {"query": "y" * 2_000}
    size = len(encode(read(fields)))
    assert read(fields, bytes_max=size).data.query == "y" * 2_000
    assert "larger than" in why_refused(fields, bytes_max=size - 1)[0]
    assert "as JSON" in why_refused(fields, bytes_max=size - 1)[0]


def test_names_and_values_are_counted_before_anything_is_read() -> None:
    fields: dict[str, str | bytes] = {"query": b"\xff" * 10}
    assert why_refused(fields, bytes_max=15) == ("query: not UTF-8 text.", "")
    message, hint = why_refused(fields, bytes_max=14)
    assert message == "the submission is larger than 14 bytes."
    assert hint == "Shorten the query."


def test_an_event_comes_alone_and_keeps_its_id_but_not_its_time_and_causes() -> None:
    event = a_query("whole")
    submission = read({"event": encode(event.model_copy(update={"time": datetime(2020, 1, 1, tzinfo=UTC)}))})
    assert (submission.id, submission.data, submission.time) == (event.id, event.data, NOW)
    assert (submission.correlationid, submission.causationid) == (event.id, None)
    message, hint = why_refused({"event": encode(event), "grant": "a.b.c"})
    assert (message, hint) == (
        "event: cannot be combined with other fields.",
        "Put the other fields into the event.",
    )


def test_without_a_query_the_command_for_one_is_shown() -> None:
    assert why_refused({"options": "{}"}) == ("query: missing.", 'XADD antiphon:queries * query "..."')


def test_the_first_unknown_field_is_named_and_a_long_name_is_cut_off() -> None:
    assert why_refused({"query": "Why?", "speed": "1", "qery": "x"})[0] == "qery: unknown field."
    assert why_refused({"query": "Why?", "x" * 101: "1"})[0] == f"{'x' * 100}: unknown field."
    assert why_refused({"query": "Why?", "x" * 100: "1"})[0] == f"{'x' * 100}: unknown field."


@pytest.mark.parametrize("name", ["options", "session_id", "traceparent", "grant"])
def test_an_empty_field_equals_a_missing_one(name: str) -> None:
    assert read({"query": "Why?", name: ""}) == read({"query": "Why?"})


def test_the_fields_of_a_submission_appear_in_the_event() -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    given = read(
        {
            "query": "Why?",
            "session_id": "s-1",
            "traceparent": trace,
            "grant": "a.b.c",
            "options": '{"max_rounds":2}',
        }
    )
    assert (given.subject, given.traceparent) == ("s-1", trace)
    assert isinstance(given.data, QuerySubmitted)
    assert (given.data.query, given.data.grant, given.data.options.max_rounds) == ("Why?", "a.b.c", 2)


def test_the_permitted_values_are_described_in_a_sentence() -> None:
    assert why_refused({"query": ""}) == ("query: String should have at least 1 character.", "")
    assert why_refused({"query": "Why?", "grant": "y" * 8_193})[0] == (
        "grant: String should have at most 8192 characters."
    )
    assert why_refused({"query": "Why?", "options": "[]"}) == (
        "options: Input should be an object.",
        "Options must be a JSON object.",
    )
    wrong = '{"max_rounds": "3", "deadline_s": "x"}'
    assert why_refused({"query": "Why?", "options": wrong}) == (
        "options.max_rounds: Input should be a valid integer; options.deadline_s: Input should be a valid number.",
        "",
    )
