"""Passwords and tokens that no key names: arguments of calls and commands, words near "password", links. Pure.

The words around them are ordinary, so that a value has to look like a password or a token itself. Each form has an
expression for a first search of a text (`HINT`), with few counted repetitions, which would make that search slow.
"""
# ruff: noqa: E501  # an expression that is cut at the line's end is harder to read

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from antiphon_shared.redaction.harmless import (
    looks_issued,
    looks_like_password,
    looks_like_token,
    looks_random,
)
from antiphon_shared.redaction.span import Span
from antiphon_shared.text.native_search import NativeSearch

_LINE = r"(?:(?<![^\r\n\"])|(?<=\\n))[ \t]{0,20}"
_LINE_END = r"[ \t]*(?=[\r\n]|\\{1,7}[nr]|\\{0,7}\"|\Z)"
_ENDS = r"(?=[\s\"'\\]|\Z)"
_QUOTE = r"\\{0,7}[\"']?"
_WORD = r"(?P<value>[^\s\"'\\<>()|`;,]{6,400})"
_ACTION = (
    r"(?:magic|reset|invit|confirm|verif|activat|recover|unsubscrib|accept|join|share|sign-?in|log-?in|auth|token"
    r"|password|private|secret|access|hook|webhook)"
)
_PARAMETER = (
    r"(?:[\w.-]*(?:key|code|invit\w*|invitation|ticket|hash|nonce|otp|pwd|auth|session|sid|verif\w*|confirm\w*|magic\w*)"
    r"|[tkhp])"
)
_LONG_OPTION = r"--(?:body|value|data|key|content|text|from-literal|set|set-string|secret|env|build-arg|var|license|license-key)"
_CODE = (
    r"(?:(?:[Vv]erification|[Ss]ecurity|[Ll]ogin|[Aa]ccess|[Cc]onfirmation|[Aa]uth\w*|[Oo]ne-time|[Uu]nlock|2FA|MFA|SMS)"
    r" (?:[Cc]ode|[Pp]asscode|PIN)|\bPIN|\bOTP)"
)


_KEY_OF_DATA = r"(?i:[\w.-]{0,60}?(?:idempotency|cache|public|primary|partition|sort|dedup\w*|foreign|object|row|group|hash|map|index|shard|lock|unique|range|state|s3|storage)[-_]?key)"
_VALUE_ENDS = r"(?=[\s\"'\\,;&)}\]]|\Z)"


class _Form(NamedTuple):
    """A form, with a mark that a text must contain for it, a test of the value, and its part of `HINT`."""

    mark: str
    pattern: "re.Pattern[str]"
    is_secret: Callable[[str], bool]
    hint: str


def _form(mark: str, pattern: str, is_secret: Callable[[str], bool], hint: str) -> _Form:
    return _Form(mark, re.compile(pattern), is_secret, hint)


def _is_any(value: str) -> bool:
    """Accept every value of a form whose surroundings are proof enough."""
    return True


_FORMS = (
    # Arguments of commands.
    _form(
        " -",
        rf"[ \t]-(?:[pPwWNAXk]|pw|pass(?:wd|word)?|auth)[ \t=:]{{0,2}}{_QUOTE}{_WORD}",
        looks_like_password,
        r"[ \t]-(?:[pPwWNAXk]|pw|pass\w*|auth)[ \t=:]*[^\s]*[0-9]",
    ),
    _form(
        " -",
        rf"[ \t]-[a-zA-Z][ \t]{{1,2}}{_QUOTE}{_WORD}",
        looks_like_token,
        r"[ \t]-[a-zA-Z][ \t]+[^\s/]*[0-9]",
    ),
    _form(
        " /",
        rf"[ \t]/(?:p|pw|pwd|pass|password|rp|key)[ \t:]{{1,2}}{_QUOTE}{_WORD}",
        looks_random,
        r"[ \t]/(?:p|pw|pwd|pass|password|rp|key)[ \t:]",
    ),
    _form(
        "--",
        rf"{_LONG_OPTION}[ \t=]{{1,2}}(?:{_QUOTE}[\w./:\[\]-]{{1,100}}[=:]{{1,2}})?{_QUOTE}{_WORD}",
        looks_issued,
        rf"{_LONG_OPTION}[ \t=]",
    ),
    _form(
        "%",
        rf"[ \t]-[uU][ \t]*{_QUOTE}[^\s%:\"'\\]{{1,60}}%{_WORD}",
        looks_like_password,
        r"[ \t]-[uU][ \t]*[^\s%]+%",
    ),
    _form(
        "|",
        rf"(?:echo|printf|print)[ \t]+(?:-n[ \t]+)?{_QUOTE}(?P<value>[^\s\"'\\|]{{6,200}}){_QUOTE}[ \t]*\|",
        looks_issued,
        r"(?:echo|printf|print)[ \t]+(?:-n[ \t]+)?[^\s|]+[ \t]*\|",
    ),
    _form(
        "send",
        rf"\bsend(?:line)?[ \t(]+(?:--[ \t]+)?\\{{0,7}}[\"']{_WORD}(?=\\)",
        looks_like_password,
        r"send[a-z]*[ \t(]+(?:-- )?\\*[\"']",
    ),
    # Name and password with a colon: at an address without a scheme, on a line of its own, as a word.
    _form(
        "@",
        r"(?<![\w:/@.%-])[\w.+-]{1,60}:(?P<value>[^\s:@/\"'\\<>{}()]{6,100})@(?=[A-Za-z0-9\[])",
        looks_random,
        r"[\w.+-]:[^\s:@/\"'\\<>{}()]+@[A-Za-z0-9\[]",
    ),
    _form(
        ":",
        rf"(?<![\w:/@.%+-])[A-Za-z][\w.+-]{{0,60}}(?:@[\w-]{{1,60}}(?:\.[\w-]{{1,60}}){{1,5}})?:{_WORD}{_ENDS}",
        looks_like_password,
        r"[\w]:[^\s:/\"'\\<>{}()0-9]+[0-9][^\s:/\"'\\<>{}()]*(?:\s|\\|[\"']|$)",
    ),
    # Lines of an assignment, with any name.
    _form(
        "",
        rf"{_LINE}[A-Za-z$][\w.$/ -]{{0,60}}?[ \t]{{0,8}}(?:[:=]|=>|:=)[ \t]{{0,8}}{_QUOTE}{_WORD}{_QUOTE}[;,]?{_LINE_END}",
        looks_like_password,
        r"(?:^|[\n\"]|\\n)[ \t]*[A-Za-z$][\w.$/-]*[ \t]*[:=]>?[ \t]*\\*[\"']?[^ \t\r\n\"'\\/{(\[]*[0-9][^ \t\r\n\"'\\/({\[]*(?:[\r\n\"'\\]|$)",
    ),
    # Links.
    _form(
        "/",
        rf"/{_ACTION}[\w.-]{{0,30}}?(?:/[\w.%=-]{{1,40}}){{0,2}}?[/-](?P<value>[\w~.=-]{{20,300}})(?=/?(?:[?#\s\"'<>)\\,]|/basic|\Z))",
        looks_like_token,
        rf"/{_ACTION}[^\s\"]*[/-][\w~.=-]*[0-9]",
    ),
    _form(
        "=",
        rf"[?&;#]{_PARAMETER}=(?P<value>[\w~.%+/=-]{{20,400}})",
        looks_like_token,
        rf"[?&;#]{_PARAMETER}=[^\s\"]*[0-9]",
    ),
    # Keys with any name, and random letters and digits: `routing_key: x`; not those of entries, caches and columns.
    _form(
        "",
        rf"(?<![\w.-])(?!{_KEY_OF_DATA})[\w.-]{{0,60}}(?:[Kk]ey|KEY)\\{{0,7}}[\"']?[ \t]{{0,8}}(?:[:=]|=>|:=)[ \t]{{0,8}}{_QUOTE}"
        rf"(?P<value>[A-Za-z0-9+/_.~-]{{20,400}}={{0,2}}){_VALUE_ENDS}",
        looks_like_token,
        r"(?:[^_]|[^y]_)(?:[Kk]ey|KEY)\\*[\"']?[ \t]*[:=]+>?[ \t]*\\*[\"']?[A-Za-z0-9+/_.~-]*[0-9]",
    ),
    # Codes of digits.
    _form(
        "",
        rf"{_CODE}(?:'s| is| =|:| for [\w. -]{{1,30}}(?: is|:))?[ \t]{{1,3}}(?P<value>[0-9]{{4,10}}|[0-9]{{3}}[ -][0-9]{{3}})(?![\w.-]*[\w-])",
        _is_any,
        rf"{_CODE}[^\r\n\"0-9]*[0-9]",
    ),
)

_SURE = r"(?:connect|log_?[io]n|sign_?[io]n|auth|credential|passw|username)"
_PERHAPS = r"(?:account|client|database|driver|ftp|imap|pdo|pool|session|smtp|ssh|user|wifi|login|basic)"
_CALL = re.compile(rf"(?i:{_SURE}|{_PERHAPS})[\w.:>-]{{0,30}}\(")
_IS_SURE = re.compile(rf"(?i:{_SURE}|login)")
"""The beginning of a call that may be given a password."""
_ARGUMENT = re.compile(r"(?P<quote>\\{0,7}[\"'])(?P<value>[^\"'\\\r\n]{0,400})(?P=quote)|(?P<end>[)\r\n])")
_ARGUMENTS_CHARACTERS_MAX = 500
_NOUN = re.compile(
    r"(?i)(?<![A-Za-z0-9])(?:(?P<sure>pass(?:word|code|phrase|wd)s?|pwd?|psk|cred(?:ential)?s|login)|pass"
    r"|(?:log|sign)(?:ged|ned|ging|ning|s)?[ _]?(?:in|on)|(?:add_?)?user(?:add)?|key"
    r"|(?:config|secrets?|env(?:-var)?)[ :](?:set|add|put|create))(?![\w.(=-])"
)
"""A word with a password near it."""
_NEAR_MAX = 100
_NEAR_WORDS_MAX = 7
_END = re.compile(r"[\r\n]|\\[nr]|[.!?][ \t]")
_WORD_NEAR = re.compile(r"[^\s\"'\\`<>()|,;]+")
_AFTER = re.compile(
    r"(?P<value>[^\s\"'\\`<>()|,;]{8,80})[\"'`]? (?:is|as|for|was) (?:the |a |your |my |our |their )?[\w ]{0,20}?"
    r"(?:pass(?:word|code|phrase)?|pw|pwd)\b"
)
_SHORT_NOUN = (
    r"(?:[Pp]ass|PASS|[Cc]reds|[Ll]ogin|[Ll]og(?:ged)? in|[Ss]ign(?:ed)? [io]n|LOGON|logon|user|add_user|useradd|key|(?:config|secrets?|env|env-var)[ :](?:set|add|put|create))[ \t:]+"
    r"(?:\S+[ \t]+)?(?:\S+[ \t]+)?(?:\S+[ \t]+)?(?:\S+[ \t]+)?[^\s]*[0-9]"
)
_OTHER_HINTS = (rf"(?i:{_SURE}|{_PERHAPS})[\w.:>-]*\([^)\r\n\"']*\\*[\"']", _SHORT_NOUN)


def _in_ascii(hint: str) -> str:
    """Return a hint whose classes are those of ASCII, as those of Unicode take a search many times longer."""
    inside = re.sub(
        r"\[(?:[^\]\\]|\\.)*\]",
        lambda one: one[0].replace(r"\w", "A-Za-z0-9_").replace(r"\s", " \\t\\r\\n"),
        hint,
    )
    return (
        inside.replace(r"\w", "[A-Za-z0-9_]")
        .replace(r"\s", "[ \\t\\r\\n]")
        .replace(r"\S", "[^ \\t\\r\\n]")
        .replace(r"\b", "")
    )


HINT = _in_ascii("|".join((*(form.hint for form in _FORMS), *_OTHER_HINTS)))
SEARCH = NativeSearch(HINT)
"""A search that matches in every text that may contain one of these forms."""
_SEARCHES = tuple(NativeSearch(_in_ascii(form.hint)) for form in _FORMS)
_CALLS, _NOUNS = (NativeSearch(_in_ascii(hint)) for hint in _OTHER_HINTS)


def unnamed(text: str) -> Iterator[Span]:
    """Yield the values in all such forms."""
    for form, search in zip(_FORMS, _SEARCHES, strict=True):
        for match in form.pattern.finditer(text) if form.mark in text and search.may_match(text) else ():
            start, end = match.span("value")
            value = text[start:end].rstrip(".,:!?")
            if form.is_secret(value):
                yield Span(start, start + len(value))
    if _CALLS.may_match(text):
        yield from _in_calls(text)
    yield from _near_nouns(text)


def _in_calls(text: str) -> Iterator[Span]:
    """Yield the literals that look like passwords among a call's arguments, such as `login("ada", "x")`."""
    for call in _CALL.finditer(text):
        is_sure = _IS_SURE.search(call[0]) is not None
        end = min(call.end() + _ARGUMENTS_CHARACTERS_MAX, len(text))
        is_first = True
        for argument in _ARGUMENT.finditer(text, call.end(), end):
            if argument["end"]:
                break
            value = argument["value"]
            is_secret = looks_like_password(value) or (is_sure and looks_like_token(value))
            if is_secret or (not is_first and "/" not in value and looks_like_token(value)):
                yield Span(*argument.span("value"))
            is_first = False


def _near_nouns(text: str) -> Iterator[Span]:
    """Yield the words that look like passwords behind "password", "login" or "user", or before "as the password"."""
    for noun in _NOUN.finditer(text):
        end = min(noun.end() + _NEAR_MAX, len(text))
        if stop := _END.search(text, noun.end(), end):
            end = stop.start()
        yield from _passwords(text, noun.end(), end, _NEAR_WORDS_MAX)
        if noun["sure"]:
            start = max(0, noun.start() - _NEAR_MAX)
            ends = [one.end() for one in _END.finditer(text, start, noun.start())]
            yield from _passwords(text, ends[-1] if ends else start, noun.start(), _NEAR_MAX)
    for match in _AFTER.finditer(text) if "pass" in text or "pw" in text else ():
        if looks_random(match["value"]):
            yield Span(*match.span("value"))


def _passwords(text: str, start: int, end: int, words_max: int) -> Iterator[Span]:
    """Yield those of the first words in a part of a text that look like passwords."""
    for word in islice(_WORD_NEAR.finditer(text, start, end), words_max):
        value = word[0].rstrip(".!?:*_").lstrip("*_")
        if looks_like_password(value):
            begin = word.start() + word[0].find(value)
            yield Span(begin, begin + len(value))
