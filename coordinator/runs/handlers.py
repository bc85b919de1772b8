"""The async shell of runs: load the run, decide, return the outcome to commit.

The decisions of a run are made one after the other, each on the state in memory after the previous one, and
are committed in that order; see memory.py.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from antiphon_shared.bus.handling import (
    NOTHING,
    RESPONSE,
    RUN,
    Append,
    Delivery,
    EndsWith,
    Link,
    Outcome,
    PutDocument,
    SessionStore,
)
from antiphon_shared.bus.reads import Completed
from antiphon_shared.events import (
    AnyEvent,
    ComponentFailed,
    EventData,
    InputRequested,
    QuerySubmitted,
    ResponseReady,
    ToolsCompleted,
)
from antiphon_shared.events.session import RESPONSE_KIND
from antiphon_shared.events.step_records import RunRecord
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.ids import new_password
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.journal import result_name
from antiphon_shared.values import LogEntry, SessionId
from antiphon_shared.workflows.graph import Graph, compile_graph
from antiphon_shared.workflows.specification import Specification

from coordinator.decision import LoggedEvent, Opening
from coordinator.record import send_records, timer_record
from coordinator.runs.complete_results import complete_event
from coordinator.runs.memory import RunInMemory, RunsInMemory, run_of, stored_changes
from coordinator.runs.opening import beginning_of, opened_run
from coordinator.runs.state import RUN_CHANGE, Beginning
from coordinator.runs.step import Step, begin, take
from coordinator.runs.step_builder import Pinned
from coordinator.workflows.plan import Plan
from coordinator.workflows.turn import NotLoaded

_PLANS_MAX = 64
_LONG_S = 20 * 86_400.0
"""The wait from which a specification has to be kept longer, or it would expire."""
_FETCHES_MAX = 100
"""Bound on the reads of values for one decision, as each reference may need one more."""


class Runs:
    """The handlers of every event of runs."""

    def __init__(
        self,
        specification: Callable[[str], Awaitable[Specification | None]],
        published: Callable[[], Awaitable[Mapping[str, str]]],
        keep_on: Callable[[Iterable[str], float], Awaitable[None]] = lambda hashes, seconds: Completed(None),
        run_begun: Callable[[str], Awaitable[None]] = lambda content_hash: Completed(None),
    ) -> None:
        """Take the reads and writes of specifications.

        Args:
            specification: Returns a specification by its hash.
            published: Returns the hashes of the published workflows, by name.
            keep_on: Keeps specifications for that many seconds more.
            run_begun: Takes the hash of the specification that a run begins with.
        """
        self._specification, self._published = specification, published
        self._keep_on, self._run_begun = keep_on, run_begun
        self._runs = RunsInMemory()
        self._plans: dict[tuple[str, str, str], Plan] = {}

    async def open(
        self,
        delivery: Delivery,
        query: QuerySubmitted,
        opening: Opening,
        catalogue: Catalogue,
        store: SessionStore,
    ) -> Outcome:
        """Begin a run, or answer at once when it cannot begin."""
        call = query.options.workflow
        assert call is not None, "only a query of a workflow becomes a run"
        async with self._runs.lock(delivery.event.subject):
            if await store.items(RUN):
                # Another coordinator may have begun the run, with other inputs than those in memory here.
                self._runs.drop(delivery.event.subject)
                return NOTHING
            published = {} if call.specification else await self._published()
            content_hash = call.specification or published.get(call.name, "")
            specification = None
            if content_hash:
                specification, _ = await asyncio.gather(
                    self._specification(content_hash), self._run_begun(content_hash)
                )
            opened = opened_run(
                delivery.event,
                query,
                specification,
                content_hash,
                published=published,
                opening=opening,
                catalogue=catalogue,
            )
            pinned = await self._pinned(delivery.event.subject, beginning_of(delivery.event, query, opened))
            step = begin(pinned, delivery.event, delivery.log_entry, call.params)
            run = RunInMemory(pinned)
            run.note_decision(delivery.event.id)
            outcome = self._outcome(run, delivery.event, step)
            self._runs.store(run)
        await self._keep_for(run, step, store)
        return outcome

    def is_under_way(self, run_id: SessionId) -> bool:
        """Return whether a run is in memory here, and is not known to have ended."""
        run = self._runs.get(run_id)
        return run is not None and run.state.run.ended is None

    async def on_event(self, delivery: Delivery, store: SessionStore) -> Outcome | None:
        """Take a run one step on. Return None if the event belongs to no run."""
        event = delivery.event
        async with self._runs.lock(event.subject):
            if isinstance(event.data, ComponentFailed):
                # The decision on a dead letter was never committed.
                self._runs.drop(event.subject)
            run = self._runs.get(event.subject)
            if run is not None and not await run.catch_up(event.id, store):
                self._runs.drop(event.subject)
                run = None
            run = run or await self._load(store)
            if run is None:
                return None
            if isinstance(event.data, ResponseReady):
                return NOTHING
            needed = await _failed_event(event.data, store)
            event = await complete_event(event, store)
            step = await self._step(run, event, delivery.log_entry, store, needed)
            run.note_decision(event.id)
            if step is None:
                return Outcome(writes=(EndsWith(RUN, run.newest),))
            kept_until = run.state.kept_until
            outcome = self._outcome(run, event, step)
            if isinstance(event.data, ToolsCompleted):
                for path in step.change.logged:
                    run.remember(path, event.data.results[0].data)
            is_longer = step.change.kept_until != kept_until
            wholes = tuple((run.state.wholes if is_longer else step.change.wholes).values())
        await self._keep_for(run, step, store)
        await _store_complete_results(wholes, step, store)
        return outcome

    async def _keep_for(self, run: RunInMemory, step: Step, store: SessionStore) -> None:
        """Store the data that a wait for a person needs at its end, before a person can see the wait.

        A person gives the values with the token that is drawn here.
        """
        waits = [event for event in step.events if isinstance(event, InputRequested)]
        for event in waits:
            name = token_name(event.round)
            if await store.load(name) is None:  # a repeated step must not replace a token that was read
                await store.store(name, new_password().encode(), step.extra_retention_s)
        if step.extra_retention_s > _LONG_S:
            await self._keep_on([run.pinned.opened.specification], step.extra_retention_s)

    async def _step(
        self,
        run: RunInMemory,
        event: AnyEvent,
        log_entry: LogEntry,
        store: SessionStore,
        needed: LoggedEvent | None,
    ) -> Step | None:
        fetched: dict[str, Any] = {}
        for _ in range(_FETCHES_MAX):
            try:
                return take(run.pinned, run.state, event, log_entry, run.value_reader(fetched), needed)
            except NotLoaded as not_loaded:
                fetched |= await run.fetch(tuple(not_loaded.keys), store)
        raise UnreadableEvent(f"a node of the run refers to more than {_FETCHES_MAX} results")

    async def _load(self, store: SessionStore) -> RunInMemory | None:
        changes = await stored_changes(store)
        if not changes:
            return None
        beginning = changes[0][1].beginning
        if beginning is None:
            raise UnreadableEvent("the first change of the run's state lacks the inputs of its decisions")
        run = run_of(await self._pinned(store.session_id, beginning), changes)
        self._runs.store(run)
        return run

    async def _pinned(self, run_id: SessionId, beginning: Beginning) -> Pinned:
        """Return the fixed inputs of a run's decisions; with an empty plan for a run that cannot begin."""
        opened = beginning.opened
        if opened.problem:
            return Pinned(run_id, Plan(Graph({}, {})), beginning)
        key = (opened.specification, opened.workflow, opened.catalogue)
        if key not in self._plans:
            specification = await self._specification(opened.specification)
            if specification is None:
                raise UnreadableEvent(
                    f"the specification {opened.specification} of the run is no longer stored"
                )
            if len(self._plans) >= _PLANS_MAX:
                self._plans.clear()
            self._plans[key] = Plan(compile_graph(specification, opened.workflow), opened.tools)
        return Pinned(run_id, self._plans[key], beginning)

    def _outcome(self, run: RunInMemory, event: AnyEvent, step: Step) -> Outcome:
        """Return the outcome to commit, and apply the change to the run in memory, which is then ahead of Redis."""
        content = RUN_CHANGE.write(step.change, event.format)
        writes: tuple[PutDocument | Append | Link, ...] = (Link(RUN, run.newest, event.id, content),)
        events: tuple[EventData, ...] = step.events
        if step.answer is not None:
            events = (*events, ResponseReady(**step.answer.model_dump()))
            answer = RESPONSE_KIND.write(step.answer, event.format)
            writes = (*writes, PutDocument(RESPONSE, run.state.answers, answer))
        run.apply(event.id, step.change)
        return Outcome(
            events=events,
            sends=step.sends,
            writes=writes,
            timers=step.timers,
            closes_session=step.answer is not None,
            takes_room=None if step.answer is not None else step.takes_room,
            extra_retention_s=step.extra_retention_s,
            record=RunRecord.trusted(
                of=event.id,
                outputs=0,
                kind="run",
                changed=RunRecord.digest(content),
                timers=tuple(timer_record(timer, event.format) for timer in step.timers),
                sends=send_records(step.sends, event.format),
            ),
        )


def token_name(number: int) -> str:
    """Return the name under which the token of a wait for a person is stored."""
    return f"token:{number}"


async def _store_complete_results(handles: tuple[str, ...], step: Step, store: SessionStore) -> None:
    """Keep complete results for as long as the run may wait, as the commit does for the run's log."""
    for name in map(result_name, handles if step.extra_retention_s else ()):
        if (content := await store.load(name)) is not None:
            await store.store(name, content, step.extra_retention_s)


async def _failed_event(data: EventData, store: SessionStore) -> LoggedEvent | None:
    """Return the event that a component could not handle, for the report of its failure."""
    if not isinstance(data, ComponentFailed):
        return None
    logged = await store.logged(data.failed_event)
    return LoggedEvent(*logged) if logged else None
