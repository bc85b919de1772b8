"""An event is sent signed, taken once, and the secret stays where it is."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Lock
from typing import Any

import httpx2
import pytest
from antiphon_shared.process.clock import utc_now
from antiphon_shared.tools.calls import ToolError

from examples.local_http import Reply, Request, serving
from examples.webhooks import delivery, dispatch_event
from examples.webhooks.receiver import Receiver
from examples.webhooks.settings import configured
from examples.webhooks.tools import AT_ONCE
from tests.tool_dispatcher.builders import a_context, until
from tool_dispatcher.authoring.tool import ToolFailed
from tool_dispatcher.authoring.validate import validate

SECRET = "correct-horse-battery"


@pytest.fixture(autouse=True)
def _configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    monkeypatch.delenv("WEBHOOK_URLS", raising=False)
    monkeypatch.setattr(delivery, "_PAUSE_S", 0.001)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    service = Receiver(SECRET)
    with serving(service.reply) as url:
        monkeypatch.setenv("WEBHOOK_URLS", f"{url}/events")
        yield service


async def send(key: str = "acme/s1/1/c1", **data: Any) -> Any:
    return await dispatch_event("order.shipped", data or {"order": 1024}, a_context(idempotency_key=key))


async def failure(**data: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await send(**data)
    shown = f"{failed.value.message} {failed.value.suggested_action} {failed.value!r}"
    assert SECRET not in shown
    return failed.value


async def test_an_event_arrives_under_its_idempotency_key(receiver: Receiver) -> None:
    receipt = await send()
    assert (receipt.type, receipt.key) == ("order.shipped", "acme/s1/1/c1")
    assert (receipt.delivered, receipt.failed) == (1, 0)
    (one,) = receipt.deliveries
    assert (one.status, one.code, one.attempts) == ("ok", "DELIVERED", 1)
    effect = receiver.effects["acme/s1/1/c1"]
    assert effect.event == {"type": "order.shipped", "data": {"order": 1024}}


async def test_an_event_sent_again_with_its_key_is_accepted_once(receiver: Receiver) -> None:
    receipts = [await send() for _ in range(3)]
    codes = [receipt.deliveries[0].code for receipt in receipts]
    assert codes == ["DELIVERED", "DUPLICATE", "DUPLICATE"]
    assert [effect.deliveries for effect in receiver.effects.values()] == [3]


async def test_a_key_outside_ascii_arrives_unchanged(receiver: Receiver) -> None:
    receipt = await send(key="acmé/s 1/1/c\r\n1")
    assert receipt.key == "acm%C3%A9/s%201/1/c%0D%0A1"
    assert list(receiver.effects) == [receipt.key]


async def test_any_text_arrives_unchanged(receiver: Receiver) -> None:
    data: dict[str, Any] = {"note": "Grüße\u2028\x00 '\"", "nested": [{"deep": [None, 1.5, True]}]}
    await send(**data)
    assert receiver.effects["acme/s1/1/c1"].event["data"] == data


async def test_a_wrong_secret_is_refused_with_the_name_of_its_variable(
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
        (SECRET, "", "WEBHOOK_URLS"),
        (SECRET, f"ftp://{SECRET}@host", "WEBHOOK_URLS"),
        ("", "nowhere", "WEBHOOK_SECRET, WEBHOOK_URLS"),
    ],
)
async def test_a_missing_or_invalid_setting_is_reported_by_the_name_of_its_variable(
    secret: str, url: str, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", secret)
    monkeypatch.setenv("WEBHOOK_URLS", url)
    failed = await failure()
    assert failed.error_type == "permission_denied"
    assert f"{named} must be set" in failed.message
    assert "short" not in failed.message


def test_the_settings_do_not_show_the_secret() -> None:
    assert SECRET not in repr(configured())


async def test_an_unreachable_receiver_has_received_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda _: Reply(200, None)) as url:
        monkeypatch.setenv("WEBHOOK_URLS", url)
    failed = await failure()
    assert (failed.error_type, failed.message) == (
        "api_failure",
        "The receiver cannot be reached. Nothing was sent.",
    )


async def test_an_event_without_an_answer_may_have_been_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "_TIMEOUT", httpx2.Timeout(60, read=0.2))
    took: list[bytes] = []
    over = Event()

    def take_and_stall(request: Request) -> Reply:
        took.append(request.body)
        over.wait(60)
        return Reply(200, None)

    with serving(take_and_stall) as url:
        monkeypatch.setenv("WEBHOOK_URLS", url)
        failed = await failure()
        await until(lambda: took)
        over.set()
    assert failed.error_type == "outcome_unknown"
    assert len(took) == 4


@pytest.mark.parametrize(
    ("reply", "error_type", "retry_after_s"),
    [
        (Reply(429, None, {"retry-after": "1"}), "rate_limit", 1),
        (Reply(429, None, {"retry-after": "soon"}), "rate_limit", None),
        (Reply(503, None), "api_failure", None),
        (Reply(422, None), "validation_error", None),
        (Reply(302, None, {"location": "http://elsewhere.example/"}), "validation_error", None),
    ],
)
async def test_a_refusal_is_reported_by_its_kind(
    reply: Reply, error_type: str, retry_after_s: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda _: reply) as url:
        monkeypatch.setenv("WEBHOOK_URLS", url)
        failed = await failure()
    assert (failed.error_type, failed.retry_after_s) == (error_type, retry_after_s)


@pytest.mark.parametrize("body", [None, [], {"thanks": True}, {"key": 1}])
async def test_a_receiver_of_few_words_is_believed(body: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda _: Reply(200, body)) as url:
        monkeypatch.setenv("WEBHOOK_URLS", url)
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


def test_only_type_and_data_are_accepted() -> None:
    refused = validate(
        dispatch_event, {**json.loads('{"type": "a.b", "data": {}}'), "url": "http://evil.example"}
    )
    assert isinstance(refused, ToolError)
    assert list(refused.fields) == ["url"]


class Town:
    """Receivers by their paths, in one service that counts the requests in flight."""

    def __init__(self, count: int) -> None:
        self.receivers = {f"/{n}/events": Receiver(SECRET) for n in range(count)}
        self.broken: dict[str, Reply] = {}
        self.failing: dict[str, int] = {}
        self.under_way = self.under_way_max = 0
        self.full = Event()
        self._lock = Lock()

    def reply(self, request: Request) -> Reply:
        with self._lock:
            self.under_way += 1
            self.under_way_max = max(self.under_way_max, self.under_way)
            if self.under_way >= AT_ONCE:
                self.full.set()
        if len(self.receivers) > AT_ONCE:
            self.full.wait(60)
        try:
            return self._answer(request)
        finally:
            with self._lock:
                self.under_way -= 1

    def _answer(self, request: Request) -> Reply:
        if request.path in self.broken:
            return self.broken[request.path]
        if self.failing.get(request.path, 0):
            self.failing[request.path] -= 1
            return Reply(503, None)
        return self.receivers[request.path].reply(replace(request, path="/events"))

    @property
    def taken(self) -> int:
        return sum(len(receiver.effects) for receiver in self.receivers.values())


@contextmanager
def a_town(count: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Town, list[str]]]:
    town = Town(count)
    with serving(town.reply) as url:
        urls = [url + path for path in town.receivers]
        monkeypatch.setenv("WEBHOOK_URLS", ",".join(urls))
        yield town, urls


async def test_one_call_reaches_every_address_with_at_most_25_in_flight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with a_town(60, monkeypatch) as (town, urls):
        dispatch = await send()
    assert (dispatch.delivered, dispatch.failed) == (60, 0)
    assert [one.url for one in dispatch.deliveries] == urls
    assert {receiver.effects["acme/s1/1/c1"].deliveries for receiver in town.receivers.values()} == {1}
    assert town.under_way_max == AT_ONCE == 25


async def test_each_address_is_tried_again_by_itself_and_has_its_own_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with a_town(5, monkeypatch) as (town, _):
        town.failing["/1/events"] = 2
        town.broken = {"/2/events": Reply(503, None), "/3/events": Reply(422, None)}
        town.receivers["/4/events"] = Receiver("another-long-secret")
        dispatch = await send()
    deliveries = [(one.status, one.code, one.attempts) for one in dispatch.deliveries]
    assert deliveries == [
        ("ok", "DELIVERED", 1),
        ("ok", "DELIVERED", 3),
        ("error", "FAILED", 4),
        ("error", "REFUSED", 1),
        ("error", "NOT_BELIEVED", 1),
    ]
    errors = [one.error.error_type for one in dispatch.deliveries if one.error is not None]
    assert errors == ["api_failure", "validation_error", "permission_denied"]
    assert (dispatch.delivered, dispatch.failed, town.taken) == (2, 3, 2)


async def test_sent_again_by_its_key_only_those_take_it_that_had_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_town(3, monkeypatch) as (town, _):
        town.broken = {"/2/events": Reply(503, None)}
        await send()
        town.broken = {}
        again = await send()
    assert [one.code for one in again.deliveries] == ["DUPLICATE", "DUPLICATE", "DELIVERED"]
    assert town.taken == 3


async def test_an_event_may_be_sent_to_some_of_the_receivers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with a_town(3, monkeypatch) as (town, urls):
        only = await dispatch_event("order.shipped", {}, a_context(), to=[urls[1]])
        for to in (["http://evil.example/events"], []):
            with pytest.raises(ToolFailed, match="Nothing was sent") as refused:
                await dispatch_event("order.shipped", {}, a_context(), to=to)
            assert urls[0] in (refused.value.suggested_action or "")
    assert [one.url for one in only.deliveries] == [urls[1]]
    assert town.taken == 1


async def test_if_no_receiver_has_it_the_call_fails_with_the_code_of_the_worst(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with a_town(2, monkeypatch) as (town, _):
        town.broken = {path: Reply(422, None) for path in town.receivers}
        failed = await failure()
    assert (failed.error_type, failed.code) == ("validation_error", "REFUSED")
    assert failed.message.count("REFUSED") == 2


async def test_nothing_is_sent_without_time_left(receiver: Receiver) -> None:
    with pytest.raises(ToolFailed, match="no time left") as failed:
        await dispatch_event("order.shipped", {}, a_context(deadline=utc_now()))
    assert failed.value.code == "OUT_OF_TIME"
    assert receiver.effects == {}
