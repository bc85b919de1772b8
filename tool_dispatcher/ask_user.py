"""The tool `ask_user`: returns the user's answer from the session's log.

When a call arrives here, the coordinator has already waited for the answer, and the call carries its log
entry. The dispatcher checks that entry: it must hold an answer of this session, of this round and to this
call.
"""

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.events import QuestionAnswered
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.tools.relevance import ASK_USER
from antiphon_shared.values import JsonObject

from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.running.batch_run import BatchRun


async def users_answer(call_id: str, batch: BatchRun) -> JsonObject | ToolError:
    """Return `{"answer": ...}`, or a `not_found` error where the log entry holds no answer to this call."""
    # Where several calls share an id, the first one runs.
    call = next((call for call in batch.request.calls if call.id == call_id), None)
    if call is None or call.name != ASK_USER or (entry := call.answer) is None:
        return _NOT_ASKED
    try:
        event = await retry_while_unavailable("read an answer", lambda: batch.session.event(entry))
    except UnreadableEvent:
        return _NOT_ASKED
    said = event.data
    is_ours = event.subject == batch.session.session_id
    if not (is_ours and isinstance(said, QuestionAnswered) and said.round == batch.request.round):
        return _NOT_ASKED
    return {"answer": said.answer} if not said.calls or call_id in said.calls else _NOT_ASKED


_NOT_ASKED = tool_error(
    "not_found",
    "The user has given no answer to this question.",
    "Go on without it, and say in the answer what you assumed.",
)
