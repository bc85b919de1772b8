"""What looks like a credential: private keys, signed tokens, headers, URLs, lines of files and commands. Pure.

Every rule has marks, plain words without which its pattern cannot match; a text is searched for them first. The
patterns leave alone whatever may be ordinary text, a hash, an id, an image in base64 or a piece of code.

Nothing here may match a text and miss it in its JSON: there quotes, backslashes and control characters are written
otherwise, and structures are searched as JSON first.
"""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from antiphon_shared.redaction.token_rules import entropy, token_rules
from antiphon_shared.text.native_search import NativeSearch

PRIVATE_KEY, SIGNED_TOKEN, URL_PASSWORD, CREDENTIAL = (
    "private_key",
    "signed_token",
    "url_password",
    "credential",
)
IsSecret = Callable[[str], bool]


_LOOK = (
    "-----BEGIN [A-Z0-9 ]{0,30}PRIVATE|LS0tLS1CRUdJTi|eyJ[A-Za-z0-9_-]{8}|sk-[A-Za-z0-9]{3}|A[KS]IA[A-Z0-9]{8}|"
    r"uthorization|[Bb]earer {1,3}[A-Za-z0-9._~+/=-]{16}|[Bb]asic {1,3}[A-Za-z0-9+/]{8}|curl|wget|://[^\s/@\"'<>]{1,}@"
)
"""What a text holds that matches one of the rules below."""


class Found(NamedTuple):
    """Where a secret stands in a text."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """One form in which credentials stand."""

    marks: tuple[str, ...]
    pattern: "re.Pattern[str]"
    is_secret: IsSecret
    """Of what the group `token`, or else all of it, holds."""
    kind: str

    def found(self, text: str) -> Iterator[Found]:
        if not any(mark in text for mark in self.marks):
            return
        group = "token" if "token" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            if self.is_secret(match[group]):
                yield Found(*match.span(group), self.kind)


def credentials(text: str) -> list[Found]:
    """What looks like one, in order and apart from each other."""
    if not credentials_hint().may_match(text):
        return []
    found = [one for rule in _RULES for one in rule.found(text)]
    found += (Found(token.start, token.end, CREDENTIAL) for token in token_rules().tokens(text))
    if len(found) < 2:
        return found
    apart: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if apart and one.start < apart[-1].end:
            apart[-1] = apart[-1]._replace(end=max(one.end, apart[-1].end))
        else:
            apart.append(one)
    return apart


@cache
def credentials_hint() -> NativeSearch:
    """Return a first look for all of them at once."""
    return NativeSearch(f"{_LOOK}|{token_rules().look}")


def _any(_: str) -> bool:
    return True


def _random(token: str) -> bool:
    """Letters and digits: not a word, nor a number."""
    return any(sign.isdigit() for sign in token) and any(sign.isalpha() for sign in token)


def _basic(token: str) -> bool:
    """Base64 of `name:password`, which words behind "basic" are not."""
    bare = token.rstrip("=")
    try:
        said = b64decode(bare + "=" * (-len(bare) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in said and said.isprintable()


def _no_placeholder(token: str) -> bool:
    """Not words in capital letters, such as YOUR_TOKEN."""
    return re.fullmatch(r"[A-Z_]+", token) is None


def _user(token: str) -> bool:
    """A name in a URL that is none: long, of letters and digits at random."""
    return _random(token) and entropy(token) > 3


def _rule(marks: str, pattern: str, is_secret: IsSecret = _any, kind: str = CREDENTIAL) -> _Rule:
    return _Rule(tuple(marks.split()), re.compile(pattern), is_secret, kind)


def _key(marks: str, beginning: str, rest: str, kind: str = CREDENTIAL) -> _Rule:
    """A key that begins so, not in the middle of a word, a name or base64.

    That is looked at after the beginning was found, which a literal makes several times quicker. A letter may
    stand before it where it is part of JSON's way to write a line's end or another control character.
    """
    before = rf"(?:(?<![A-Za-z0-9_-]{beginning})|(?<=\\[bfnrt]{beginning})|(?<=\\u[0-9a-f]{{4}}{beginning}))"
    return _rule(marks, beginning + before + rest, kind=kind)


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

_RULES = (
    _rule("-----BEGIN", _PEM, kind=PRIVATE_KEY),
    # The same in base64, as Kubernetes has it; neither certificates nor public keys.
    _rule("LS0tLS1CRUdJTi", r"LS0tLS1CRUdJTi(?!BDRVJU|BQVUJM)[A-Za-z0-9+/]{60,}={0,2}", kind=PRIVATE_KEY),
    # JSON Web Tokens, signed, encrypted or neither: two or more parts, the first an object in base64.
    _key(
        "eyJ",
        "eyJ",
        r"[A-Za-z0-9_-]{8,}+\.(?:eyJ)?[A-Za-z0-9_-]{10,}+(?:\.[A-Za-z0-9_-]*+){1,3}",
        SIGNED_TOKEN,
    ),
    # The many that name their keys as OpenAI does.
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
    # Name and password of a command, not the numbers of a user and a group.
    _rule(
        "curl wget",
        rf" (?:-[uU] ?|--(?:proxy-)?user[ =]){_QUOTE}?(?![0-9]+:[0-9]+(?![^\s\"'\\]))[^\s:\"'\\$<{{]{{1,200}}+:"
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
