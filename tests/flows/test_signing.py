"""The pipeline with signed messages, with a key being changed, and with one process that has no key."""

import asyncio

import pytest
from antiphon_shared.bus.signing import Signer
from antiphon_shared.events import COMPONENTS

from antiphon import Antiphon
from antiphon.errors import SubmissionRejected
from tests.flows.pipeline import ANSWERED, Pipeline, pipeline

OLD, NEW = "old-old-old-old-", "new-new-new-new-"


def ask(five: Pipeline, query: str) -> str:
    """Return the answer's first line, by a client with the settings of this process."""

    async def asking() -> str:
        async with Antiphon(five.redis.url) as antiphon:
            return (await antiphon.ask(query, timeout_s=60)).answer.partition("\n")[0]

    return asyncio.run(asking())


def test_a_signed_pipeline_answers_while_its_key_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of it signs with the new key already; all verify both."""
    with pipeline(is_started=False, ANTIPHON_SIGNING_KEY=f"{OLD},{NEW}") as five:
        five.start(*COMPONENTS[:3])
        five.environment["ANTIPHON_SIGNING_KEY"] = f"{NEW},{OLD}"
        five.start(*COMPONENTS[3:])
        five.wait_until_ready()
        monkeypatch.setenv("ANTIPHON_SIGNING_KEY", f"{NEW},{OLD}")
        assert ask(five, "How high is it?") == ANSWERED
        five.wait_until_idle()
        (session,) = five.session_ids()
        log = five.entries(five.keys.log(session))
        for _, fields in log:
            Signer((OLD.encode(), NEW.encode())).verify(
                five.keys.log(session), fields[b"event"], fields[b"signature"]
            )
        assert OLD not in five.logs()
        monkeypatch.delenv("ANTIPHON_SIGNING_KEY")
        with pytest.raises(SubmissionRejected, match="ANTIPHON_SIGNING_KEY"):
            ask(five, "And without a key?")


def test_a_component_without_the_key_exits_with_the_reason() -> None:
    """Otherwise it would dead-letter every message of the others."""
    with pipeline(is_started=False, ANTIPHON_SIGNING_KEY=NEW, ANTIPHON_BUS_UNSIGNED_QUERIES="true") as five:
        five.start(*(name for name in COMPONENTS if name != "tool_dispatcher"))
        five.wait_until_ready()
        del five.environment["ANTIPHON_SIGNING_KEY"]
        five.submit("How high is it?")
        five.start("tool_dispatcher")
        assert five.running["tool_dispatcher"].wait(timeout=60) == 2
        assert "this process has no key. Set ANTIPHON_SIGNING_KEY" in five.logs()
        five.environment["ANTIPHON_SIGNING_KEY"] = NEW
        five.start("tool_dispatcher")
        five.wait_for_responses(1)
        assert five.responses()[0].answer.startswith(ANSWERED)
        five.wait_until_idle()
