"""The receiver accepts signed events once, and lists the accepted ones."""

import json
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from examples.local_http import Request
from examples.webhooks import receiver
from examples.webhooks.receiver import Receiver
from examples.webhooks.signature import sign
from tests.examples.processes import ended, first_line, running

SECRET = "correct-horse-battery"
NOW = 1_700_000_000


def a_receiver() -> Receiver:
    return Receiver(SECRET, clock=lambda: NOW)


def a_request(event: Any = None, key: str = "k1", timestamp: int = NOW, secret: str = SECRET) -> Request:
    body = json.dumps({"type": "order.shipped"} if event is None else event).encode()
    headers = {
        "idempotency-key": key,
        "x-webhook-timestamp": str(timestamp),
        "x-webhook-signature": sign(secret, timestamp, key, body),
    }
    return Request("POST", "/events", headers=headers, body=body)


def test_an_event_received_twice_is_accepted_once() -> None:
    service = a_receiver()
    replies = [service.reply(a_request(timestamp=NOW + late)) for late in (0, 60)]
    assert [(reply.status, reply.body["is_duplicate"]) for reply in replies] == [(200, False), (200, True)]
    (effect,) = service.reply(Request("GET", "/ledger")).body["effects"]
    assert effect == {"key": "k1", "event": {"type": "order.shipped"}, "deliveries": 2}


def test_a_key_that_comes_with_another_event_is_refused() -> None:
    service = a_receiver()
    service.reply(a_request())
    assert service.reply(a_request({"type": "order.lost"})).status == 422
    assert service.effects["k1"].event == {"type": "order.shipped"}


@pytest.mark.parametrize(
    "request_",
    [
        a_request(secret="another-secret"),
        a_request(timestamp=NOW - 301),
        a_request(timestamp=NOW + 301),
        replace(a_request(), body=b'{"type":"order.lost"}'),
        replace(a_request(), headers={**a_request().headers, "idempotency-key": "k2"}),
        replace(a_request(), headers={"idempotency-key": "k1"}),
    ],
    ids=["secret", "old", "early", "body", "key", "unsigned"],
)
def test_a_request_with_an_invalid_signature_is_refused_and_changes_nothing(request_: Request) -> None:
    service = a_receiver()
    assert service.reply(request_).status == 401
    assert service.reply(Request("GET", "/ledger")).body == {"effects": [], "refused": 1}


def test_a_request_without_a_key_or_with_no_json_is_refused() -> None:
    service = a_receiver()
    assert service.reply(a_request(key="")).status == 400
    body = b"{"
    headers = {**a_request().headers, "x-webhook-signature": sign(SECRET, NOW, "k1", body)}
    assert service.reply(Request("POST", "/events", headers=headers, body=body)).status == 400
    assert service.effects == {}


def test_the_receiver_forgets_its_oldest_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver, "KEYS_MAX", 2)
    service = a_receiver()
    for key in ("k1", "k2", "k3"):
        service.reply(a_request(key=key))
    assert list(service.effects) == ["k2", "k3"]


def test_the_receiver_process_prints_its_address_and_ends_on_request() -> None:
    with running(
        "-m", "examples.webhooks.receiver", "--port", "0", environment={"WEBHOOK_SECRET": SECRET}
    ) as process:
        assert httpx2.get(f"{first_line(process)}/ledger", timeout=60).json() == {"effects": [], "refused": 0}
        assert ended(process) == 0
