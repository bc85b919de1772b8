"""Secrets are found at any place; text without secrets passes unchanged, as the same object."""

import base64
import json
from typing import Any
from urllib.parse import quote, quote_plus

import orjson
import pytest
from antiphon_shared.redaction.redactor import REDACTED, WELL_KNOWN, Redactor
from hypothesis import example, given
from hypothesis import strategies as st

from tests.rows import each_row

PASSWORD = "open-sesame/1"
REDACTOR = Redactor([PASSWORD])
JWT = (
    "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJhdWQiOiJhbnRpcGhvbiIsImV4cCI6NDAwMH0."
    "c2lnbmVkIGJ5IG5vYm9keSBhdCBhbGwgYW5kIG5vdCB2YWxpZA"
)
PEM = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIHVzZWxlc3M\nanVzdCBmb3IgdGVzdHM=\n-----END PRIVATE KEY-----"
LEGACY_PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011223344556677\n\n"
    f"{'MIIEpAIBAAKCAQEA' * 4}\n{'abcd' * 16}\nZZ==\n-----END RSA PRIVATE KEY-----"
)

CREDENTIALS = {
    "anthropic": "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-AbCdEfGh_IjKl",
    "openai": "sk-Ab1dEf2hIj3lMn4pQr5tUv6xYz7bCd8fGh9jKl0nOp1rSt2v",
    "openai project": "sk-proj-AbCdEfGhIjKl_MnOpQr-StUvWxYz",
    "like openai": "sk-0123456789abcdef0123456789abcdef",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "aws, for a while": "ASIAIOSFODNN7EXAMPLE",
    "aws, with the key": "AKIAIOSFODNN7EXAMPLE, wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "npm": "npm_0123456789abcdefghijABCDEFGHIJ012345",
    "hugging face": "hf_abcdefghijABCDEFGHIJabcdefghijABCDEF",
    "github": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "github server": "ghs_0123456789abcdefghijABCDEFGHIJ012345",
    "github fine-grained": "github_pat_11ABCDEFG0123456789xyz_" + "aB3dE6gH9" * 6 + "aB3dE",
    "gitlab": "glpat-abcDEF123456_7890xyz",
    "slack bot": "xoxb-" + "123456789012-123456789012-AbCdEfGhIjKlMnOpQrStUvWx",
    "slack app": "xapp-1-A0123456789-123456789012-0123456789abcdef",
    "google": "AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "jwt": JWT,
    "jwt without signature": JWT.rpartition(".")[0] + ".",
    "private key": PEM,
    "legacy private key": LEGACY_PEM,
}


@each_row("credential", CREDENTIALS.values(), ids=CREDENTIALS)
@each_row(
    "around",
    ["{}", "key={}", 'export KEY="{}"', "The key is {}, keep it.", "({})", "line\n{}\nline", "a:{};"],
)
def test_exactly_the_text_that_looks_like_a_credential_is_removed(credential: str, around: str) -> None:
    assert WELL_KNOWN.text(around.format(credential)) == around.format(REDACTED)


@each_row("credential", CREDENTIALS.values(), ids=CREDENTIALS)
@each_row("around", ["ordinary words ", "mots à côté ", "\ud800 lone "])
def test_a_credential_is_suspected_in_a_long_text(credential: str, around: str) -> None:
    assert WELL_KNOWN.suspects(f"{around * 100}{credential} {around * 100}")
    assert not WELL_KNOWN.suspects(around * 200)


@each_row("credential", CREDENTIALS.values(), ids=CREDENTIALS)
def test_a_credential_in_json_within_text_is_redacted(credential: str) -> None:
    """The input resembles the result of a tool that returns another service's answer unchanged."""
    answer = json.dumps({"note": f"before\n{credential}\nafter"})
    assert WELL_KNOWN.text(answer) == json.dumps({"note": f"before\n{REDACTED}\nafter"})


@each_row("url", ["postgres://{}@db.example/x?y=1", "redis://{}@10.0.0.1:6379", "https://{}@[::1]/"])
@each_row("login", ["user:pa55", ":pa55", "user:p%40ss/".rstrip("/"), "svc:a:b", "u:%20"])
def test_a_url_keeps_its_host_and_loses_its_password(url: str, login: str) -> None:
    assert WELL_KNOWN.text(f"see {url.format(login)} and go") == f"see {url.format(REDACTED)} and go"


@each_row(
    ("line", "clean"),
    [
        ("Authorization: Bearer abc", "Authorization: Bearer [redacted]"),
        ("authorization: bearer a.b-c_d\r\nHost: x", "authorization: bearer [redacted]\r\nHost: x"),
        ('{"Authorization": "Bearer abc"}', '{"Authorization": "Bearer [redacted]"}'),
        (r'"{\"Authorization\": \"Basic abc\"}"', r'"{\"Authorization\": \"Basic [redacted]\"}"'),
        ("curl -H 'Authorization: token abc' x", "curl -H 'Authorization: token [redacted]' x"),
        ("Bearer 0123456789abcdefABCDEF", "Bearer [redacted]"),
        ("Basic dXNlcjpwYXNzd29yZA==", "Basic [redacted]"),
        ("curl -s -u ada:hunter2 https://a.example", "curl -s -u ada:[redacted] https://a.example"),
        (
            "curl -x http://p.example -U ada:hunter2 https://a.example",
            "curl -x http://p.example -U ada:[redacted] https://a.example",
        ),
        ('wget --proxy-user="ada:hunter2" x', 'wget --proxy-user="ada:[redacted]" x'),
        (f"Proxy-Authorization: Bearer {JWT}", "Proxy-Authorization: Bearer [redacted]"),
    ],
)
def test_a_header_keeps_its_scheme_and_loses_its_token(line: str, clean: str) -> None:
    assert WELL_KNOWN.text(line) == clean


def test_a_header_that_is_an_object_s_entry_is_a_header() -> None:
    headers = {"authorization": "Bearer abc", "accept": "Bearer abc", "Proxy-Authorization": "Basic xyz"}
    assert WELL_KNOWN.json({"headers": headers}) == {
        "headers": {
            "authorization": "Bearer [redacted]",
            "accept": "Bearer abc",
            "Proxy-Authorization": "Basic [redacted]",
        }
    }


ORDINARY = [
    "The bearer of good news is the bearer certificateholder.",
    "Basic authentication is supported; basic understanding suffices. Basic Instinct (1992).",
    "Basic aGVsbG8gd29ybGQh is no login",
    "Authorization: required. Authorization: Basic auth is supported",
    "Authorization: Bearer YOUR_TOKEN",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${TOKEN}",
    'headers={"Authorization": f"Bearer {token}"}',
    "from sklearn import svm; pip install sk-learn; a task-management-2024-for-everybody app; risk-averse",
    '<div class="sk-container-id-1 sk-toggleable__label-arrow-fitted sk-estimator-doc-link">',
    "ask-me-anything-about-0123456789-whatever",
    "xoxo-gossip-girl-forever",
    "AKIA is how such an id begins; AKIA-1, AKIAKIAKIAKIAKIAKIAKIAKIAKIA",
    "github.com/ghp_org/ghp_repository, def ghp_check(): ...",
    "eyJust.kidding.com and object.eyJack.method",
    "https://example.com:8080/a/b@c?x=1#y, http://user@example.com/, mailto:a@b.example",
    "https://medium.com/@somebody/a-title-of-a-post-0123456789ab, ssh://git@github.com:22/a/b",
    'f"postgres://{user}:{password}@{host}/{name}"',
    "postgres://$USER:$PASSWORD@$HOST/x, postgres://<user>:<password>@host, https://%(u)s:%(p)s@host",
    "if '-----BEGIN PRIVATE KEY-----' in text: refuse()",
    "The line -----BEGIN RSA PRIVATE KEY----- opens a key and -----END RSA PRIVATE KEY----- closes it.",
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
    "-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUEXAMPLEEXAMPLE\n-----END CERTIFICATE-----",
    "d41d8cd98f00b204e9800998ecf8427e e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "018f6b2e-7c1a-7000-8000-0123456789ab s1:2026-11-21T12:00:00Z 1-0 default/s1/1/c1",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "docker run -u 1000:1000 curl, curl -u $USER:$PASSWORD, curl -u ada:<password>, npm_config_cache, hf_hub",
    "sk-1, sk-test, sk_live_, ghp_, xoxb-, AIza, Bearer, Basic, eyJ, ://, @",
]


@each_row("text", ORDINARY)
def test_ordinary_text_passes_as_the_same_object(text: str) -> None:
    assert WELL_KNOWN.text(text) is text
    structure = {"a": [text, {text: text}], "authorization": "required"}
    assert WELL_KNOWN.json(structure) is structure


@given(st.binary(min_size=1, max_size=600))
def test_base64_hashes_and_ids_pass(content: bytes) -> None:
    for text in (
        base64.b64encode(content).decode(),
        base64.urlsafe_b64encode(content).decode(),
        content.hex(),
    ):
        assert WELL_KNOWN.text(text) is text


@pytest.mark.parametrize(
    "secret",
    [PASSWORD, "päss wörd+", 'quo"te\\d', "line\nbreak", "ein Wort", "0123456789" * 30, "\udcff-not-utf8"],
)
def test_a_known_secret_is_found_in_every_form_it_may_take(secret: str) -> None:
    redactor = Redactor([secret])
    raw = secret.encode("utf-8", "surrogateescape")
    assert redactor.text(f"<{secret}>") == "<[redacted]>"
    assert redactor.text(f"?password={quote(raw, safe='')}&x=1") == "?password=[redacted]&x=1"
    assert redactor.text(f"password={quote_plus(raw)}") == "password=[redacted]"
    assert redactor.text(base64.b64encode(raw).decode().rstrip("=")) == REDACTED
    if not secret.startswith("\udcff"):
        assert redactor.text(json.dumps([secret])) == '["[redacted]"]'
        assert redactor.text(orjson.dumps([secret]).decode()) == '["[redacted]"]'
    assert redactor.json({"a": ["x", {secret: secret}]}) == {"a": ["x", {REDACTED: REDACTED}]}


def test_the_whitespace_around_a_secret_is_not_part_of_it() -> None:
    """A file's last line end often comes with it."""
    assert Redactor([f"{PASSWORD}\n"]).text(f"<{PASSWORD}>") == "<[redacted]>"


@pytest.mark.parametrize("short", ["", "a", "12345", "  ab\n", "redact", "[redacted]"])
def test_a_secret_too_short_to_distinguish_from_text_is_not_searched(short: str) -> None:
    text = "a 12345 ab redact [redacted]"
    assert Redactor([short]).text(text) is text


def test_the_longer_of_two_overlapping_secrets_is_removed_whole() -> None:
    redactor = Redactor(["sesame", "sesame-and-more"])
    assert redactor.text("sesame-and-more, sesame") == "[redacted], [redacted]"


def test_keys_that_look_alike_once_redacted_lose_no_value() -> None:
    redactor = Redactor(["secret-1", "secret-2"])
    clean = redactor.json({"secret-1": 1, "secret-2": 2, "[redacted]": 3, "x": 4})
    assert sorted(clean.values()) == [1, 2, 3, 4]
    assert "secret" not in json.dumps(clean)


def test_only_changed_parts_are_copied() -> None:
    same, other = {"a": [1, 2.5, None, True]}, [PASSWORD]
    clean = REDACTOR.json([same, other])
    assert clean == [same, [REDACTED]]
    assert clean[0] is same
    assert other == [PASSWORD]


@each_row("value", [None, True, 1, 2.5, 2**70, float("nan"), "", [], {}, "\ud800", ["\ud800", 2**70]])
def test_values_without_secrets_are_the_same_object(value: Any) -> None:
    assert REDACTOR.json(value) is value


@pytest.mark.parametrize("odd", ["\ud800", 2**70])
def test_values_that_no_json_writer_accepts_are_redacted_too(odd: Any) -> None:
    assert REDACTOR.json({"a": odd, "b": (PASSWORD, odd)}) == {"a": odd, "b": [REDACTED, odd]}


@pytest.mark.parametrize("depth", [10, 150, 250, 5_000])
def test_no_depth_of_nesting_hides_a_secret(depth: int) -> None:
    value: Any = PASSWORD
    for _ in range(depth):
        value = [value]
    clean, reached = REDACTOR.json(value), 0
    while isinstance(clean, list):
        (clean,), reached = clean, reached + 1
    assert clean.startswith("[redacted")
    assert reached == min(depth, 200)


pieces = st.sampled_from(
    [*CREDENTIALS.values(), *ORDINARY, PASSWORD, quote(PASSWORD, safe=""), "\n", "\\", '"', "n"]
)
texts = st.lists(pieces | st.text(max_size=8), max_size=5).map("".join)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(texts)
def test_redacted_text_stays_unchanged(text: str) -> None:
    clean = REDACTOR.text(text)
    assert REDACTOR.text(clean) is clean


@given(jsons)
@example(["tab\tsk-ant-api03-AbCdEfGhIjKlMnOpQrStUv"])
@example(["\x01" + CREDENTIALS["github"]])
def test_a_structure_is_redacted_as_each_of_its_texts_would_be(value: Any) -> None:
    """It is searched as JSON first, where quotes and control characters are written otherwise."""
    assert json.dumps(REDACTOR.json(value)) == json.dumps(each_text(value))


def each_text(value: Any) -> Any:
    match value:
        case str():
            return REDACTOR.text(value)
        case list():
            return [each_text(item) for item in value]
        case dict():
            clean: dict[str, Any] = {}
            for key, item in value.items():
                new, n = REDACTOR.text(key), 1
                while new in clean:
                    n += 1
                    new = f"{REDACTOR.text(key)} {n}"
                clean[new] = each_text(item)
            return clean
        case _:
            return value
