"""The shell of runs when a decision is not committed, and the notices to parents of children that never began."""

from typing import Any
from uuid import UUID

import pytest
from antiphon_shared.bus.handling import NOTHING, RESPONSE, RUN, STATE, Delivery, Link, Outcome, PutDocument
from antiphon_shared.events import (
    AssemblyOverdue,
    AssemblyRequested,
    CancellationRequested,
    ChildEnded,
    ComponentFailed,
    Parent,
    QuerySubmitted,
    ResponseReady,
    ToolsCompleted,
    ToolsRequested,
)
from antiphon_shared.events.session import RESPONSE_KIND, Limits, QueryOptions, Response, WorkflowCall
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.tools.calls import Catalogue, ToolResult
from antiphon_shared.workflows.specification import Specification

from coordinator.document import SESSION
from coordinator.handlers import Coordinator
from coordinator.runs.handlers import Runs
from coordinator.session_parts import replace
from tests.coordinator.builders import a_catalogue
from tests.coordinator.workflows.world import call
from tests.envelopes import an_event
from tests.fakes import FakeSession

ASK = {"type": "yield", "message": "Sure?", "expects": {"yes": "bool"}}
GRAPHS = {"0": {"a": call("look"), "b": call("look", "a")}, "1": {"other": call("look")}, "2": {"ask": ASK}}
TOOLS = a_catalogue("look")
CHILD = "root~0123456789abcdef"


def a_specification(graph: dict[str, Any]) -> Specification:
    return Specification.model_validate(
        {"domain": "test", "version": "1", "workflows": {"main": {"description": "A test.", "graph": graph}}}
    )


class Shell:
    """A coordinator, and one session whose outcomes are committed or not."""

    def __init__(self, session_id: str = "s1", published: list[str] | None = None) -> None:
        hashes = published if published is not None else ["0" * 32]

        async def specification(content_hash: str) -> Specification:
            return a_specification(GRAPHS[content_hash[0]])

        async def names() -> dict[str, str]:
            return {"main": hashes.pop(0) if len(hashes) > 1 else hashes[0]}

        async def current() -> str:
            return "c0ffee"

        async def catalogue(_: str) -> Catalogue:
            return TOOLS

        self.store = FakeSession(session_id)
        limits = Limits(max_rounds=4, max_tool_calls=20, max_tokens=200_000, deadline_s=300)
        self.coordinator = Coordinator(limits, 1.0, current, catalogue, runs=Runs(specification, names))

    async def handle(self, data: Any, is_committed: bool = True) -> tuple[Outcome, UUID]:
        event = an_event(data, self.store.session_id)
        return await self.again(event, is_committed), event.id

    async def again(self, event: Any, is_committed: bool = True) -> Outcome:
        entry = f"1795244309110-{len(self.store.log)}"
        self.store.log[entry] = event
        handler = self.coordinator.handlers[type(event.data)]
        outcome = await handler(Delivery(event, entry), self.store)
        for write in outcome.writes if is_committed else ():
            if isinstance(write, Link):
                items = self.store.lists.setdefault(RUN, [])
                assert (items[-1][:16] if items else None) == (write.after.bytes if write.after else None)
                items.append(write.item)
            elif isinstance(write, PutDocument):
                version, _ = self.store.documents.get(write.document, (0, None))
                self.store.documents[write.document] = (version + 1, write.content)
        return outcome


QUERY = QuerySubmitted(query="main()", options=QueryOptions(workflow=WorkflowCall(name="main")))


def looked(number: int) -> ToolsCompleted:
    return ToolsCompleted.of(
        number, (ToolResult(index=0, call_id="c", tool="look", status="ok", data={}),), 1
    )


def set_aside(id: UUID) -> ComponentFailed:
    error = ErrorInfo(code="event_too_large", message="It is too large.")
    return ComponentFailed(component="coordinator", failed_event=id, error=error)


async def test_a_decision_that_is_never_committed_is_not_built_upon() -> None:
    shell = Shell()
    await shell.handle(QUERY)
    _, id = await shell.handle(looked(1), is_committed=False)
    outcome, _ = await shell.handle(set_aside(id))
    (answer,) = (event for event in outcome.events if isinstance(event, ResponseReady))
    assert "It is too large." in answer.answer


async def test_a_run_in_memory_reads_no_document(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell()
    await shell.handle(QUERY)
    monkeypatch.setattr(shell.store, "document", no_document)
    outcome, _ = await shell.handle(looked(1))
    assert [event.node for event in outcome.events if isinstance(event, ToolsRequested)] == ["b"]


async def no_document(name: str) -> tuple[int, bytes | None]:
    raise AssertionError(f"{name} was read")


async def test_a_new_session_under_the_id_of_an_expired_run_is_found() -> None:
    """The run is still in memory, and its keys have expired: the first commit is a conflict."""
    shell = Shell()
    await shell.handle(QUERY)
    shell.store.lists.clear()
    await shell.handle(QuerySubmitted(query="What is the weather?"))
    event = an_event(CancellationRequested(), "s1")
    await shell.again(event, is_committed=False)
    outcome = await shell.again(event)
    assert [type(event) for event in outcome.events] == [AssemblyRequested]


async def test_a_run_whose_beginning_cannot_be_committed_is_answered() -> None:
    shell = Shell()
    _, id = await shell.handle(QUERY, is_committed=False)
    outcome, _ = await shell.handle(set_aside(id))
    (answer,) = (event for event in outcome.events if isinstance(event, ResponseReady))
    assert answer.status == "failed"


async def test_a_run_begun_by_another_coordinator_continues_with_its_specification() -> None:
    other, here = Shell(published=["0" * 32]), Shell(published=["1" * 32])
    event = an_event(QUERY)
    await other.again(event)
    await here.again(event, is_committed=False)
    here.store.lists = other.store.lists
    assert await here.again(event) == NOTHING
    outcome, _ = await here.handle(looked(1))
    assert [one.node for one in outcome.events if isinstance(one, ToolsRequested)] == ["b"]


async def test_a_run_ends_with_the_specification_it_began_with() -> None:
    begun, restarted = Shell(published=["0" * 32]), Shell(published=["1" * 32])
    await begun.handle(QUERY)
    restarted.store = begun.store
    outcome, _ = await restarted.handle(looked(1))
    assert [one.node for one in outcome.events if isinstance(one, ToolsRequested)] == ["b"]


async def test_a_parent_learns_that_its_child_was_never_opened() -> None:
    shell = Shell(CHILD)
    child = QUERY.model_copy(update={"parent": Parent(session="root", round=3, call_id="c3")})
    _, id = await shell.handle(child, is_committed=False)
    unopened, _ = await shell.handle(set_aside(id))
    (answer,) = (event for event in unopened.events if isinstance(event, ResponseReady))
    closing, _ = await shell.handle(answer)
    (send,) = closing.sends
    assert send.session_id == "root"
    assert isinstance(send.event, ChildEnded)
    assert (send.event.round, send.event.call_id) == (3, "c3")
    assert isinstance(send.event.response, Response)


async def test_a_parent_learns_of_an_answer_whose_own_message_was_lost() -> None:
    shell = Shell(CHILD)
    asked = an_event(
        QuerySubmitted(query="Why?", parent=Parent(session="root", round=3, call_id="c3")), CHILD
    )
    await shell.again(asked)
    _, content = shell.store.documents[STATE]
    assert content is not None
    assembling = replace(SESSION.read(content), phase="assembling")
    shell.store.documents[STATE] = (1, SESSION.write(assembling, asked.format))
    answer = Response(
        session_id=CHILD,
        status="complete",
        answer="So.",
        termination_reason="natural_completion",
        rounds_used=1,
        tool_calls_used=0,
        duration_ms=1,
    )
    shell.store.documents[RESPONSE] = (1, RESPONSE_KIND.write(answer, asked.format))
    closing, _ = await shell.handle(AssemblyOverdue())
    assert closing.closes_session
    (send,) = closing.sends
    assert isinstance(send.event, ChildEnded)
    assert send.event.response == answer


async def test_a_token_stays_the_same_when_the_step_that_drew_it_is_taken_again() -> None:
    shell, waiting = Shell(published=["2" * 32]), an_event(QUERY)
    await shell.again(waiting)
    (token,) = shell.store.wholes.items()
    late = Shell(published=["2" * 32])
    late.store.wholes = shell.store.wholes
    await late.again(waiting, is_committed=False)
    assert late.store.wholes == dict([token])
