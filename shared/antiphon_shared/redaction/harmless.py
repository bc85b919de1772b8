"""Rules for which values of secret keys are harmless, and which texts look like secrets. Pure."""

import itertools
import re

_WORDS = re.compile(
    r"any|array|basic|bearer|bool|boolean|bytes|cookie|correct|default|deprecated|disabled"
    r"|empty|enabled|expired|false|hidden|incorrect|int|integer|invalid|masked|missing|"
    r"mixed|needed|nil|no|none|null|number|object|optional|password|read|redacted|"
    r"refused|rejected|required|revoked|secret|secretstr|str|string|text|token|true|"
    r"undefined|unknown|unset|valid|value|void|wrong|write|yes"
)
"""Words about a secret in schemas, type hints and messages."""
_AFTER_OPTION = re.compile(
    r"a|an|and|argument|arguments|by|can|does|flag|for|from|if|in|instead|is|must"
    r"|only|option|options|or|parameter|should|that|the|to|when|with|would"
)
"""Words after the name of an option in prose."""
_PLACEHOLDER = re.compile(
    r"redacted(?:-\d{1,9})?|\[[a-z][a-z ]{0,40}\]"  # redacted-3, [hidden]
    r"|[\W_]+|[xX]{3,}(?:[-. ][xX]+)*"  # ***, xxx-xxx
    r"|<[^<>]{1,80}>|\$?\{{2,3}[^{}]{1,80}\}{2,3}|\{[^{}=+/]{1,80}\}"  # <token>, {{ token }}
    r"|\$\([^()]{1,80}\)|\$\{[^{}:]{1,80}\}"  # ${TOKEN}; a text after a colon is a default, which may be the value
    r"|\$[A-Z_][A-Z0-9_]*|%\(?\w{1,40}\)?[sd%]|%[sdv]"  # $TOKEN, %(token)s, %TOKEN%
    r"|(?i:your)[_-][A-Za-z_-]{1,60}|[A-Z]{2,}(?:_[A-Z]+)+"  # your-api-key, API_TOKEN
)
_CODE = re.compile(
    r"[A-Za-z_]+(?:\.[A-Za-z_]\w*)*(?:[(\[]|[(\[][^()\[\]]*[)\]].*)|[a-z_]+(?:\.[a-z_]+)+;?", re.DOTALL
)
"""A call, an index, a name with dots: code that is assigned is not the value itself."""
_CHARACTERS_MIN, _DIGITS_MIN, _LETTERS_MIN = 6, 4, 21
_CHARACTERS_MAX = 200
_RANDOM_CHARACTERS_MIN = 8
_CHANGES_MIN = 0.4
"""The least share of changes between capitals, small letters and digits; random text has 0.6 on average."""
_NAMED = re.compile(r"[A-Za-z]{1,60}(?:[-_][A-Za-z]{1,60}){0,9}[-_]?\d{1,4}|[\d.,:/+-]+[A-Za-z%]{0,3}")
"""A word and a number, such as oauth2 and sha-256, or a number and its unit."""


def is_harmless(value: str, key: str = "") -> bool:
    """Return whether a secret key's value is a placeholder or a word about it: `<token>`, `***`, `required`."""
    value = value.strip().strip("\"'`")
    if not value or value.lstrip("\\").startswith("[redacted"):
        return True
    forms = (value, value.rstrip(",;.)]}"))
    return len(value) < _CHARACTERS_MAX and any(
        _WORDS.fullmatch(form.lower()) or form.lower() == key.lower() or _PLACEHOLDER.fullmatch(form)
        for form in forms
    )


def is_code(value: str) -> bool:
    """Return whether an unquoted value is an expression of a program: `get_token()`, `self.token`, `os.environ[`."""
    return _CODE.fullmatch(value[:200]) is not None


def is_said_of_an_option(word: str) -> bool:
    """Return whether a word after `--password` continues a sentence: "the --password option"."""
    return _AFTER_OPTION.fullmatch(word.lower().rstrip(",.;:")) is not None


def looks_secret(word: str) -> bool:
    """Return whether a word in a sentence may be a secret: letters and digits, a number, or very many letters."""
    if "://" in word or word.startswith(("/", "./", "~/")):
        return False
    if word.isdigit():
        return len(word) >= _DIGITS_MIN
    has_digit = any(sign.isdigit() for sign in word)
    has_letter = any(sign.isalpha() for sign in word)
    return (has_digit and has_letter and len(word) >= _CHARACTERS_MIN) or (
        word.isalnum() and len(word) >= _LETTERS_MIN
    )


def looks_random(value: str) -> bool:
    """Return whether the value of a key with several meanings is a secret: `pass: x`, `auth = x`, `tokens: [x]`."""
    if " " in value or _NAMED.fullmatch(value) or is_harmless(value) or is_code(value):
        return False
    return looks_secret(value) and not value.isdigit() and len(value) >= _RANDOM_CHARACTERS_MIN


def is_drawn(token: str) -> bool:
    """Return whether letters and digits alternate as in random text, unlike those of a name as `PageOfUser12`."""
    kinds = [0 if sign.isdigit() else 1 if sign.islower() else 2 for sign in token]
    changes = sum(one != other for one, other in itertools.pairwise(kinds))
    return min(map(kinds.count, range(3))) >= 2 and changes >= _CHANGES_MIN * len(token)
