"""The keys that are secret, and their values in text."""

import json

from antiphon_shared.redaction.secret_keys import ALWAYS, SecretKeys
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row

KEYS = SecretKeys(ALWAYS)


def hidden(text: str) -> str:
    return KEYS.in_text(text, lambda _: "***")


@each_row(
    "key",
    [
        "password",
        "DB_PASSWORD",
        "apiKey",
        "x-api-key",
        "accessToken",
        "token",
        "client secret",
        "Set-Cookie",
        "pin",
    ],
)
def test_a_secret_key_is_recognized_in_any_spelling(key: str) -> None:
    assert KEYS.matches(key)
    assert KEYS.suspects(json.dumps({"a": {key: 1}}).encode())


@each_row(
    "key",
    [
        "max_tokens",
        "input_tokens",
        "cache_read_tokens",
        "tokens_left",
        "shipping",
        "author",
        "pinned",
        "id",
        "press_secretary",
    ],
)
def test_a_token_count_or_a_secretary_is_not_a_secret(key: str) -> None:
    assert not KEYS.matches(key)
    assert hidden(json.dumps({"a": {key: "x1y2z3"}})) == json.dumps({"a": {key: "x1y2z3"}})


def test_a_key_can_be_excluded_again() -> None:
    assert not SecretKeys((*ALWAYS, "!next_page_token")).matches("nextPageToken")


@each_row(
    ("text", "clean"),
    [
        ('{"password": "a b"}', '{"password": "***"}'),
        ('{"password":12, "x": 1}', '{"password":0, "x": 1}'),
        (
            '{"secret": {"a": "x", "b": ["y]", {}, 3]}, "c": "z"}',
            '{"secret": {"a": "***", "b": ["***", {}, 3]}, "c": "z"}',
        ),
        (
            r"{\"tokens\": [\"x\"], \"token\": [\"x\\\"y\", \"z",
            r"{\"tokens\": [\"x\"], \"token\": [\"***\", \"***",
        ),
        ("{'password': 'x'}", "{'password': '***'}"),
        (r"{\"apiKey\": \"x\\\"y\", \"b\": 1}", r"{\"apiKey\": \"***\", \"b\": 1}"),
        ('{"password": "cut off', '{"password": "***'),
        ("https://a.example/?api_key=x%20y&b=1", "https://a.example/?api_key=***&b=1"),
        ("TOKEN=abc def", "TOKEN=*** def"),
        ('pwd="a b" c', 'pwd="***" c'),
        ('{"password": true, "secret": null}', '{"password": true, "secret": null}'),
        ("all of it:\n\tpwd=abc", "all of it:\n\tpwd=***"),
        ("a sign\x1fpin=12", "a sign\x1fpin=***"),
        ("my otp': 12", "my otp': 0"),
        ("The password: ask for it.", "The password: ask for it."),
        ("max_tokens=12", "max_tokens=12"),
    ],
)
def test_values_of_secret_keys_are_found_in_text(text: str, clean: str) -> None:
    assert hidden(text) == clean
    assert KEYS.suspects(text.encode()) or text == clean
    assert KEYS.suspects(json.dumps(text).encode()) or text == clean


@given(st.text(), st.text(), st.integers(0, 3))
def test_json_within_text_stays_json(before: str, value: str, levels: int) -> None:
    text = json.dumps({"a": before, "password": value, "b": 1})
    for _ in range(levels):
        text = json.dumps(text)
    clean = hidden(text)
    for _ in range(levels):
        clean = json.loads(clean)
    assert json.loads(clean) == {
        "a": json.loads(hidden(json.dumps(before))),
        "password": value and "***",
        "b": 1,
    }


@given(st.dictionaries(st.text(), st.integers() | st.text()))
def test_an_unsuspected_text_holds_no_secret_key(value: dict[str, object]) -> None:
    raw = json.dumps(value, ensure_ascii=False).encode()
    assert KEYS.suspects(raw) or not any(map(KEYS.matches, value))
