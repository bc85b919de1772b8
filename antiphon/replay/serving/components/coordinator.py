"""The coordinator of a rerun."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from antiphon_shared.breakers.outages import NO_OUTAGES
from antiphon_shared.bus.handling import Delivery, Outcome, SessionStore
from antiphon_shared.bus.reads import Completed
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, OutagesSeen, SessionOpened
from antiphon_shared.events.session import Turn
from antiphon_shared.memory.conversation import OpenTurn, StoredTurns
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import PipelineSettings

from antiphon.replay.checks.run_inputs import opening_of
from antiphon.replay.serving.components.part import Part, with_recorded_time
from antiphon.replay.serving.exchanges import Miss
from antiphon.replay.serving.recording_index import RecordingIndex
from antiphon.replay.serving.turns import wait_until
from coordinator.component import build
from coordinator.decision import GRANT_ACCEPTED, GrantCheck
from coordinator.dispatchers import lacked_dispatcher
from coordinator.opening import recorded_opening
from coordinator.settings import CoordinatorSettings


class CoordinatorPart(Part):
    """The coordinator with the recorded times and outages. It sets no timers, as their events are sent as recorded."""

    name = "coordinator"

    def __init__(self, bus: Bus, recordings: Mapping[str, RecordingIndex], misses: list[Miss]) -> None:
        super().__init__(bus, recordings, misses)
        self._locks = {id: asyncio.Lock() for id in recordings}
        self._outages = dict.fromkeys(recordings, NO_OUTAGES)
        self._lacking = dict.fromkeys(recordings, False)
        """Whether the decision in progress was made without a running dispatcher."""
        self._latest = {id: recording_index.query.time for id, recording_index in recordings.items()}
        self._decided: set[UUID] = set()

    def service(self, bus: Bus, recording_index: RecordingIndex) -> Service:
        models = recording_index.opened.models if recording_index.opened else ()
        return build(
            bus,
            _settings(recording_index.opened),
            PipelineSettings.model_construct(model=models[0] if models else "", models=models[1:]),
            outages=lambda: self._outages[recording_index.session_id],
            turns=_RecordedTurns(recording_index.opened.conversation if recording_index.opened else ()),
            grants=lambda grant, session_id: _check_of(recording_index),
            cancellation_reason=lambda query: _cancellation_reason(recording_index, query),
            is_served=lambda: Completed(not self._lacking[recording_index.session_id]),
            is_replay=True,
        )

    async def play(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Decide in the recorded order, as an event without outputs and the next event may arrive together."""
        id = delivery.event.id
        before = self.recording_index(session.session_id).decision_before.get(id)

        async def is_next() -> bool:
            return before is None or before in self._decided

        await wait_until(self.bus, session.session_id, is_next)
        outcome = await super().play(delivery, session)

        def decided() -> None:
            self._decided.add(id)
            if outcome.after_commit is not None:
                outcome.after_commit()

        return outcome._replace(timers=(), after_commit=decided)

    async def never_end(
        self, recording_index: RecordingIndex, delivery: Delivery, session: SessionStore
    ) -> None:
        """Return at once, as a decision without outputs ends too."""

    def step_context(self, session_id: str) -> asyncio.Lock:
        return self._locks[session_id]

    def prepare(self, recording_index: RecordingIndex, event: AnyEvent) -> None:
        if (seen := recording_index.output(event.id, OutagesSeen)) is not None:
            self._outages[recording_index.session_id] = seen.outages
        outputs = (line.event.data for line in recording_index.outputs(event.id))
        self._lacking[recording_index.session_id] = lacked_dispatcher(outputs)

    def as_recorded(self, recording_index: RecordingIndex, event: AnyEvent) -> AnyEvent:
        then = with_recorded_time(recording_index, event, self._latest[recording_index.session_id])
        self._latest[recording_index.session_id] = then.time
        return then


def _settings(opened: SessionOpened | None) -> CoordinatorSettings:
    """Return the settings with which a session was opened, without a wait for tools."""
    if opened is None:
        return CoordinatorSettings.model_construct(catalogue_wait_s=0)
    values = opened.limits.model_dump(include=_LIMITS)
    return CoordinatorSettings.model_construct(
        **values,
        person_wait_s=opened.limits.person_s,
        tools_offered_all_max=opened.tools_offered_all_max,
        tools_offered=opened.tools_offered,
        catalogue_wait_s=0,
    )


_LIMITS = {"max_rounds", "max_tool_calls", "max_tokens", "deadline_s", "summaries_max", "model_failures_max"}
"""Limits of a session that are settings by the same name."""


class _RecordedTurns:
    """The recorded conversation when a session was opened; no turns are added."""

    def __init__(self, turns: tuple[Turn, ...]) -> None:
        self._turns = turns

    async def turns(self, tenant: str, conversation: str, at: datetime | None = None) -> StoredTurns:
        return StoredTurns(turns=self._turns)

    async def begin(self, tenant: str, conversation: str, turn: OpenTurn) -> None:
        """Ignore the turn."""

    async def open_question(self, tenant: str, conversation: str, session_id: str) -> OpenTurn | None:
        return None

    async def complete(self, tenant: str, conversation: str, turn: Turn) -> None:
        """Ignore the turn."""


async def _cancellation_reason(recording_index: RecordingIndex, query: AnyEvent) -> str | None:
    """Return the reason why the query was cancelled before its session was opened; None if it was not."""
    if recording_index.run is not None:
        return opening_of(recording_index.run).cancelled_because
    outputs = [line.event.data for line in recording_index.outputs(query.id)]
    opened = (one for one in outputs if isinstance(one, SessionOpened))
    return next((recorded_opening(one, outputs).cancelled_because for one in opened), None)


def _check_of(recording_index: RecordingIndex) -> GrantCheck:
    """Return the recorded check of the grant."""
    if recording_index.run is not None:
        return GrantCheck(recording_index.run.grant_refused, recording_index.run.is_grant_ignored)
    return recorded_opening(recording_index.opened).grant if recording_index.opened else GRANT_ACCEPTED
