"""The built-in tools of every dispatcher.

They find tools and workflows, read more of a result, recall earlier results, repeat a call, and ask the user.
"""

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.events import QuestionAnswered
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.offload import offload_if
from antiphon_shared.tools.ask_user import ASK_USER_PARAMETERS
from antiphon_shared.tools.calls import REPEAT_CALL, ToolOutcome
from antiphon_shared.tools.relevance import ASK_USER, FIND_TOOLS, PLAN, READ_RESULT, RECALL, rank
from antiphon_shared.tools.repeating import REPEAT_CALL_PARAMETERS
from antiphon_shared.values import JsonSchema, ToolArguments

from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.catalogue import Registry
from tool_dispatcher.planning.planner import Planner
from tool_dispatcher.recall import recall
from tool_dispatcher.results.oversize import read_part
from tool_dispatcher.running.attempt import Builtin
from tool_dispatcher.running.batch_run import BatchRun

_MATCHES_MAX = 10
_RANKED_AT_ONCE = 10
"""The number of tools that can be ranked on the event loop in a few milliseconds; more are ranked in a thread."""
_PART_CHARACTERS = 8_000
_PART_CHARACTERS_MAX = 40_000


def with_repeat_call(tools: Registry) -> Registry:
    """Return the tools, with `repeat_call` added if at least one of them writes."""
    writes = any(tool.contract.effect == "write" for tool in tools.values())
    return Registry([*tools.values(), _REPEAT_TOOL]) if writes else tools


def builtins(planner: Planner) -> tuple[Builtin, ...]:
    """Return the built-in tools; they find tools and workflows through `planner`."""

    async def find_tools(arguments: ToolArguments, batch: BatchRun, call_id: str) -> ToolOutcome:
        usable = planner.usable_tools(batch) + await planner.definitions(batch)
        matches = await offload_if(
            len(usable) > _RANKED_AT_ONCE, rank, usable, arguments["need"], _MATCHES_MAX
        )
        note = "They can be called from the next round on." if matches else "None fits; use other words."
        return {
            "tools": [{"name": one.name, "description": one.description} for one in matches],
            "note": note,
        }

    async def read_result(arguments: ToolArguments, batch: BatchRun, call_id: str) -> ToolOutcome:
        handle = arguments["handle"]
        result = await batch.journal.load_complete(handle)
        if result is None:
            return tool_error(
                "not_found",
                f"No result is stored under the handle {handle!r}.",
                "Use the handle of a result that is shown in part; if you did, make that call again and ask for less.",
            )
        length = arguments.get("length", _PART_CHARACTERS)
        return read_part(result, arguments.get("start", 0), length, batch.result_bytes_max)

    return (
        Builtin(FIND_TOOLS, _FIND_TOOLS, _NEED, find_tools),
        Builtin(PLAN, _PLAN, _GOAL, planner.plan),
        Builtin(READ_RESULT, _READ_RESULT, _PART, read_result),
        Builtin(RECALL, _RECALL, _ID, recall),
        _REPEAT_TOOL,
        Builtin(ASK_USER, _ASK_USER, ASK_USER_PARAMETERS, users_answer),
    )


_FIND_TOOLS = (
    "Finds more tools: not all there are have been offered. Those found can be called in the next round."
)
_NEED: JsonSchema = {
    "type": "object",
    "properties": {
        "need": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1_000,
            "description": "What the tool should do, in a few words.",
            "examples": ["send an e-mail to a customer"],
        }
    },
    "required": ["need"],
}
_PLAN = (
    "Says which workflow or recipe reaches a goal, with which params and what is missing; they are called as tools. "
    "Where none fits, it proposes a new one, which a person has to approve first. It runs nothing."
)
_GOAL: JsonSchema = {
    "type": "object",
    "properties": {
        "goal": {
            "type": "string",
            "minLength": 1,
            "maxLength": 2_000,
            "description": "What is to be reached, with all that is known of it.",
            "examples": ["book the cheapest flight from NYC to LIS on 2030-05-01"],
        }
    },
    "required": ["goal"],
}
_READ_RESULT = "Reads on in a result of this session that was shown in part only."
_PART: JsonSchema = {
    "type": "object",
    "properties": {
        "handle": {
            "type": "string",
            "pattern": "^r[0-9]{1,9}c[0-9]{1,5}$",
            "description": "As the result names it.",
            "examples": ["r1c0"],
        },
        "start": {
            "type": "integer",
            "minimum": 0,
            "description": "The first character to read; 0 when left out.",
        },
        "length": {"type": "integer", "minimum": 1, "maximum": _PART_CHARACTERS_MAX},
    },
    "required": ["handle"],
}
_RECALL = (
    "Fetches what tools returned earlier and the briefing does not show, or not whole. Give the id of a fact "
    "for the document it was taken from, or that of a call for all it returned."
)
_ID: JsonSchema = {
    "type": "object",
    "properties": {
        "id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "A fact (`F12`), several (`F3-F9`), a document (`D2`) or a call, as the briefing names it.",
            "examples": ["F12"],
        }
    },
    "required": ["id"],
}
_REPEAT_CALL = (
    "Does once more what an earlier call of this session did, with the same arguments. Calling a tool again the same "
    "way does nothing: its first result is returned. Use this only where it has to be done twice, and say why."
)
_ASK_USER = (
    "Asks the user one question and waits for the answer. Use it only when the answer changes what to do, and no "
    "other tool can tell: people are slow, and may not answer at all. Ask for one thing, and never for a password."
)


async def _cannot_repeat(arguments: ToolArguments, batch: BatchRun, call_id: str) -> ToolOutcome:
    """Return the error in sessions of format 1; in later formats the coordinator itself repeats the call."""
    return tool_error(
        "not_found",
        "Nothing was done: this session cannot repeat calls.",
        "Call the tool itself, or go on without it and say so.",
    )


_REPEAT_TOOL = Builtin(REPEAT_CALL, _REPEAT_CALL, REPEAT_CALL_PARAMETERS, _cannot_repeat)


async def users_answer(arguments: ToolArguments, batch: BatchRun, call_id: str) -> ToolOutcome:
    """Return `{"answer": ...}`, or a `not_found` error if the log has no answer to this call."""
    # If several calls share an id, the first one runs.
    call = next((call for call in batch.request.calls if call.id == call_id), None)
    if call is None or call.name != ASK_USER or (entry := call.answer) is None:
        return _UNANSWERED
    try:
        event = await retry_while_unavailable("read an answer", lambda: batch.session.event(entry))
    except UnreadableEvent:
        return _UNANSWERED
    answer = event.data
    is_same_session = event.subject == batch.session.session_id
    if not (is_same_session and isinstance(answer, QuestionAnswered) and answer.round == batch.request.round):
        return _UNANSWERED
    return {"answer": answer.answer} if not answer.calls or call_id in answer.calls else _UNANSWERED


_UNANSWERED = tool_error(
    "not_found",
    "The user has given no answer to this question.",
    "Go on without it, and say in the answer what you assumed.",
)
