"""Entries that a foreign program adds to the inboxes do not change sessions."""

from collections.abc import Collection

from antiphon_shared.events import Component, QuerySubmitted
from antiphon_shared.events.base import COMPONENTS
from antiphon_shared.events.codec import encode

from tests.flows.pipeline import Pipeline, pipeline
from tests.flows.promises import assert_undisturbed
from tests.shared.events.examples import ENTRY, EXAMPLES, an_event

SESSIONS = [f"s{n}" for n in range(20)]

GARBAGE: tuple[dict[bytes | str, bytes | str], ...] = (
    {"hello": "world"},
    {"event": "", "log": ENTRY},
    {"event": "{", "log": ENTRY},
    {"event": b"\xff\xfe", "log": ENTRY},
    {"event": "null", "log": ENTRY},
    {"event": '{"type": "antiphon.no.such.v1"}', "log": ENTRY},
    {"event": encode(an_event(EXAMPLES[0])), "log": "nowhere"},
    {"event": encode(an_event(EXAMPLES[0]))},
    {"event": encode(an_event(EXAMPLES[0])), "log": ENTRY, "attempt": "-1"},
)


def test_garbage_is_set_aside_and_changes_no_session() -> None:
    with pipeline(wait_s=0.05) as five:
        submit_all(five)
        for component in COMPONENTS:
            for fields in GARBAGE:
                five.add(five.keys.inbox(0, component), fields)
        assert_sessions_went_their_way(five)
        assert five.client.xlen(five.keys.dead(0)) == len(GARBAGE) * len(COMPONENTS)


def test_events_of_unopened_sessions_change_no_session() -> None:
    with pipeline(wait_s=0.05, ANTIPHON_COORDINATOR_CATALOGUE_WAIT_S="1") as five:
        five.until(lambda: bool(five.client.exists(five.keys.catalogue())), "the catalogue")
        submit_all(five)
        for data in EXAMPLES:
            if not isinstance(data, QuerySubmitted):  # with it, the session would be opened
                fields: dict[str, str | bytes] = {"event": encode(an_event(data, "nobody")), "log": ENTRY}
                for component in COMPONENTS:
                    five.add(five.keys.inbox(0, component), fields)
        assert_sessions_went_their_way(five)


def test_copies_of_real_entries_change_no_session_that_runs() -> None:
    """One exception: a copy that meets a write in flight reports an unknown outcome."""
    with pipeline(wait_s=0.05) as five:
        submit_all(five)
        copied: dict[str, set[bytes]] = {session_id: set() for session_id in SESSIONS}

        def are_all_copied() -> bool:
            for session_id in SESSIONS:
                copied[session_id] |= copy_entries(five, session_id, but=copied[session_id])
            return all(copied.values())

        five.hold("response_assembler")  # so no session ends before some of its entries were copied
        five.until(are_all_copied, "entries of each session")
        five.let_go("response_assembler")
        five.until(lambda: are_all_copied() and five.response_count() == len(SESSIONS), "all answered")
        assert_sessions_went_their_way(five, are_copied=True)


def test_copies_of_real_entries_change_no_session_that_is_over() -> None:
    with pipeline() as five:
        submit_all(five)
        five.wait_for_responses(len(SESSIONS))
        five.wait_until_idle()
        before = {session_id: five.log(session_id) for session_id in SESSIONS}
        for session_id in SESSIONS:
            copy_entries(five, session_id)
        five.wait_until_idle()
        assert {session_id: five.log(session_id) for session_id in SESSIONS} == before
        assert five.response_count() == len(SESSIONS)


def copy_entries(five: Pipeline, session_id: str, but: Collection[bytes] = ()) -> set[bytes]:
    """Put each event of a session's log into its inbox once more. Returns the places of those in the log."""
    entries = [entry for entry in five.entries(five.keys.log(session_id)) if entry[0] not in but]
    for place, fields in entries:
        for component in inboxes(fields[b"event"]):
            five.add(five.keys.inbox(0, component), {"event": fields[b"event"], "log": place})
    return {place for place, _ in entries}


def inboxes(raw: bytes) -> tuple[Component, ...]:
    """Return the inbox that an event goes to, if it goes to one."""
    for data in EXAMPLES:
        if data.type.encode() in raw[:1000]:
            return (data.inbox,) if data.inbox else ()
    raise AssertionError(f"no event: {raw!r}")


def submit_all(five: Pipeline) -> None:
    for session_id in SESSIONS:
        five.submit("Who is there?", session_id=session_id)


def assert_sessions_went_their_way(five: Pipeline, are_copied: bool = False) -> None:
    """Check for one response for each, and a log without any added event."""
    five.wait_for_responses(len(SESSIONS))
    five.until(lambda: not any(five.left_over(with_dead=False).values()), "everything done")
    responses = {response.session_id: response for response in five.responses()}
    assert five.response_count() == len(responses)
    for session_id in SESSIONS:
        unknown = assert_undisturbed(five, responses[session_id], may_read_again=are_copied)
        assert are_copied or not unknown
