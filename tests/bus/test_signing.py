"""Signed messages: forged, altered, moved and unsigned ones are dead-lettered before they are read."""

import asyncio
import hmac
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from antiphon_shared.bus.dead_letters import DeadLetters, Letter
from antiphon_shared.bus.handling import Delivery, Handlers, Outcome, SessionStore, SetTimer
from antiphon_shared.bus.intake import Intake
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.signing import BadSignature, KeyMissing, Signer
from antiphon_shared.events import (
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    QuerySubmitted,
    encode,
)
from antiphon_shared.process import logs
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import ConfigurationError, ErrorInfo, TryLater
from hypothesis import given
from hypothesis import strategies as st

from tests.bus.builders import (
    PLACE,
    Seen,
    a_query,
    entries,
    eventually,
    has_dead,
    inbox_of,
    length,
    put_fields,
    raising,
    until_done,
    working,
)
from tests.envelopes import an_event

OLD, NEW, OTHER = (word * 8 for word in ("old-", "new-", "else"))
SIGNER = Signer((NEW.encode(), OLD.encode()))


@pytest.fixture
def signed(bus: Bus) -> Bus:
    bus.signer = SIGNER
    return bus


def fields_of(bus: Bus, **changed: Any) -> dict[Any, Any]:
    """Return a correct entry of the coordinator's inbox with some fields changed."""
    event = encode(a_query())
    fields = {"event": event, "log": PLACE, "signature": SIGNER.sign(inbox_of(bus), event), **changed}
    return {name: value for name, value in fields.items() if value is not None}


async def codes(bus: Bus) -> list[str]:
    return [letter.error.code for _, letter in await DeadLetters(bus).list()]


def test_a_signature_is_the_hmac_of_the_streams_name_and_the_event() -> None:
    expected = hmac.new(NEW.encode(), b'antiphon:queries\n{"a":1}', sha256).hexdigest()
    assert SIGNER.sign("antiphon:queries", b'{"a":1}') == expected


@given(st.binary(max_size=64), st.binary(max_size=64), st.sampled_from("abc"), st.sampled_from("abc"))
def test_a_signature_holds_for_one_event_in_one_stream(
    event: bytes, other: bytes, stream: str, elsewhere: str
) -> None:
    signature = SIGNER.sign(stream, event).encode()
    SIGNER.verify(stream, event, signature)
    if (event, stream) != (other, elsewhere):
        with pytest.raises(BadSignature):
            SIGNER.verify(elsewhere, other, signature)


@given(st.one_of(st.none(), st.binary(max_size=100)))
def test_an_invalid_signature_is_refused(signature: bytes | None) -> None:
    with pytest.raises(BadSignature):
        SIGNER.verify("inbox", b"{}", signature)


def test_keys_are_rotated_by_a_list_whose_first_signs() -> None:
    before, after = Signer.of(OLD), Signer.of(f" {NEW} , {OLD},")
    assert before is not None
    assert after is not None
    after.verify("s", b"e", before.sign("s", b"e").encode())
    with pytest.raises(BadSignature):
        before.verify("s", b"e", after.sign("s", b"e").encode())
    both = Signer.of(f"{OLD},{NEW}")
    assert both is not None
    both.verify("s", b"e", after.sign("s", b"e").encode())


def test_short_keys_are_refused_and_no_key_is_shown() -> None:
    with pytest.raises(ConfigurationError) as refused:
        Signer.of(f"{NEW},secret")
    assert "secret" not in str(refused.value)
    assert NEW not in repr(SIGNER)
    assert Signer.of(" , ") is None


async def test_events_sent_by_commits_timers_and_retries_are_signed(signed: Bus) -> None:
    due = SetTimer("t", timedelta(seconds=0.05), DeadlineReached())
    tries = 0

    async def on_query(delivery: Delivery, session: SessionStore) -> Outcome:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise TryLater("not yet", delay_s=0.05)
        return Outcome(events=(CancellationRequested(reason="an output"),), timers=(due,))

    on_cancel, on_deadline = Seen(), Seen()
    handlers: Handlers = {
        QuerySubmitted: on_query,
        CancellationRequested: on_cancel,
        DeadlineReached: on_deadline,
    }
    async with working(signed, handlers):
        await signed.publish(a_query(), "open")
        await eventually(lambda: bool(on_cancel.deliveries and on_deadline.deliveries))
        await until_done(signed)
    log = signed.keys.log("s1")
    logged = await entries(signed, log)
    assert len(logged) == 3
    for _, fields in logged:
        SIGNER.verify(log, fields[b"event"], fields[b"signature"])
    assert len(await signed.session("s1").log()) == 3
    for seen in (on_cancel, on_deadline):
        (delivery,) = seen.deliveries
        assert await signed.session("s1").event(delivery.log_entry) == delivery.event
    assert (tries, await codes(signed)) == (2, [])


FORGERIES: dict[str, Callable[[Bus], dict[str, Any]]] = {
    "unsigned": lambda bus: {"signature": None},
    "altered": lambda bus: {"event": encode(a_query(query="Why not?"))},
    "with another key": lambda bus: {
        "signature": Signer((OTHER.encode(),)).sign(inbox_of(bus), encode(a_query()))
    },
    "from another inbox": lambda bus: {
        "signature": SIGNER.sign(inbox_of(bus, component="tool_dispatcher"), encode(a_query()))
    },
    "from the log": lambda bus: {"signature": SIGNER.sign(bus.keys.log("s1"), encode(a_query()))},
    "no event at all": lambda bus: {"event": b"\xff{"},
}


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_a_forgery_becomes_a_dead_letter_without_reaching_the_session(
    signed: Bus, forgery: str
) -> None:
    seen = Seen()
    await put_fields(signed, fields_of(signed, **FORGERIES[forgery](signed)))
    await put_fields(signed, fields_of(signed))
    async with working(signed, {QuerySubmitted: seen}):
        await until_done(signed)
    assert await codes(signed) == ["bad_signature"]
    assert seen.queries == ["Why?"]
    assert await length(signed, signed.keys.log("s1")) == 0


async def test_a_log_entry_that_was_altered_or_moved_here_is_not_read(signed: Bus) -> None:
    raw, log = encode(a_query()), signed.keys.log("s1")
    for signature in (SIGNER.sign(signed.keys.log("s2"), raw), SIGNER.sign(inbox_of(signed), raw), "00"):
        place: bytes = await signed.batcher.submit("XADD", log, "*", "event", raw, "signature", signature)
        with pytest.raises(BadSignature):
            await signed.session("s1").event(place.decode())


async def test_a_dead_letter_returns_with_the_signature_it_had(signed: Bus) -> None:
    async with working(
        signed, {QuerySubmitted: raising(BadSignature("the log was altered.")), ComponentFailed: Seen()}
    ):
        await signed.publish(a_query(), "open")
        await eventually(lambda: has_dead(signed, 1))
    ((letter_id, letter),) = await DeadLetters(signed).list()
    assert letter.error.code == "bad_signature"
    await DeadLetters(signed).requeue(letter_id)
    seen = Seen()
    async with working(signed, {QuerySubmitted: seen}):
        await eventually(lambda: seen.queries == ["Why?"])
        await until_done(signed)


async def test_a_forged_dead_letter_does_not_become_genuine_by_being_requeued(signed: Bus) -> None:
    event = a_query()
    letter = Letter(
        component="coordinator",
        entry="1-1",
        log=PLACE,
        session_id=event.subject,
        event_type=event.type,
        error=ErrorInfo(code="internal_error", message="trust me"),
        buried=utc_now(),
    )
    partition = signed.keys.partition("s1")
    words = ("letter", letter.model_dump_json(), "event", encode(event))
    place: bytes = await signed.batcher.submit("XADD", signed.keys.dead(partition), "*", *words)
    await DeadLetters(signed).requeue(f"{partition}/{place.decode()}")
    seen = Seen()
    async with working(signed, {QuerySubmitted: seen}):
        await until_done(signed)
    assert (seen.deliveries, await codes(signed)) == ([], ["bad_signature"])


async def test_a_worker_without_a_key_sets_signed_messages_aside_and_works_on(bus: Bus) -> None:
    """A field `signature` is enough, and anyone who may write to the inbox can add it."""
    await put_fields(bus, fields_of(bus))
    await put_fields(bus, {"event": "no event", "log": "1-1", "signature": "x"})
    seen = Seen()
    async with working(bus, {QuerySubmitted: seen, ComponentFailed: seen}):
        await until_done(bus)
        await bus.publish(a_query("s2", "And now?"), "open")
        await eventually(lambda: seen.queries == ["And now?"])
    assert await codes(bus) == ["key_missing", "key_missing"]
    assert seen.failures() == [], "whether it was a message of the session is unknown"


async def test_a_dead_letter_of_a_worker_without_a_key_is_requeued_to_one_with_it(bus: Bus) -> None:
    await put_fields(bus, fields_of(bus))
    async with working(bus, {QuerySubmitted: Seen()}):
        await until_done(bus)
    bus.signer, seen = SIGNER, Seen()
    (letter,) = await DeadLetters(bus).list()
    await DeadLetters(bus).requeue(letter[0])
    async with working(bus, {QuerySubmitted: seen}):
        await eventually(lambda: seen.queries == ["Why?"])
        await until_done(bus)


async def test_no_event_is_sent_to_a_signed_session_without_a_key(signed: Bus) -> None:
    await signed.publish(a_query(), "open")
    assert await signed.first_event("s1") is not None
    signed.signer = None
    with pytest.raises(KeyMissing):
        await signed.first_event("s1")


async def submitted(bus: Bus, *submissions: dict[Any, Any]) -> list[bytes]:
    """Let submissions in; the codes of those that were rejected."""
    for fields in submissions:
        words = [word for pair in fields.items() for word in pair]
        await bus.batcher.submit("XADD", bus.keys.queries(), "*", *words)
    intake = asyncio.create_task(Intake(bus, "door", 8).run())

    async def is_empty() -> bool:
        return await length(bus, bus.keys.queries()) == 0

    try:
        await eventually(is_empty)
    finally:
        intake.cancel()
        await asyncio.gather(intake, return_exceptions=True)
    return [fields[b"code"] for _, fields in await entries(bus, bus.keys.rejected())]


def a_submission(bus: Bus, session_id: str = "s1", place: str = "") -> dict[str, Any]:
    event = encode(an_event(QuerySubmitted(query="Why?"), session_id))
    return {"event": event, "signature": SIGNER.sign(place or bus.keys.queries(), event)}


async def test_the_queue_takes_signed_events_and_rejects_all_others(signed: Bus) -> None:
    moved = a_submission(signed, "s2", inbox_of(signed, "s2"))
    altered = {**a_submission(signed), "event": a_submission(signed, "s3")["event"]}
    bare = {"query": "Why?", "session_id": "s4"}
    bare_and_signed = {**bare, "session_id": "s5", "signature": "00"}
    rejected = await submitted(signed, moved, a_submission(signed), altered, bare, bare_and_signed)
    assert rejected == [b"bad_signature"] * 4
    assert [await length(signed, signed.keys.log(f"s{n}")) for n in range(1, 6)] == [1, 0, 0, 0, 0]


async def test_the_queue_takes_unsigned_submissions_by_an_explicit_switch(signed: Bus) -> None:
    signed.settings = signed.settings.model_copy(update={"unsigned_queries": True})
    bare, forged = {"query": "Why?", "session_id": "s4"}, {**a_submission(signed), "signature": "00"}
    assert await submitted(signed, bare, forged) == [b"bad_signature"]
    ((_, fields),) = await entries(signed, signed.keys.log("s4"))
    SIGNER.verify(signed.keys.log("s4"), fields[b"event"], fields[b"signature"])


async def test_an_intake_without_a_key_rejects_signed_submissions_and_accepts_others(
    bus: Bus, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure("error", "coordinator")
    signed, bare = a_submission(bus), {"query": "Why?", "session_id": "s4"}
    assert await submitted(bus, signed, {"query": "x", "signature": "x"}, bare) == [b"key_missing"] * 2
    assert [await length(bus, bus.keys.log(session)) for session in ("s1", "s4")] == [0, 1]
    for _, fields in await entries(bus, bus.keys.rejected()):
        assert b"the submission is signed, but the coordinator that read it has no key." in fields[b"reason"]
    errors = [line for line in capsys.readouterr().err.splitlines() if "ANTIPHON_SIGNING_KEY" in line]
    assert len(errors) == 1, "the missing key is reported once"


async def test_nothing_is_signed_without_a_key(bus: Bus) -> None:
    outcome = Outcome(events=(CancellationRequested(reason="an output"),))
    seen = Seen()
    async with working(bus, {QuerySubmitted: Seen(outcome), CancellationRequested: seen}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: bool(seen.deliveries))
        await until_done(bus)
    assert {tuple(fields) for _, fields in await entries(bus, bus.keys.log("s1"))} == {(b"event",)}
