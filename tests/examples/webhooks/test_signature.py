"""A signature is valid for exactly the signed bytes."""

import hmac

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from examples.webhooks.signature import WINDOW_S, fault_in, sign

SECRET = "correct-horse-battery"
NOW = 1_700_000_000
KEY = "acme/s1/1/c1"
BODY = b'{"type":"order.shipped"}'


def test_a_signature_is_the_documented_hmac() -> None:
    expected = hmac.new(SECRET.encode(), b"1700000000.acme/s1/1/c1." + BODY, "sha256").hexdigest()
    assert sign(SECRET, NOW, KEY, BODY) == f"v1={expected}"


@given(timestamp=st.integers(0, 10**11), key=st.text(), body=st.binary())
def test_a_valid_signature_is_accepted(timestamp: int, key: str, body: bytes) -> None:
    signature = sign(SECRET, timestamp, key, body)
    assert fault_in(SECRET, str(timestamp), key, body, signature, now=timestamp) == ""


@given(secret=st.text(), moved=st.integers(-WINDOW_S, WINDOW_S), key=st.text(), body=st.binary())
def test_anything_else_is_not(secret: str, moved: int, key: str, body: bytes) -> None:
    assume((secret, moved, key, body) != (SECRET, 0, KEY, BODY))
    signature = sign(SECRET, NOW, KEY, BODY)
    assert "does not match" in fault_in(secret, str(NOW + moved), key, body, signature, now=NOW)


@pytest.mark.parametrize(
    ("late_s", "is_believed"),
    [(WINDOW_S, True), (-WINDOW_S, True), (WINDOW_S + 1, False), (-WINDOW_S - 1, False)],
)
def test_a_timestamp_is_believed_within_its_window(late_s: int, is_believed: bool) -> None:
    fault = fault_in(SECRET, str(NOW), KEY, BODY, sign(SECRET, NOW, KEY, BODY), now=NOW + late_s)
    assert (fault == "") is is_believed


@pytest.mark.parametrize("timestamp", ["", "now", "-5", "1e9", "1700000000.5", "٣", "9" * 5_000])
def test_an_invalid_timestamp_is_refused(timestamp: str) -> None:
    assert "not a number of seconds" in fault_in(SECRET, timestamp, KEY, BODY, "v1=00", now=NOW)


@pytest.mark.parametrize("signature", ["", "v1=", "ü", "v2=" + "0" * 64])
def test_an_invalid_signature_is_refused(signature: str) -> None:
    assert "does not match" in fault_in(SECRET, str(NOW), KEY, BODY, signature, now=NOW)
