"""The promises that hold at the end of a simulated world, after any faults."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from antiphon_shared.bus.handling import RESPONSE, STATE
from antiphon_shared.events import (
    AnyEvent,
    AssemblyOverdue,
    AssemblyRequested,
    BriefingRequested,
    ComponentFailed,
    DeadlineReached,
    PersonOverdue,
    QuerySubmitted,
    QuestionAnswered,
    QuestionAsked,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    ResponseReady,
    SessionOpened,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    ToolsCompleted,
    ToolsRequested,
)
from antiphon_shared.events.session import Response
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.tools.relevance import ASK_USER

from antiphon.replay.steps.repeat import Replay
from coordinator.document import SESSION
from coordinator.session import Session
from tests.coordinator.builders import NOTED
from tests.simulation.bus import KEYS, SimulatedBus
from tests.simulation.clients import LIMITS, Client
from tests.simulation.recorded import lines_of
from tests.simulation.world import Step, World

_SHORTLY_MS = 3_000
_SIDE_EVENTS = (DeadlineReached, AssemblyOverdue, PersonOverdue, ComponentFailed)
"""Events that may follow from the same event as a step: timers, and the outcome of a second entry of an event that was
duplicated or requeued from the dead letters."""

_COMMANDS_MAX = 8
"""The most requests and logged events of one decision."""
_STEPS = (
    SessionOpened,
    BriefingRequested,
    ReasoningRequested,
    SummaryRequested,
    ToolsRequested,
    AssemblyRequested,
)
"""The coordinator's requests; none comes after the answer."""


@dataclass(frozen=True, slots=True)
class BrokenPromise:
    """A promise that a world broke."""

    session_id: str
    what: str


def broken_promises(world: World) -> list[BrokenPromise]:
    """Return all promises that a world broke, which ran to its end."""
    found = [BrokenPromise("", what) for what in _left_over(world)]
    for client in world.clients.values():
        record = Record.of(world, client)
        for check in (_answered, _whole, _bounded, _written_once, _asked, _reported, _carried, _replayed):
            found += [BrokenPromise(client.session_id, what) for what in check(record)]
    return found


@dataclass(frozen=True)
class Record:
    """The final state of one session."""

    world: World
    client: Client
    log: dict[str, AnyEvent]
    responses: list[ResponseReady]
    steps: list[Step]

    @classmethod
    def of(cls, world: World, client: Client) -> "Record":
        id, bus = client.session_id, world.bus
        log = {at: bus.decoded(raw) for at, raw in bus.logs.get(id, {}).items()}
        answers = [bus.decoded(raw).data for session_id, raw in bus.responses if session_id == id]
        responses = [answer for answer in answers if isinstance(answer, ResponseReady)]
        return cls(world, client, log, responses, list(filter(_is_decision, world.steps.get(id, []))))


def _left_over(world: World) -> Iterator[str]:
    """Yield pending deliveries, due timers, and handlers that have failed by themselves."""
    bus: SimulatedBus = world.bus
    for component, inbox in bus.inboxes.items():
        if inbox.messages or inbox.pending:
            yield f"the inbox of {component} holds {len(inbox.messages)} messages at the end"
    if bus.timers:
        yield f"timers are left: {', '.join(bus.timers)}"
    if bus.waiting.queries or bus.waiting.tenants:
        yield f"sessions wait for room: {', '.join(sorted(bus.waiting.queries))}"
    if bus.open_sessions:
        yield f"sessions count as open: {', '.join(sorted(bus.open_sessions))}"
    yield from world.unexpected
    harmful = (
        "poison",
        "handler error",
        "duplicate entry",
        "foreign entry",
        "crash",
        "freeze",
        "read reply lost",
    )
    if bus.dead and not any(world.faults.counts[kind] for kind in harmful):
        yield f"{len(bus.dead)} dead letters, and nothing that would explain them"


def _answered(record: Record) -> Iterator[str]:
    """Check promise 2: exactly one answer, at the latest shortly after the deadline."""
    client, world = record.client, record.world
    if len(record.responses) != 1:
        yield f"{len(record.responses)} answers"
        return
    kept = world.bus.documents.get(KEYS.of_session(client.session_id, RESPONSE))
    if kept is None or Response.model_validate_json(kept[1]).answer != record.responses[0].answer:
        yield "the answer that is kept is another one"
    assert client.answered_ms is not None
    assert client.opened_ms is not None
    due_ms = max(client.opened_ms, client.submitted_ms + client.deadline_s * 1000)
    if client.cancelled_ms is not None and client.begun_ms is not None:
        due_ms = min(due_ms, max(client.cancelled_ms, client.begun_ms))
    late_ms = client.answered_ms - due_ms - world.disturbance_ms(client.submitted_ms)
    if late_ms > _SHORTLY_MS + (0 if _is_assembled(record) else LIMITS.assembly_s * 1000):
        yield f"the answer came {late_ms:.0f} ms after its deadline or cancellation, faults not counted"


def _whole(record: Record) -> Iterator[str]:
    """Check promise 1 in the log: each event follows from an earlier one, once."""
    seen: set[UUID] = set()
    replies: dict[UUID, list[type]] = {}
    for event in record.log.values():
        if event.id in seen and not isinstance(event.data, ComponentFailed):
            yield f"{event.type} was written twice"
        seen.add(event.id)
        if event.causationid is None:
            continue
        if event.causationid not in seen:
            yield f"{event.type} follows from an event that is not there"
        if not isinstance(event.data, _SIDE_EVENTS):
            replies.setdefault(event.causationid, []).append(type(event.data))
    for kinds in replies.values():
        main_kinds = [kind for kind in kinds if kind not in (SummaryRequested, QuestionAsked, *NOTED)]
        if len(main_kinds) > 1 and main_kinds[0] is not SessionOpened:
            yield f"one event was answered by {[kind.__name__ for kind in kinds]}"
    kinds_logged = [type(event.data) for event in record.log.values()]
    if ResponseReady in kinds_logged:
        late = set(kinds_logged[kinds_logged.index(ResponseReady) :]) & set(_STEPS)
        if late:
            yield f"after the answer came {sorted(kind.__name__ for kind in late)}"
    first = next(iter(record.log.values()), None)
    if first is None or not isinstance(first.data, QuerySubmitted):
        yield "the log does not begin with the query"


def _bounded(record: Record) -> Iterator[str]:
    """Check promise 5: rounds, calls, tokens. Only the last call of the model may go beyond the budget."""
    session = _state(record)
    if session is None:
        return
    limits, data = session.limits, [event.data for event in record.log.values()]
    rounds = {one.round for one in data if isinstance(one, ReasoningRequested)}
    if rounds and (len(rounds) > limits.max_rounds or max(rounds) > limits.max_rounds):
        yield f"rounds {sorted(rounds)}, {limits.max_rounds} are allowed"
    if any(
        one.tools and one.round == limits.max_rounds for one in data if isinstance(one, ReasoningRequested)
    ):
        yield "tools were offered in the last round"
    batches = [one for one in data if isinstance(one, ToolsRequested)]
    calls = sum(call.refused is None for batch in batches for call in batch.calls)
    if calls > limits.max_tool_calls:
        yield f"{calls} calls were handed out, {limits.max_tool_calls} are allowed"
    thought = [
        one.usage.total_tokens for one in data if isinstance(one, (ReasoningCompleted, ReasoningFailed))
    ]
    summed = [one.usage.total_tokens for one in data if isinstance(one, (SummaryCompleted, SummaryFailed))]
    most = limits.max_tokens + max(thought, default=0) + max(summed, default=0)
    for response in record.responses:
        if response.usage.total_tokens > most:
            yield f"{response.usage.total_tokens} tokens, {limits.max_tokens} are allowed"
        if response.rounds_used > limits.max_rounds or response.tool_calls_used > limits.max_tool_calls:
            yield "the answer reports more rounds or calls than are allowed"


def _written_once(record: Record) -> Iterator[str]:
    """Check promise 3: a write happens at most once for its key, and only if it was allowed."""
    life = record.world.life(record.client.session_id)
    let: dict[str, list[RequestedCall]] = defaultdict(list)
    for event in record.log.values():
        if not isinstance(event.data, ToolsRequested):
            continue
        for call in event.data.calls:
            key = life.keys.get((event.data.round, call.id))
            if key is not None and call.refused is None:
                let[key].append(call)
    yield from (f"{key} took effect {count} times" for key, count in life.taken_effect.items() if count > 1)
    for key in life.taken_effect:
        if key not in let:
            yield f"{key} took effect, and was never let"
        elif key.startswith("book/") and all(call.approval is None for call in let[key]):
            yield f"{key} took effect, and nobody had approved it"


def _asked(record: Record) -> Iterator[str]:
    """Check that a question is answered by the user, or refused and reported as unanswered."""
    kinds = {uncertainty.kind for response in record.responses for uncertainty in response.uncertainty}
    asked: dict[str, int] = {}
    for event in record.log.values():
        if isinstance(event.data, QuestionAsked):
            asked |= {question.id: event.data.round for question in event.data.questions}
        if not isinstance(event.data, ToolsRequested):
            continue
        for call in event.data.calls:
            if call.id not in asked or call.name != ASK_USER:
                continue
            answer = record.log[call.answer].data if call.answer else None
            if isinstance(answer, QuestionAnswered):
                if answer.round != event.data.round or (answer.calls and call.id not in answer.calls):
                    yield f"{call.id} has the answer to another question"
            elif call.refused is None:
                yield f"{call.id} went out without the user's answer"
            elif record.responses and "question_unanswered" not in kinds and _is_assembled(record):
                yield f"the user has not answered {call.id}, and the answer does not say so"


def _is_assembled(record: Record) -> bool:
    response = record.responses[0]
    is_alone = any(one.about == "response_assembler" for one in response.uncertainty)
    return response.termination_reason != "internal_error" and not is_alone


def _carried(record: Record) -> Iterator[str]:
    """Check promise 2: a finished reply is in the answer, with every write that is known to be done."""
    for event in record.log.values():
        if not record.responses or not isinstance(event.data, AssemblyRequested):
            continue
        reply = record.log.get(event.data.reply or "")
        if reply is None or not isinstance(reply.data, ReasoningCompleted) or reply.data.tool_calls:
            continue
        text = reply.data.text.partition("[")[0].strip()
        if text not in record.responses[0].answer:
            yield f"the model's last reply, {text!r}, is not in the answer"
    if record.responses and record.responses[0].status != "failed" and not _is_assembled(record):
        life, answer = record.world.life(record.client.session_id), record.responses[0].answer
        done = [key for key, result in life.settled.items() if getattr(result, "status", "") == "ok"]
        for call_id in (key.rpartition("/")[2] for key in done if key in life.taken_effect):
            if call_id not in answer:
                yield f"the write {call_id} was done, and the answer does not say so"


def _reported(record: Record) -> Iterator[str]:
    """Check promise 3: the answer reports every write of unknown outcome."""
    life = record.world.life(record.client.session_id)
    text = " ".join(
        uncertainty.about
        for response in record.responses
        for uncertainty in response.uncertainty
        # No work begins once a session is cancelled, so the begun work is known.
        if uncertainty.kind == "outcome_unknown"
        or (uncertainty.kind == "call_unfinished" and response.status != "cancelled")
    ).split()
    unknown = {life.owners[key][1] for key in life.claimed if not _is_known(life.settled.get(key))}
    accepted = {step.delivery.event.id for step in record.steps if _has_output(step)}
    for event in record.log.values():
        if isinstance(event.data, ToolsCompleted) and event.id in accepted:
            results = event.data.results
            unknown |= {
                one.repeated.call_id if one.repeated else one.call_id
                for one in results
                if one.error and one.error.error_type == "outcome_unknown"
            }
    for call_id in sorted(unknown.difference(text)):
        yield f"nobody knows what came of {call_id}, and the answer does not say so"


def _is_known(result: object) -> bool:
    error = getattr(result, "error", None)
    return result is not None and (error is None or error.error_type != "outcome_unknown")


def _replayed(record: Record) -> Iterator[str]:
    """Check promise 4: the recording, decided again, gives the same commands, timers and document."""
    if not record.log:
        return
    replay = Replay()
    for line in lines_of(record.world.bus, record.client.session_id):
        replay.read(line)
    for one in replay.report().divergences:
        yield f"event {one.event}, {one.type}: {one.output}.{one.path} was {one.expected!r}, is {one.got!r}"
    if replay.decisions.session != _state(record):
        yield "decided anew, the session stands otherwise"


def _state(record: Record) -> Session | None:
    kept = record.world.bus.documents.get(KEYS.of_session(record.client.session_id, STATE))
    return None if kept is None else SESSION.read(kept[1])


def _is_decision(step: Step) -> bool:
    """Return whether a commit ended a delivery by an outcome: not by a dead letter, and not by another attempt."""
    return not any(
        name == "dead_letter" or (name == "timer" and str(first).startswith("retry/"))
        for name, _, first, _ in step.operations
    )


def _has_output(step: Step) -> bool:
    return any(name == "event" for name, *_ in step.operations)


def describe(broken: Iterable[BrokenPromise]) -> str:
    """Return one line for each broken promise."""
    return "\n".join(f"{one.session_id or 'the world'}: {one.what}" for one in broken)
