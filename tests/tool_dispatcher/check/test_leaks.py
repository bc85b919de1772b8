"""Leaks in an error or a result are found, and permitted text is not reported."""

import pytest

from tests.rows import each_row
from tool_dispatcher.check.leaks import Leak, leaks_in_data, leaks_in_error

TRACEBACK = 'Traceback (most recent call last):\n  File "/srv/tools.py", line 3, in look\nKeyError: 1'


@each_row(
    ("text", "leak"),
    [
        (TRACEBACK, "it shows a traceback"),
        ('at File "tools.py", line 12', "it shows a traceback"),
        ("cannot open /var/lib/notes.txt", "/var/lib/notes.txt"),
        ("[Errno 2] No such file or directory: '/nowhere/at/all'", "/nowhere/at/all"),
        ("see C:\\Users for more", "C:\\Users"),
        ("in lib/python3.11/site-packages/redis/client.py", "site-packages"),
        ("the key is correct-horse-battery", "it shows a secret"),
        ("the key is correct-horse-battery-st…", "it shows a secret"),
        ("redis://user:hunter2hunter2@db:6379 refused", "it shows what looks like a credential"),
    ],
)
def test_a_leak_in_an_error_is_named(text: str, leak: str) -> None:
    found = list(
        leaks_in_error(
            [text], "", ["correct-horse-battery-staple" if "st…" in text else "correct-horse-battery"]
        )
    )
    assert leak in " ".join(f"{one.what}: {one.detail}" for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "GET /v1/orders/7 answered 404.",
        "https://example.com/home/page is not reachable",
        "Give a date like 2026/11/21, or km/h.",
        "There is no customer C-7; look it up with customer_lookup.",
        "the line 12, in which",
    ],
)
def test_text_that_only_resembles_a_leak_is_not_reported(text: str) -> None:
    assert list(leaks_in_error([text], "", ["text", "short"])) == []


def test_a_path_that_the_caller_sent_is_not_a_leak() -> None:
    assert list(leaks_in_error(["there is no /etc/passwd"], "../../etc/passwd or /etc/passwd", ())) == []


def test_the_full_stop_after_a_path_is_not_part_of_it() -> None:
    assert list(leaks_in_error(["There is no customer /etc/passwd."], "/etc/passwd", ())) == []
    assert list(leaks_in_error(["Cannot open /etc/passwd."], "", ())) == [
        Leak("path", "it shows a path of the machine", "/etc/passwd")
    ]


def test_a_credential_that_the_caller_sent_is_not_a_leak() -> None:
    token = "Bearer abcdef0123456789abcdef"
    assert list(leaks_in_error([f"got {token}"], token, ())) == []
    assert list(leaks_in_error([f"got {token}"], "", ())) == [
        Leak("secret", "it shows what looks like a credential")
    ]


def test_results_with_tracebacks_secrets_or_injection_evidence_are_reported() -> None:
    assert list(leaks_in_data({"log": TRACEBACK}, ())) == [Leak("failure", "its result holds a traceback")]
    assert list(leaks_in_data([{"x": "hunter2hunter2"}], ["hunter2hunter2"])) == [
        Leak("secret", "its result shows a secret")
    ]
    (computed,) = leaks_in_data("is 10587703", ())
    assert computed.kind == "injection"
    assert "1337*7919" in computed.what
    (read,) = leaks_in_data(["root:x:0:0:root:/root"], ())
    assert read.kind == "injection"
    assert "/etc/passwd" in read.what
    assert list(leaks_in_data({"path": "/var/lib/notes.txt", "n": 3}, ["hunter2hunter2"])) == []
