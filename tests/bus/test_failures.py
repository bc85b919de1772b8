"""Handlers that fail: a retry later, or a dead letter with a report to the session."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from antiphon_shared.bus.dead_letters import DeadLetters
from antiphon_shared.bus.handling import (
    NOTHING,
    Delivery,
    Outcome,
    SessionStore,
    SetTimer,
)
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import (
    CancellationRequested,
    ComponentFailed,
    QuerySubmitted,
)
from antiphon_shared.process.errors import AntiphonError, TryLater

from tests.bus.builders import (
    Seen,
    a_query,
    dead_letters,
    eventually,
    has_dead,
    put,
    raising,
    types_in_log,
    until_done,
    working,
)


async def test_a_failed_handler_runs_again_until_its_attempts_are_used_up(bus: Bus) -> None:
    attempts: list[tuple[int, bool]] = []
    on_failed = Seen()

    async def failing(delivery: Delivery, session: SessionStore) -> Outcome:
        attempts.append((delivery.attempt, delivery.redelivered))
        raise RuntimeError("no luck")

    async with working(bus, {QuerySubmitted: failing, ComponentFailed: on_failed}):
        await bus.publish(query := a_query(), "open")
        await eventually(lambda: len(on_failed.deliveries) == 1)
    assert attempts == [(0, False), (1, True), (2, True)]
    failure = on_failed.failures()[0]
    assert (failure.component, failure.failed_event) == ("coordinator", query.id)
    assert "no luck" in failure.error.message
    ((_, letter),) = await DeadLetters(bus).list()
    assert (letter.attempt, letter.deliveries, letter.session_id) == (2, 1, "s1")


class Hopeless(AntiphonError):
    code = "hopeless"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Hopeless("never"), "hopeless"),
        (OSError("a file is not there"), "internal_error"),
        (SystemExit(3), "internal_error"),
        (asyncio.CancelledError(), "internal_error"),
        (RecursionError(), "internal_error"),
    ],
)
async def test_any_exception_of_a_handler_becomes_a_reported_failure(
    bus: Bus, error: BaseException, code: str
) -> None:
    bus.settings = bus.settings.model_copy(update={"max_attempts": 1})
    on_failed = Seen()
    async with working(bus, {QuerySubmitted: raising(error), ComponentFailed: on_failed}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(on_failed.deliveries) == 1)
    assert on_failed.failures()[0].error.code == code


@pytest.mark.parametrize("nonsense", [None, "text", Outcome(events=(None,)), Outcome(writes=("x",))])  # type: ignore[arg-type]  # nonsense on purpose
async def test_a_handler_with_an_invalid_outcome_has_failed(bus: Bus, nonsense: Any) -> None:
    bus.settings = bus.settings.model_copy(update={"max_attempts": 1})
    on_failed = Seen()
    async with working(bus, {QuerySubmitted: Seen(nonsense), ComponentFailed: on_failed}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(on_failed.deliveries) == 1)
    assert await dead_letters(bus) == 1


async def test_trying_later_is_not_a_failure(bus: Bus) -> None:
    attempts: list[int] = []

    async def not_yet(delivery: Delivery, session: SessionStore) -> Outcome:
        attempts.append(delivery.attempt)
        if delivery.attempt < 5:
            raise TryLater("not yet", delay_s=0.01)
        return NOTHING

    async with working(bus, {QuerySubmitted: not_yet}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(attempts) == 6)
        await until_done(bus)
    assert await dead_letters(bus) == 0


async def test_a_report_of_failure_that_fails_itself_is_not_reported(bus: Bus) -> None:
    fails = raising(Hopeless("never"))
    async with working(bus, {QuerySubmitted: fails, ComponentFailed: fails}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: has_dead(bus, 2))
        await until_done(bus)
    assert (await types_in_log(bus)).count(ComponentFailed.type) == 1


@pytest.mark.parametrize("is_timer", [False, True])
async def test_an_event_too_large_for_the_bus_is_reported_as_a_failure(bus: Bus, is_timer: bool) -> None:
    large = QuerySubmitted(query="x" * 60_000)
    bus.settings = bus.settings.model_copy(update={"max_event_bytes": 50_000})
    outcome = (
        Outcome(timers=(SetTimer("t", timedelta(seconds=1), large),))
        if is_timer
        else Outcome(events=(large,))
    )
    on_failed, ran = Seen(), Seen(outcome)
    async with working(bus, {QuerySubmitted: ran, ComponentFailed: on_failed}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(on_failed.deliveries) == 1)
    error = on_failed.failures()[0].error
    assert error.code == "event_too_large"
    assert "ANTIPHON_BUS_MAX_EVENT_BYTES" in error.message
    assert len(ran.deliveries) == 1


async def test_a_copy_of_a_handled_message_that_fails_reports_nothing_to_its_session(bus: Bus) -> None:
    """The session went on with the first outcome long ago; a failure now would be news of the past."""
    query, on_output, on_failed = a_query(), Seen(), Seen()
    handled = Seen(Outcome(events=(CancellationRequested(),)))
    async with working(
        bus, {QuerySubmitted: handled, CancellationRequested: on_output, ComponentFailed: on_failed}
    ):
        await bus.publish(query, "open")
        await eventually(lambda: len(on_output.deliveries) == 1)
        await until_done(bus)
    hopeless = raising(Hopeless("never"))
    async with working(bus, {QuerySubmitted: hopeless, ComponentFailed: on_failed}):
        await put(bus, query)
        await until_done(bus)
    assert on_failed.deliveries == []
    assert await types_in_log(bus) == [QuerySubmitted.type, CancellationRequested.type]
