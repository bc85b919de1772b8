"""Texts in the form of credentials: private keys, signed tokens, headers, URLs, lines of files and commands. Pure.

Every rule has marks, plain words without which its pattern cannot match; a text is searched for them first.
The patterns do not match ordinary text, hashes, ids, images in base64 or pieces of code.

A rule that matches a text must also match it in JSON, where quotes, backslashes and control characters are
escaped, because structures are first searched as JSON.
"""

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from antiphon_shared.redaction.span import IsSecret
from antiphon_shared.redaction.token_rules import entropy, token_rules
from antiphon_shared.text.native_search import NativeSearch

PRIVATE_KEY, SIGNED_TOKEN, URL_PASSWORD, CREDENTIAL = (
    "private_key",
    "signed_token",
    "url_password",
    "credential",
)
_LOOK = (
    "-----BEGIN (?:[A-Z0-9 ]{0,30}PRIVATE|OpenVPN)|"
    "LS0tLS1CRUdJTi|eyJ[A-Za-z0-9_-]{8}|sk-[A-Za-z0-9]{3}|A[KS]IA[A-Z0-9]{8}|"
    r"uthorization|[Bb]earer {1,3}[A-Za-z0-9._~+/=-]{16}|[Bb]asic {1,3}[A-Za-z0-9+/]{8}|curl|wget|://[^\s/@\"'<>]{1,}@"
)
"""An expression that matches in every text with a match of one of the rules below."""


class FoundSecret(NamedTuple):
    """The position of a secret in a text, and its kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """One form of credentials."""

    marks: tuple[str, ...]
    pattern: "re.Pattern[str]"
    is_secret: IsSecret
    """A test of the group `token`, or of the whole match without one."""
    kind: str

    def find_in(self, text: str) -> Iterator[FoundSecret]:
        if not any(mark in text for mark in self.marks):
            return
        group = "token" if "token" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            if self.is_secret(match[group]):
                yield FoundSecret(*match.span(group), self.kind)


def credentials(text: str) -> list[FoundSecret]:
    """Return the credentials in a text, in order and without overlaps."""
    if not credentials_hint().may_match(text):
        return []
    secrets = [one for rule in _RULES for one in rule.find_in(text)]
    secrets += (FoundSecret(*position, CREDENTIAL) for position in token_rules().tokens(text))
    if len(secrets) < 2:
        return secrets
    apart: list[FoundSecret] = []
    for one in sorted(secrets, key=lambda one: (one.start, -one.end)):
        if apart and one.start < apart[-1].end:
            apart[-1] = apart[-1]._replace(end=max(one.end, apart[-1].end))
        else:
            apart.append(one)
    return apart


@cache
def credentials_hint() -> NativeSearch:
    """Return a first search for all of them at once."""
    return NativeSearch(_LOOK, token_rules().look)


def _any(_: str) -> bool:
    return True


def _random(token: str) -> bool:
    """Return whether a token has letters and digits, unlike a word or a number."""
    return any(sign.isdigit() for sign in token) and any(sign.isalpha() for sign in token)


def _basic(token: str) -> bool:
    """Return whether a token is base64 of `name:password`, unlike words after "basic"."""
    bare = token.rstrip("=")
    try:
        decoded = b64decode(bare + "=" * (-len(bare) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in decoded and decoded.isprintable()


def _no_placeholder(token: str) -> bool:
    """Return whether a token is not a placeholder in capital letters, such as YOUR_TOKEN."""
    return re.fullmatch(r"[A-Z_]+", token) is None


def _user(token: str) -> bool:
    """Return whether a name in a URL is a token: long, of random letters and digits."""
    return _random(token) and entropy(token) > 3


def _rule(marks: str, pattern: str, is_secret: IsSecret = _any, kind: str = CREDENTIAL) -> _Rule:
    return _Rule(tuple(marks.split()), re.compile(pattern), is_secret, kind)


def _key(marks: str, beginning: str, rest: str, kind: str = CREDENTIAL) -> _Rule:
    """Return the rule for a key with that beginning, unless it is within a word, a name or base64.

    The text before it is tested after the beginning was found, as a search for a literal is several times
    faster. A letter may precede it if it is part of JSON's escape of a line end or another control character.
    """
    before = rf"(?:(?<![A-Za-z0-9_-]{beginning})|(?<=\\[bfnrt]{beginning})|(?<=\\u[0-9a-f]{{4}}{beginning}))"
    return _rule(marks, beginning + before + rest, kind=kind)


_BREAK = r"(?:\s|\\{1,4}[nrt])"
"""A line end, also in JSON within text."""
_QUOTE = r"(?:\\{0,7}[\"'])"
_BASE64 = "[A-Za-z0-9+/=]"
_PEM = (
    r"-----BEGIN (?:[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----"
    rf"{_BREAK}{{0,4}}+(?:[A-Za-z-]{{1,40}}+: [^\r\n\\]{{0,200}}+{_BREAK}{{1,4}}+){{0,6}}+"
    rf"{_BASE64}{{16,}}+(?:{_BREAK}{{1,4}}{_BASE64}{{16,}}+)*+(?:{_BREAK}{{1,4}}{_BASE64}{{1,80}}+){{0,2}}"
    rf"(?:{_BREAK}{{0,4}}+-----END [A-Za-z0-9 ]{{0,50}}-----)?"
)
"""A private key. A mention in code has no body; a truncated key has no end."""
_AWS = r"[A-Z0-9]{16}(?![A-Za-z0-9_+/=-])(?:(?:[\s,:;|]|\\[nrt]){1,4}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=]))?"
"""An id of AWS, with the key itself if it follows."""

_RULES = (
    _rule("-----BEGIN", _PEM, kind=PRIVATE_KEY),
    # The same in base64, as in Kubernetes; neither certificates nor public keys.
    _rule("LS0tLS1CRUdJTi", r"LS0tLS1CRUdJTi(?!BDRVJU|BQVUJM)[A-Za-z0-9+/]{60,}={0,2}", kind=PRIVATE_KEY),
    # JSON Web Tokens, signed, encrypted or neither: two or more parts, the first an object in base64.
    _key(
        "eyJ",
        "eyJ",
        r"[A-Za-z0-9_-]{8,}+\.(?:eyJ)?[A-Za-z0-9_-]{10,}+(?:\.[A-Za-z0-9_-]*+){1,3}",
        SIGNED_TOKEN,
    ),
    # Keys of the many issuers that use the prefix of OpenAI.
    _key(
        "sk-",
        "sk-",
        r"(?:(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,}|(?=[A-Za-z]{0,80}[0-9])[A-Za-z0-9]{20,})",
    ),
    _key("AKIA", "AKIA", _AWS),
    _key("ASIA", "ASIA", _AWS),
    _rule(
        "uthorization",
        rf"uthorization{_QUOTE}? {{0,3}}[:=] {{0,3}}{_QUOTE}?(?i:bearer|basic|token|apikey) {{1,3}}"
        rf"(?P<token>[A-Za-z0-9._~+/=-]{{3,}})(?={_QUOTE}|[\r\n,;}}\]]|\\[nr]|\Z)",
        _no_placeholder,
    ),
    _rule("earer", "earer(?<=[Bb]earer) {1,3}(?P<token>[A-Za-z0-9._~+/=-]{16,})", _random),
    _rule("asic", "asic(?<=[Bb]asic) {1,3}(?P<token>[A-Za-z0-9+/]{8,}={0,2})", _basic),
    # Name and password of a command; not the numbers of a user and a group.
    _rule(
        "curl wget",
        rf" (?:-[uU] ?|--(?:proxy-)?user[ =]){_QUOTE}?(?![0-9]+:[0-9]+(?![^\s\"'\\]))[^\s:\"'\\$<{{]{{0,200}}+:"
        rf"(?P<token>[^\s\"'\\$<{{]{{3,200}}+)",
    ),
    # The password in a URL, with the name before it; not the braces of a template.
    _rule(
        "://",
        r"://(?P<token>[^\s/@:\"'<>]*+:(?![{$<*\[]|%[(s])[^\s/@\"'<>]++)@(?=[\w\[.-])",
        kind=URL_PASSWORD,
    ),
    _rule("://", r"://(?P<token>[A-Za-z0-9_~.-]{20,}+)@(?=[\w\[.-])", _user, URL_PASSWORD),
)
