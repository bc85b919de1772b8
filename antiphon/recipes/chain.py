"""The chain of a finished session: its question, and the calls that succeeded, in an executable order. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from antiphon_shared.events import ChildBegun, QuerySubmitted, ReasoningCompleted, ResponseReady
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.tools.placeholders import Reference, find
from antiphon_shared.tools.relevance import ASK_USER, BUILT_INS

from antiphon.recipes.values import ValuePath, texts_in
from antiphon.recording.lines import Line, data_in
from antiphon.replay.recorded_calls import RecordedCall, batches_of
from tool_dispatcher.check.locations import depth_of

CALLS_MAX = 200
LEVELS_MAX = 40
"""The limit for arguments; the file around them adds more levels."""
_SQL = "sql_query"
"""A name that a workflow runs itself, even if a tool has it."""


class NotLearnable(AntiphonError):
    """A session cannot become a recipe; the message says why."""

    code = "not_learnable"


@dataclass(frozen=True, slots=True)
class SuccessfulCall:
    """A call that succeeded."""

    tool: str
    round: int
    arguments: dict[str, Any]
    result: Any
    definition: ToolDefinition
    placeholders: Mapping[ValuePath, tuple[int, ValuePath]]
    """Arguments that the model took from another call of the round: that call's index, and the path."""
    is_cited: bool = False
    """Whether the answer is based on its result."""
    has_own_result: bool = True
    """Whether the tool itself returned the result, and not an alternative."""

    @property
    def is_write(self) -> bool:
        return self.definition.effect == "write"


@dataclass(frozen=True, slots=True)
class Chain:
    """The calls of one session."""

    session_id: str
    question: str
    """The question, with the user's answers to later questions."""
    calls: tuple[SuccessfulCall, ...]
    left_out: tuple[tuple[str, str], ...]
    """Tool and reason of each call that is left out."""

    def only(self, indexes: Sequence[int]) -> "Chain":
        """Return the chain of the calls at `indexes`, which include the calls that their placeholders name."""
        moved = {index: n for n, index in enumerate(indexes)}
        calls = []
        for index in indexes:
            call = self.calls[index]
            links = {path: (moved[of], at) for path, (of, at) in call.placeholders.items() if of in moved}
            calls.append(replace(call, placeholders=links))
        left_out = [(call.tool, UNUSED) for n, call in enumerate(self.calls) if n not in moved]
        return replace(self, calls=tuple(calls), left_out=(*self.left_out, *left_out))


UNUSED = "its result was not used"


def chain_of(lines: Iterable[Line]) -> Chain:
    """Return the chain of a recorded session. Raises NotLearnable if it did not succeed or is partly unknown."""
    lines = list(lines)
    query = next(data_in(lines, QuerySubmitted), None)
    response = next(data_in(reversed(lines), ResponseReady), None)
    if response is None:
        raise NotLearnable("the session has no answer yet.", hint="Learn from it after its end.")
    session_id = response.session_id
    if response.status != "complete":
        raise NotLearnable(
            f"session {session_id} ended as {response.status} ({response.termination_reason}); "
            "recipes are learned only from successful sessions."
        )
    if query is not None and query.options.workflow is not None:
        raise NotLearnable(f"session {session_id} is already the run of a workflow.")
    if (begun := _run_begun(lines)) is not None:
        raise NotLearnable(
            f"session {session_id} ran the workflow {begun}, whose calls are not its own.",
            hint="Write a workflow that contains it; see docs/workflows.md.",
        )
    question, left_out = [query.query if query else ""], list[tuple[str, str]]()
    calls: list[SuccessfulCall] = []
    source_ids = {id for one in response.result_sources for id in one.sources}
    cited = {source.call_id for source in response.sources if source.number or source.id in source_ids}
    indexes: dict[str, int] = {}
    for batch in batches_of(lines):
        learned: list[tuple[int, RecordedCall]] = []
        for n, one in enumerate(batch):
            if one.call.name == ASK_USER and one.result.status == "ok":
                question += texts_in(one.result.data)
            if why := _why_left_out(one):
                left_out.append((one.call.name, why))
            else:
                learned.append((n, one))
            if one.result.repeated and one.call.id in cited:
                cited.add(one.result.repeated.call_id)
        _add(calls, _in_order(learned), indexes, batch)
    made = [replace(call, is_cited=call_id in cited) for call, call_id in zip(calls, indexes, strict=True)]
    if not made:
        raise NotLearnable(f"session {session_id} has no call that a recipe can repeat.")
    if len(made) > CALLS_MAX:
        raise NotLearnable(
            f"session {session_id} made {len(made)} calls; the limit of a recipe is {CALLS_MAX}."
        )
    return Chain(session_id, "\n".join(question), tuple(_with_last_round_cited(made)), tuple(left_out))


def _run_begun(lines: Sequence[Line]) -> str | None:
    """Return the name of a workflow or recipe that the session ran."""
    begun = {one.call_id for one in data_in(lines, ChildBegun)}
    calls = (call for one in data_in(lines, ReasoningCompleted) for call in one.tool_calls)
    return next((call.name.partition("_")[2] for call in calls if call.id in begun), None)


def _why_left_out(one: RecordedCall) -> str:
    """Return why a call is left out of a recipe; empty if it is kept. Raises NotLearnable."""
    name, result = one.call.name, one.result
    if result.error is not None and result.error.error_type == "outcome_unknown":
        raise NotLearnable(f"the outcome of call {one.call.id} of {name} is unknown.")
    if name in BUILT_INS:
        return "it is a built-in tool of sessions"
    if result.status != "ok":
        return "it failed"
    if result.repeated is not None:
        return "it was not run, because an identical call had already run"
    if one.definition is None:
        raise NotLearnable(
            f"the recording does not contain the parameters of the tool {name}.",
            hint="Learn from a newer session.",
        )
    if one.definition.contract.validates:
        return "it validates answers"
    if name == _SQL:
        raise NotLearnable(f"{_SQL} is reserved in workflows for SQL over earlier results.")
    if one.arguments is None:
        raise NotLearnable(f"an argument of the call {one.call.id} of {name} is not in the recording.")
    if depth_of(one.arguments) > LEVELS_MAX:
        raise NotLearnable(
            f"the arguments of the call {one.call.id} of {name} are nested too deep for a file."
        )
    return ""


def _in_order(calls: Sequence[tuple[int, RecordedCall]]) -> Iterator[tuple[int, RecordedCall]]:
    """Yield the calls of a batch so that each comes after those that it waits for."""
    waiting = list(calls)
    while waiting:
        numbers = {n for n, _ in waiting}
        ready = next((one for one in waiting if not (_waits_for(one, waiting) & numbers)), waiting[0])
        waiting.remove(ready)
        yield ready


def _waits_for(one: tuple[int, RecordedCall], others: Sequence[tuple[int, RecordedCall]]) -> set[int]:
    n, recorded = one
    referenced = {part.call for _, part in find(recorded.call.arguments) if isinstance(part, Reference)}
    assert recorded.definition is not None, "a call without a definition is not learned"
    tools = {needed.tool for needed in recorded.definition.contract.depends_on}
    return (referenced | {m for m, other in others if other.call.name in tools}) - {n}


def _add(
    calls: list[SuccessfulCall],
    batch: Iterator[tuple[int, RecordedCall]],
    indexes: dict[str, int],
    recorded: Sequence[RecordedCall],
) -> None:
    """Add the calls of a batch; `indexes` has the index of each by its id."""
    ids = {n: _executed_id(one) for n, one in enumerate(recorded)}
    for _, one in batch:
        assert one.arguments is not None, "others are not learned"
        assert one.definition is not None, "others are not learned"
        placeholders: dict[ValuePath, tuple[int, ValuePath]] = {}
        for path, part in find(one.call.arguments):
            if isinstance(part, Reference) and ids.get(part.call) in indexes:
                placeholders[path] = (indexes[ids[part.call]], part.path)
        key = one.call.id if one.call.id not in indexes else f"{one.call.id}/{len(calls)}"
        indexes[key] = len(calls)
        calls.append(
            SuccessfulCall(
                tool=one.call.name,
                round=one.round,
                arguments=one.arguments,
                result=one.result.data,
                definition=one.definition,
                placeholders=placeholders,
                has_own_result=not one.result.substitute,
            )
        )


def _executed_id(one: RecordedCall) -> str:
    return one.result.repeated.call_id if one.result.repeated else one.call.id


def _with_last_round_cited(calls: Sequence[SuccessfulCall]) -> Iterator[SuccessfulCall]:
    """Yield the calls; if the answer cites none of them, mark the calls of the last round as cited."""
    if any(call.is_cited for call in calls):
        yield from calls
        return
    last = max(call.round for call in calls)
    for call in calls:
        yield replace(call, is_cited=call.round == last)
