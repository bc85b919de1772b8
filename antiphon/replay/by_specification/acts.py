"""The acts of a decision, by node. Two specifications lead a run the same way if all acts are the same. Pure.

Direct effects of the specification are omitted: its hash, the numbers of requests, and time limits, which count only
if they would have expired.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from antiphon_shared.events import (
    ApprovalRequested,
    ChildBegun,
    EventData,
    InputRefused,
    InputRequested,
    NodeDue,
    NodesSettled,
    ResponseReady,
    RunOpened,
    ToolsRequested,
)
from antiphon_shared.events.step_records import SendRecord, TimerRecord

ActKind = Literal["opens", "calls", "approval", "asks", "refuses", "waits", "settled", "ends"]
Act = tuple[str, ActKind]
"""The node and the kind of an act."""
Acts = dict[Act, dict[str, Any]]
TIMER = "node:"
"""The prefix of the names of timers that a node waits for."""


def acts_of(
    events: Sequence[EventData],
    timers: Sequence[TimerRecord],
    sends: Sequence[SendRecord],
    node_of: Callable[[int], str],
) -> Acts:
    """Return the acts of a decision; `node_of` returns the node of a request by its number."""
    questions = questions_of(sends)
    acts: Acts = {}
    for one in events:
        match one:
            case RunOpened():
                acts["", "opens"] = {"problem": one.problem}
            case ToolsRequested(calls=(call, *_)):
                acts[one.node, "calls"] = {
                    "tool": call.name,
                    "arguments": call.arguments,
                    "idempotency_key": call.idempotency_key,
                }
            case ChildBegun():
                arguments = questions.get(one.child, {})
                acts[one.node, "calls"] = {"tool": "a model", "arguments": arguments, "idempotency_key": ""}
            case ApprovalRequested(calls=(waiting, *_)):
                acts[node_of(one.round), "approval"] = {"tool": waiting.tool, "arguments": waiting.arguments}
            case InputRequested():
                acts[one.node, "asks"] = {"message": one.message, "expects": one.expects}
            case InputRefused():
                acts[node_of(one.round), "refuses"] = {"because": one.because}
            case NodesSettled():
                for node in one.nodes:
                    acts[node.path, "settled"] = {"status": node.status, "message": node.message}
            case ResponseReady():
                acts["", "ends"] = end_of(one)
    for timer in timers:
        _wait(acts, timer)
    return acts


def questions_of(sends: Sequence[SendRecord]) -> dict[str, dict[str, Any]]:
    """Return the question, tools and answer form of each session that these records open, by session."""
    return {
        one.session: {
            "question": one.data.get("query", ""),
            **{name: value for name, value in one.data.get("options", {}).items() if name != "deadline_s"},
        }
        for one in sends
        if one.opens
    }


def begun_with_questions(
    events: Iterable[EventData], sends: Sequence[SendRecord]
) -> Iterator[tuple[ChildBegun, dict[str, Any]]]:
    """Yield each session that a decision opens, with its question."""
    questions = questions_of(sends)
    for one in events:
        if isinstance(one, ChildBegun) and one.child in questions:
            yield one, questions[one.child]


def end_of(response: ResponseReady) -> dict[str, Any]:
    """Return the status, output and effects with which a run ends."""
    run = response.run
    status = run.status if run is not None else response.status
    effects = {} if run is None else run.model_dump(mode="json", include={"standing", "unknown", "undone"})
    failure = "" if status == "completed" else response.answer
    return {"status": status, "output": response.result, **effects, "answer": failure}


def _wait(acts: Acts, timer: TimerRecord) -> None:
    """Add a wait, or the delay before a further attempt; a person's time limit does not count."""
    is_node = timer.name.startswith(TIMER) and timer.type == NodeDue.type
    node = timer.name[len(TIMER) :]
    if is_node and (node, "asks") not in acts:
        due = None if timer.due is None else timer.due.isoformat()
        acts[node, "waits"] = {"until": due, "seconds": timer.after_s}
