"""A session of many rounds with large results: as long as one likes, and made line by line."""

from collections.abc import Iterator

from antiphon_shared.events import AnyEvent, QuerySubmitted, ToolsCompleted
from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.process.ids import child_id
from antiphon_shared.tools.calls import ToolResult

from antiphon.recording.lines import End, EventLine, Header, Line, RecordLine
from tests.envelopes import START, an_event

RESULT_CHARACTERS = 200_000
WORDS = 'A sentence of the "document" that was found, with an é in it.\n'


def large_session(size_bytes: int, session_id: str = "large") -> Iterator[Line]:
    """Yield a question, then results up to a number of bytes, each event with its record."""
    query = an_event(QuerySubmitted(query="What do all these documents say?"), session_id)
    yield Header(antiphon="0", session_id=session_id, submitted=START, schemas="")
    yield EventLine(1, "1-0", query)
    parent, n, characters = query, 1, 0
    while characters < size_bytes:
        n += 1
        event = _results(parent, n)
        yield EventLine(n, f"{n}-0", event)
        yield RecordLine(record=BatchRecord(of=parent.id, outputs=1, batch_concurrency=1, collapse_above=3))
        parent, characters = event, characters + RESULT_CHARACTERS
    yield End(events=n, records=n - 1)


def _results(parent: AnyEvent, n: int) -> AnyEvent:
    text = (f"{n}. " + WORDS * (RESULT_CHARACTERS // len(WORDS) + 1))[:RESULT_CHARACTERS]
    result = ToolResult(index=0, call_id=f"c{n}", tool="read", status="ok", data=text)
    event = an_event(ToolsCompleted(round=min(n, 1000), results=(result,)), parent.subject)
    return event.model_copy(update={"id": child_id(parent.id, 0), "causationid": parent.id})
