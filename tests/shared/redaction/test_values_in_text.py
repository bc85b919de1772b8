"""A secret after its key is found in any form; text that only mentions one is not changed."""

import json

from antiphon_shared.redaction.secret_keys import ALWAYS, SecretKeys

from tests.rows import each_row
from tests.shared.redaction.planted_forms import FORMS

KEYS = SecretKeys(ALWAYS)

HARMLESS = (
    "The password: what it must have. Password: at least 8 characters.",
    "The password is required, the token is expired, the secret is safe with me.",
    "token limit, max_tokens: 500, tokens used: 12345678, token: 3",
    "interface Login { password: string; token?: string | null }",
    "def login(password: str, token: str | None = None) -> bool: ...",
    '{"token": null, "password": true, "max_tokens": 4096}',
    "password: ***\ntoken: <token>\napi_key: ${API_KEY}\nsecret: {{ secret }}\nPASSWORD=$PASSWORD\nTOKEN=xxxx",
    "password = get_password()\ntoken = response.json()['token']\nself.token = token\nsecret=settings.secret",
    'client = Client(api_key=api_key, token=os.environ["TOKEN"], password=self.password)',
    'headers["Authorization"] = f"Bearer {token}"; os.environ["TOKEN"] == x; token: Optional[str] = None',
    "if token == expected2: token != other4you",
    "Use the --password option or --token to log in; --password-stdin reads it.",
    "Authorization: required. Authorization: Basic auth is supported",
    "curl -H 'Authorization: Bearer $TOKEN' -H 'X-Api-Key: YOUR_API_KEY' https://a.example",
    "<password>string</password> <token/> <secret>***</secret> Authorization: Bearer <token>",
    "SyntaxError: Unexpected token '<', \"<!DOCTYPE\" is not valid JSON; unexpected token: ';'",
    "Cookie: none. A cookie is 4096 bytes long. The cookie: chocolate",
    "image: registry.example/secret:v1.2.3 and https://secret:8443/path",
    "| Password | Notes |\n| --- | --- |\n| password | required |",
    "How do I reset a password to something that is safe? The API key is missing.",
    "password: [redacted 3]\nAuthorization: Bearer [redacted]\nCookie: a=[redacted 4]; b=[redacted 5]",
    "100%25 of it: %7B%22a%22%3A%22b%22%7D",
)


def hidden(text: str) -> str:
    return KEYS.in_text(text, lambda _: "***")


@each_row("form", FORMS)
def test_every_known_form_of_a_secret_is_found(form: str) -> None:
    text = FORMS[form].format("hunter2xyz")
    assert "hunter2xyz" not in hidden(text)
    assert KEYS.suspects(text.encode())
    assert KEYS.suspects(json.dumps(text).encode())


@each_row("form", FORMS)
def test_a_form_within_json_within_text_is_found_and_the_json_stays(form: str) -> None:
    text = json.dumps({"a": FORMS[form].format("hunter2xyz"), "b": 1})
    clean = hidden(text)
    assert "hunter2xyz" not in clean
    assert json.loads(clean).keys() == {"a", "b"}


@each_row(
    ("text", "clean"),
    [
        ("password: ${DB_PASSWORD:-x7y8z9}", "password: ${DB_PASSWORD:-***}"),
        ('{"password": "${DB_PASSWORD-x7y8z9}"}', '{"password": "${DB_PASSWORD-***}"}'),
        ("export DB_PASSWORD='a b c' # mine", "export DB_PASSWORD='***' # mine"),
        ("PASSWORD=Tr0ub(dor,&3\nB=1", "PASSWORD=***\nB=1"),
        ('{"log": "a\\npassword: horse\\nb"}', '{"log": "a\\npassword: ***\\nb"}'),
        ("password: пароль\nb: 1", "password: ***\nb: 1"),
        ("password=x&user=y", "password=***&user=y"),
        ("k: |\n a\nsecret: |\n  a b\n   c\n\nd: 1", "k: |\n a\nsecret: |\n  ***\n\nd: 1"),
        ("next=%3Ftoken%3Dabc%2520def%26x", "next=%3Ftoken%3D%2A%2A%2A%26x"),
        ("Cookie: a=1x; b=2y\nHost: c", "Cookie: a=***; b=***\nHost: c"),
        ("Set-Cookie: a=1x; Path=/p", "Set-Cookie: a=***; Path=/p"),
        ('{"cmd": "login --password \\"a b\\" -v"}', '{"cmd": "login --password \\"***\\" -v"}'),
        ("the password to hunter2xyz, not token 12", "the password to ***, not token 12"),
    ],
)
def test_exactly_the_value_is_replaced(text: str, clean: str) -> None:
    assert hidden(text) == clean


@each_row("text", HARMLESS)
def test_text_that_only_mentions_secrets_stays_unchanged(text: str) -> None:
    assert hidden(text) == text


def test_a_value_in_a_url_is_decoded_before_it_is_replaced() -> None:
    url = "?next=%2Fa%3Ftoken%3Dx%252By&api_key=a%20b"
    assert KEYS.in_text(url, str.upper) == "?next=%2Fa%3Ftoken%3DX%2BY&api_key=A B"


def test_a_value_in_json_within_text_is_decoded_before_it_is_replaced() -> None:
    values: list[str] = []
    for meant in ('a"b\\c/d', "p\u00e4ss\n\u20ac", "\U0001f600 smile", "C:\\new\\dir"):
        inner = json.dumps({"password": meant})
        for text in (inner, json.dumps({"a": inner}), inner.replace("/", "\\/")):
            KEYS.in_text(text, lambda value: values.append(value) or "")  # type: ignore[func-returns-value]  # that is why
        assert values == [meant] * 3
        values.clear()


@each_row(
    "part",
    [
        "a=",
        "token=,",
        "token=" + "x" * 150 + "! ",
        "token: a",
        "secret: |\\n abc\\n",
        '"token": ["',
        "--password '",
        "%22token%22:%22",
        "<token>x",
        "api key is ",
    ],
)
def test_a_long_text_is_searched_in_linear_time(part: str) -> None:
    """A quadratic search would take minutes."""
    text = part * (300_000 // len(part))
    assert len(hidden(text)) <= len(text)
    KEYS.suspects(text.encode())
