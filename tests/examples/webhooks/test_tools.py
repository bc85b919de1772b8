"""An event is sent signed, taken once, and the secret stays where it is."""

import json
from collections.abc import Iterator
from threading import Event
from typing import Any

import httpx2
import pytest
from antiphon_shared.tools.calls import ToolError

from examples.local_http import Reply, Request, serving
from examples.webhooks import dispatch_event, tools
from examples.webhooks.receiver import Receiver
from examples.webhooks.settings import configured
from tests.tool_dispatcher.builders import a_context, until
from tool_dispatcher.authoring.tool import ToolFailed
from tool_dispatcher.authoring.validate import validate

SECRET = "correct-horse-battery"


@pytest.fixture(autouse=True)
def _configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    monkeypatch.delenv("WEBHOOK_URL", raising=False)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    service = Receiver(SECRET)
    with serving(service.reply) as url:
        monkeypatch.setenv("WEBHOOK_URL", f"{url}/events")
        yield service


async def send(key: str = "acme/s1/1/c1", **data: Any) -> Any:
    return await dispatch_event("order.shipped", data or {"order": 1024}, a_context(idempotency_key=key))


async def failure(**data: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await send(**data)
    told = f"{failed.value.message} {failed.value.suggested_action} {failed.value!r}"
    assert SECRET not in told
    return failed.value


async def test_an_event_arrives_under_its_idempotency_key(receiver: Receiver) -> None:
    receipt = await send()
    assert receipt.model_dump() == {"type": "order.shipped", "key": "acme/s1/1/c1", "is_duplicate": False}
    effect = receiver.effects["acme/s1/1/c1"]
    assert effect.event == {"type": "order.shipped", "data": {"order": 1024}}


async def test_an_event_sent_again_with_its_key_is_taken_once(receiver: Receiver) -> None:
    receipts = [await send() for _ in range(3)]
    assert [receipt.is_duplicate for receipt in receipts] == [False, True, True]
    assert [effect.deliveries for effect in receiver.effects.values()] == [3]


async def test_a_key_that_is_not_ascii_arrives_all_the_same(receiver: Receiver) -> None:
    receipt = await send(key="acmé/s 1/1/c\r\n1")
    assert receipt.key == "acm%C3%A9/s%201/1/c%0D%0A1"
    assert list(receiver.effects) == [receipt.key]


async def test_text_of_every_kind_arrives_as_it_is(receiver: Receiver) -> None:
    data: dict[str, Any] = {"note": "Grüße\u2028\x00 '\"", "nested": [{"deep": [None, 1.5, True]}]}
    await send(**data)
    assert receiver.effects["acme/s1/1/c1"].event["data"] == data


async def test_a_secret_that_is_not_the_receivers_is_told_without_it(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", "another-long-secret")
    failed = await failure()
    assert failed.error_type == "permission_denied"
    assert "WEBHOOK_SECRET" in (failed.suggested_action or "")
    assert receiver.effects == {}


@pytest.mark.parametrize(
    ("secret", "url", "named"),
    [
        ("", "http://127.0.0.1:1/events", "WEBHOOK_SECRET"),
        ("short", "http://127.0.0.1:1/events", "WEBHOOK_SECRET"),
        (SECRET, "", "WEBHOOK_URL"),
        (SECRET, f"ftp://{SECRET}@host", "WEBHOOK_URL"),
        ("", "nowhere", "WEBHOOK_SECRET, WEBHOOK_URL"),
    ],
)
async def test_what_is_not_set_up_is_told_by_the_names_of_the_variables(
    secret: str, url: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", secret)
    monkeypatch.setenv("WEBHOOK_URL", url)
    failed = await failure()
    assert failed.error_type == "permission_denied"
    assert f"{named} must be set" in failed.message
    assert "short" not in failed.message


def test_the_settings_do_not_show_the_secret() -> None:
    assert SECRET not in repr(configured())


async def test_a_receiver_that_is_not_there_has_got_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda _: Reply(200, None)) as url:
        monkeypatch.setenv("WEBHOOK_URL", url)
    failed = await failure()
    assert (failed.error_type, failed.message) == (
        "api_failure",
        "The receiver cannot be reached. Nothing was sent.",
    )


async def test_an_event_without_an_answer_may_have_been_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_TIMEOUT", httpx2.Timeout(60, read=0.2))
    took: list[bytes] = []
    over = Event()

    def take_and_stall(request: Request) -> Reply:
        took.append(request.body)
        over.wait(60)
        return Reply(200, None)

    with serving(take_and_stall) as url:
        monkeypatch.setenv("WEBHOOK_URL", url)
        failed = await failure()
        await until(lambda: took)
        over.set()
    assert failed.error_type == "outcome_unknown"
    assert len(took) == 1


@pytest.mark.parametrize(
    ("reply", "error_type", "retry_after_s"),
    [
        (Reply(429, None, {"retry-after": "9"}), "rate_limit", 9),
        (Reply(429, None, {"retry-after": "soon"}), "rate_limit", None),
        (Reply(503, None), "api_failure", None),
        (Reply(422, None), "validation_error", None),
        (Reply(302, None, {"location": "http://elsewhere.example/"}), "validation_error", None),
    ],
)
async def test_a_refusal_is_told_by_its_kind(
    reply: Reply, error_type: str, retry_after_s: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda _: reply) as url:
        monkeypatch.setenv("WEBHOOK_URL", url)
        failed = await failure()
    assert (failed.error_type, failed.retry_after_s) == (error_type, retry_after_s)


@pytest.mark.parametrize("body", [None, [], {"thanks": True}, {"key": 1}])
async def test_a_receiver_of_few_words_is_believed(body: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda _: Reply(200, body)) as url:
        monkeypatch.setenv("WEBHOOK_URL", url)
        assert (await send()).key == "acme/s1/1/c1"


async def test_an_event_that_is_too_large_is_not_sent(receiver: Receiver) -> None:
    failed = await failure(note="x" * 70_000)
    assert failed.error_type == "validation_error"
    assert receiver.effects == {}


@pytest.mark.parametrize("type_", ["shipped", "Order.Shipped", "order.", ".shipped", "order shipped", "", 7])
def test_a_type_that_is_not_words_with_dots_is_refused(type_: Any) -> None:
    refused = validate(dispatch_event, {"type": type_, "data": {}})
    assert isinstance(refused, ToolError)
    assert list(refused.fields) == ["type"]


def test_nothing_but_type_and_data_is_taken() -> None:
    refused = validate(
        dispatch_event, {**json.loads('{"type": "a.b", "data": {}}'), "url": "http://evil.example"}
    )
    assert isinstance(refused, ToolError)
    assert list(refused.fields) == ["url"]
