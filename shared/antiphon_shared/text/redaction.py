"""Redaction: secret values, and what looks like a credential, become "[redacted]". Pure.

Every rule has marks, plain words without which its pattern cannot match. A text is searched for them first, a
structure in one go as JSON: where there is nothing to find, that is all it costs.

What is known to be secret (`Redactor(values)`) is found as it is, and as it stands in a URL, in JSON and in
base64. The patterns are for what nobody told us of; they leave alone whatever may be ordinary text, a hash, an
id, an image in base64 or a piece of code.
"""

import binascii
import json
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote, quote_plus

import orjson

from antiphon_shared.text.native_search import NativeSearch

REDACTED = "[redacted]"
SECRET_CHARACTERS_MIN = 6
"""Shorter values are not looked for: they would be found in every other word."""
MARKED_CHARACTERS_MIN = 4
"""The same where an author has marked an argument: a PIN is short, and only its own call is searched for it."""
_LONG_CHARACTERS = 500
"""From here on it pays to look for the marks of all keys in one go."""
_TOO_DEEP = "[redacted: nested too deep to be looked through]"
_DEPTH_MAX = 200
_HEADERS = ("authorization", "proxy-authorization")

Replace = Callable[["re.Match[str]"], str]


class Redactor:
    """Takes secrets out of text and JSON. `values` are what must never be seen, such as passwords and keys."""

    def __init__(self, values: Iterable[str] = (), characters_min: int = SECRET_CHARACTERS_MIN) -> None:
        forms = sorted(
            {form for value in values for form in written_forms(value, characters_min)},
            key=lambda form: (-len(form), form),
        )
        known = [_Rule(tuple(forms), re.compile("|".join(map(re.escape, forms))), _whole)] if forms else []
        self._rules = (*known, *_PATTERNS)
        self._singly = (*known, *(rule for rule in _PATTERNS if not _is_rare(rule)))

    def text(self, text: str) -> str:
        """`text` without secrets; the same object when there is none."""
        return _text(text, self._rules)

    def json(self, value: Any) -> Any:
        """A JSON value without secrets, in keys as well; the same object when there is none.

        What is nested deeper than 200 levels is left out whole.
        """
        try:
            is_clean = not self.suspects(orjson.dumps(value).decode())
        except (TypeError, ValueError):  # lone surrogates, integers beyond 64 bits, very deep
            is_clean = False
        return value if is_clean else _json(value, self._rules, 0)

    def found(self, text: str) -> Iterator[tuple[str, str]]:
        """The secrets in `text` as they stand there, each behind its rule's first mark; one may be told twice."""
        for rule in self._rules:
            mark = rule.marks[0] if rule.marks else ""
            for match in rule.matches(text):
                yield mark, match["token"] if "token" in rule.pattern.groupindex else match[0]

    def suspects(self, text: str) -> bool:
        """Whether there may be something to redact; `False` is certain, for the text of JSON as well."""
        is_without_keys = len(text) >= _LONG_CHARACTERS and not _any_key().may_match(text)
        rules = self._singly if is_without_keys else self._rules
        return any(rule.applied(text) != text for rule in rules)


@dataclass(frozen=True, slots=True)
class _Rule:
    """One kind of secret."""

    marks: tuple[str, ...]
    """None where the pattern begins with letters that are as quickly found."""
    pattern: "re.Pattern[str]"
    replace: Replace
    needs: str = ""
    """A sign without which it cannot match; looking for a single one costs next to nothing."""

    def applied(self, text: str) -> str:
        if self.needs in text and (not self.marks or any(mark in text for mark in self.marks)):
            return self.pattern.sub(self.replace, text)
        return text

    def matches(self, text: str) -> Iterator["re.Match[str]"]:
        """Where there is something to replace."""
        if self.needs in text:
            yield from (match for match in self.pattern.finditer(text) if self.replace(match) != match[0])


def _text(text: str, rules: Sequence[_Rule]) -> str:
    clean = text
    for rule in rules:
        clean = rule.applied(clean)
    return text if clean == text else clean


def _json(value: Any, rules: Sequence[_Rule], depth: int) -> Any:
    if isinstance(value, str):
        return _text(value, rules)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth >= _DEPTH_MAX:
        return _TOO_DEEP
    return _object(value, rules, depth) if isinstance(value, dict) else _list(value, rules, depth)


def _object(value: dict[Any, Any], rules: Sequence[_Rule], depth: int) -> dict[Any, Any]:
    clean: dict[Any, Any] = {}
    is_changed = False
    for key, item in value.items():
        new_key = _text(key, rules) if isinstance(key, str) else key
        new_item = _json(item, rules, depth + 1)
        if isinstance(key, str) and isinstance(item, str) and key.lower() in _HEADERS:
            new_item = _header(new_item, rules)
        is_changed = is_changed or new_key is not key or new_item is not item
        clean[_free(new_key, clean)] = new_item
    return clean if is_changed else value


def _list(value: Sequence[Any], rules: Sequence[_Rule], depth: int) -> Sequence[Any]:
    clean = [_json(item, rules, depth + 1) for item in value]
    is_same = all(new is old for new, old in zip(clean, value, strict=True))
    return value if is_same else clean


def _header(value: str, rules: Sequence[_Rule]) -> str:
    """The value of a header that holds credentials, read as it would be in its line."""
    name = "Authorization: "
    clean = _text(name + value, rules).removeprefix(name)
    return value if clean == value else clean


def _free(key: Any, taken: dict[Any, Any]) -> Any:
    """A key that is not taken: two redacted keys of one object may look alike, and nothing is to be lost."""
    n, free = 1, key
    while free in taken:
        n += 1
        free = f"{key} {n}"
    return free


def written_forms(value: str, characters_min: int = SECRET_CHARACTERS_MIN) -> set[str]:
    """How a secret may be written: as it is, in a URL, in JSON, in base64. None of one that is too short."""
    value = value.strip()
    if len(value) < characters_min or value in REDACTED:
        return set()
    raw = value.encode("utf-8", "surrogateescape" if _is_from_bytes(value) else "replace")
    plain = raw.decode("utf-8", "replace")
    encoded = {b64encode(raw).decode().rstrip("="), urlsafe_b64encode(raw).decode().rstrip("=")}
    in_json = {json.dumps(plain)[1:-1], json.dumps(plain, ensure_ascii=False)[1:-1]}
    in_json |= {form.replace("/", "\\/") for form in in_json}  # as PHP writes it
    return {value, quote(raw, safe=""), quote(raw), quote_plus(raw), *in_json, *encoded}


def _is_from_bytes(value: str) -> bool:
    """Whether every lone surrogate stands for a byte, as in an environment variable that is no UTF-8."""
    return all("\udc80" <= sign <= "\udcff" for sign in value if "\ud800" <= sign <= "\udfff")


def _whole(_: "re.Match[str]") -> str:
    return REDACTED


def _token(match: "re.Match[str]") -> str:
    """Only the group named `token`."""
    start, end = match.span("token")
    return match.string[match.start() : start] + REDACTED + match.string[end : match.end()]


def _bearer(match: "re.Match[str]") -> str:
    token = match["token"]
    looks_random = any(sign.isdigit() for sign in token) and any(sign.isalpha() for sign in token)
    return _token(match) if looks_random else match[0]


def _basic(match: "re.Match[str]") -> str:
    """Words that follow "basic" are no base64 of `name:password`."""
    token = match["token"].rstrip("=")
    try:
        said = b64decode(token + "=" * (-len(token) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return match[0]
    return _token(match) if ":" in said and said.isprintable() else match[0]


def _in_header(match: "re.Match[str]") -> str:
    """All but placeholders in capital letters, such as YOUR_TOKEN."""
    return match[0] if re.fullmatch(r"[A-Z_]+", match["token"]) else _token(match)


def _rule(marks: str, pattern: str, replace: Replace = _whole, needs: str = "") -> _Rule:
    return _Rule(tuple(marks.split()), re.compile(pattern), replace, needs)


def _key(marks: str, beginning: str, rest: str, needs: str = "") -> _Rule:
    """A key that begins so, not in the middle of a word, a name or base64.

    That is looked at after the beginning was found, which a literal makes several times quicker. A letter may
    stand before it where it is part of JSON's way to write a line's end or another control character.
    """
    before = rf"(?:(?<![A-Za-z0-9_-]{beginning})|(?<=\\[bfnrt]{beginning})|(?<=\\u[0-9a-f]{{4}}{beginning}))"
    return _rule(marks, beginning + before + rest, needs=needs)


_BREAK = r"(?:\s|\\{1,4}[nrt])"
"""A line's end, in JSON within text as well."""
_QUOTE = r"(?:\\{0,7}[\"'])"
_BASE64 = "[A-Za-z0-9+/=]"
_PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    rf"{_BREAK}{{0,4}}+(?:[A-Za-z-]{{1,40}}+: [^\r\n\\]{{0,200}}+{_BREAK}{{1,4}}+){{0,6}}+"
    rf"{_BASE64}{{16,}}+(?:{_BREAK}{{1,4}}{_BASE64}{{16,}}+)*+(?:{_BREAK}{{1,4}}{_BASE64}{{1,80}}+){{0,2}}"
    rf"(?:{_BREAK}{{0,4}}+-----END [A-Z0-9 ]{{0,30}}PRIVATE KEY(?: BLOCK)?-----)?"
)
"""A private key. One that code only mentions has no body; one that was cut off has no end."""

_AWS = r"[A-Z0-9]{16}(?![A-Za-z0-9_+/=-])(?:(?:[\s,:;|]|\\[nrt]){1,4}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=]))?"
"""An id of AWS, with the key itself where that stands behind it."""

# Nothing here may match a text and miss it in its JSON: there quotes, backslashes and control characters are
# written otherwise, and structures are searched as JSON first.
_PATTERNS = (
    _rule("-----BEGIN", _PEM, needs="-"),
    # JSON Web Tokens, signed, encrypted or neither: two or more parts, the first an object in base64.
    _key(
        "eyJ", "eyJ", r"[A-Za-z0-9_-]{8,}+\.(?:eyJ)?[A-Za-z0-9_-]{10,}+(?:\.[A-Za-z0-9_-]*+){1,3}", needs="."
    ),
    # Anthropic, OpenAI, and those who name their keys alike.
    _key(
        "sk-",
        "sk-",
        r"(?:(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,}|(?=[A-Za-z]{0,80}[0-9])[A-Za-z0-9]{20,})",
        needs="-",
    ),
    _key("k_live_ k_test_", "[sr]k_(?:live|test)_", "[A-Za-z0-9]{16,}", needs="_"),  # Stripe
    _key("AKIA", "AKIA", _AWS),
    _key("ASIA", "ASIA", _AWS),
    _key("ghp_ gho_ ghu_ ghs_ ghr_", "gh[pousr]_", "[A-Za-z0-9]{30,}", needs="_"),  # GitHub
    _key("npm_", "npm_", "[A-Za-z0-9]{30,}", needs="_"),
    _key("hf_", "hf_", "[A-Za-z0-9]{30,}", needs="_"),  # Hugging Face
    _key("github_pat_", "github_pat_", "[A-Za-z0-9_]{22,}", needs="_"),
    _key("glpat-", "glpat-", "[A-Za-z0-9_-]{20,}", needs="-"),  # GitLab
    _key("xox", "xox[abcdeprs]", r"(?:\.xox[bp])?-(?=[A-Za-z-]{0,80}[0-9])[A-Za-z0-9%-]{10,}", needs="-"),
    _key("xapp-", "xapp-", "(?=[A-Za-z-]{0,80}[0-9])[A-Za-z0-9-]{10,}", needs="-"),  # Slack, as above
    _key("AIza", "AIza", "[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),  # Google
    _rule(
        "uthorization",
        rf"uthorization{_QUOTE}? {{0,3}}[:=] {{0,3}}{_QUOTE}?(?i:bearer|basic|token|apikey) {{1,3}}"
        rf"(?P<token>[A-Za-z0-9._~+/=-]{{3,}})(?={_QUOTE}|[\r\n,;}}\]]|\\[nr]|\Z)",
        _in_header,
    ),
    _rule("earer", "earer(?<=[Bb]earer) {1,3}(?P<token>[A-Za-z0-9._~+/=-]{16,})", _bearer, needs=" "),
    _rule("asic", "asic(?<=[Bb]asic) {1,3}(?P<token>[A-Za-z0-9+/]{8,}={0,2})", _basic, needs=" "),
    # Name and password of a command, not the numbers of a user and a group.
    _rule(
        "curl wget",
        rf" (?:-u ?|--(?:proxy-)?user[ =]){_QUOTE}?(?![0-9]+:[0-9]+(?![^\s\"'\\]))[^\s:\"'\\$<{{]{{1,200}}+:"
        rf"(?P<token>[^\s\"'\\$<{{]{{3,200}}+)",
        _token,
        needs=" ",
    ),
    # The password in a URL, with the name before it; not the braces of a template.
    _rule(
        "://",
        r"://(?P<token>[^\s/@:\"'<>]*+:(?![{$<*\[]|%[(s])[^\s/@\"'<>]++)@(?=[\w\[.-])",
        _token,
        needs="@",
    ),
)


def _is_rare(rule: _Rule) -> bool:
    """Whether next to no ordinary text holds its marks: all that it finds is a key, without a second look."""
    return bool(rule.marks) and rule.replace is _whole


@cache
def _any_key() -> NativeSearch:
    """The marks of all such rules."""
    return NativeSearch(
        "|".join(re.escape(mark) for rule in filter(_is_rare, _PATTERNS) for mark in rule.marks)
    )


WELL_KNOWN = Redactor()
"""Knows no secret value; only what credentials look like."""
