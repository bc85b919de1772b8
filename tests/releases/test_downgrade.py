"""A deployment that a later release has written to: this one refuses to start, and mangles nothing."""

import orjson
import pytest
from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.formats import FORMAT

from tests.flows.pipeline import Pipeline, pipeline

LATER = FORMAT + 1


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_worker_refuses_to_start_with_data_of_a_later_release(component: Component) -> None:
    with pipeline(is_started=False) as five:
        five.client.set(five.keys.format(), LATER)
        five.start(component)
        assert five.running[component].wait(timeout=60) == 2
        words = five.logs()
    assert f"contains sessions of format {LATER}" in words
    assert f"this release reads only formats up to {FORMAT}" in words
    assert "Run the release that wrote them, or a later one." in words
    assert "Traceback" not in words


def test_a_session_of_a_later_format_is_set_aside_whole_and_can_be_requeued() -> None:
    with pipeline() as five:
        event, log = an_event_of_a_later_release(five)
        fields: dict[str, str | bytes] = {"event": event, "log": log}
        five.add(five.keys.inbox(0, "coordinator"), fields)
        five.until(lambda: bool(five.entries(five.keys.dead(0))), "the dead letter")
        (_, dead) = five.entries(five.keys.dead(0))[0]
        letter = orjson.loads(dead[b"letter"])
        assert dead[b"event"] == event
        assert letter["error"]["code"] == "newer_format"
        assert "antiphon dead requeue" in letter["error"]["message"]
        assert (letter["component"], letter["log"]) == ("coordinator", log)
        assert letter["event_type"] == "antiphon.deadline.reached.v1"
        assert all(process.poll() is None for process in five.running.values())


def an_event_of_a_later_release(five: Pipeline) -> tuple[bytes, str]:
    five.submit("Why?", session_id="s1")
    five.response_to("s1")
    first = five.log("s1")[0]
    ((log, _), *_) = five.entries(five.keys.log("s1"))
    later = {**first, "type": "antiphon.deadline.reached.v1", "data": {"unheard": "of"}, "format": LATER}
    return orjson.dumps(later), log.decode()


def test_the_document_of_a_later_release_is_unchanged() -> None:
    with pipeline(is_started=False, ANTIPHON_COORDINATOR_CATALOGUE_WAIT_S="0") as five:
        five.start("coordinator", "context_synthesizer")
        five.submit("Why?", session_id="s1")
        five.until(lambda: any("reasoning" in event["type"] for event in five.log("s1")), "the first round")
        document = five.keys.of_session("s1", "state")
        later = orjson.dumps({"format": LATER, "unheard": "of"})
        five.client.hset(document, "content", later)
        ((log, opening), *_) = five.entries(five.keys.log("s1"))
        cancelled = {
            **orjson.loads(opening[b"event"]),
            "type": "antiphon.cancellation.requested.v1",
            "data": {"reason": "a test"},
        }
        fields: dict[str, str | bytes] = {"event": orjson.dumps(cancelled), "log": log}
        five.add(five.keys.inbox(0, "coordinator"), fields)
        five.until(lambda: bool(five.entries(five.keys.dead(0))), "the dead letter")
        (_, dead) = five.entries(five.keys.dead(0))[0]
        assert orjson.loads(dead[b"letter"])["error"]["code"] == "newer_format"
        assert five.client.hget(document, "content") == later
        assert five.running["coordinator"].poll() is None
