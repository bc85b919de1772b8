"""An event's outputs are written as the codec writes them, without building the events."""

from datetime import UTC, datetime

from antiphon_shared.bus.replies import Replies, reply
from antiphon_shared.events import (
    AssemblyOverdue,
    CancellationRequested,
    ComponentFailed,
    EventData,
    QuerySubmitted,
    encode,
)
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.process.errors import ErrorInfo

from tests.bus.builders import a_query
from tests.rows import each_row

ON_THE_SECOND = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TRACE = f"00-{'1' * 32}-{'2' * 16}-01"


@each_row("format", [1, 2])
@each_row("traceparent", [None, TRACE])
@each_row("now", [ON_THE_SECOND, ON_THE_SECOND.replace(microsecond=60)])
def test_replies_are_encoded_as_the_codec_does(format: int, traceparent: str | None, now: datetime) -> None:
    parent = a_query().model_copy(update={"format": format, "traceparent": traceparent})
    replies: tuple[EventData, ...] = (
        AssemblyOverdue(),
        CancellationRequested(reason='a "quoted" reason: ü \n'),
        QuerySubmitted(query="Why?", options=QueryOptions(max_tool_rounds=3)),
        ComponentFailed(
            component="coordinator", failed_event=parent.id, error=ErrorInfo(code="c", message="m")
        ),
    )
    written = Replies(parent, "coordinator", now)
    for n, data in enumerate(replies):
        assert written.encoded(n, data) == encode(reply(parent, n, data, "coordinator", now))
