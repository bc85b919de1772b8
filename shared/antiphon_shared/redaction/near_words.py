"""Passwords that no key names, among the arguments of calls and near words such as "password" and "login". Pure."""

import re
from collections.abc import Callable, Iterator
from itertools import islice

from antiphon_shared.redaction.first_search import A_PASSWORD, A_TOKEN, loosened
from antiphon_shared.redaction.harmless import looks_like_password, looks_like_token
from antiphon_shared.redaction.span import Span
from antiphon_shared.text.native_search import NativeSearch

_SURE = r"(?:connect|log_?[io]n|sign_?[io]n|auth|credential|passw|username)"
_PERHAPS = r"(?:account|client|database|driver|ftp|imap|pdo|pool|session|smtp|ssh|user|wifi|login|basic)"
_CALL = re.compile(rf"(?i:{_SURE}|{_PERHAPS})[\w.:>-]{{0,30}}\(")
_IS_SURE = re.compile(rf"(?i:{_SURE}|login)")
"""The beginning of a call that may be given a password."""
_ARGUMENT = re.compile(r"(?P<quote>\\{0,7}[\"'])(?P<value>[^\"'\\\r\n]{0,400})(?P=quote)|(?P<end>[)\r\n])")
_ARGUMENTS_CHARACTERS_MAX = 500
_SURE_NOUN = r"(?:pass(?:word|code|phrase|wd)s?|pwd?|psk|cred(?:ential)?s|login)"
_NOUNS = (
    r"(?:pass|(?:log|sign)(?:ged|ned|ging|ning|s)?[ _]?(?:in|on)|(?:add_?)?user(?:add)?|key"
    r"|(?:config|secrets?|env(?:-var)?)[ :](?:set|add|put|create))"
)
"""Words after which a password may come; the sure ones may also come after it."""
_NOUN = re.compile(rf"(?<![A-Za-z0-9])(?i:(?P<sure>{_SURE_NOUN})|{_NOUNS})(?![\w.(=-])")
_ISSUED = r"(?:token|secret|(?:api|access)?[_-]?key|webhook|bearer)"
"""Words after which a token may come."""
_ISSUED_NOUN = re.compile(rf"(?<!\w)(?i:{_ISSUED})(?![\w.(=-])")
_NEAR_MAX = 100
_NEAR_WORDS_MAX, _TOKEN_WORDS_MAX = 7, 6
_END = re.compile(r"[\r\n]|\\[nr]|[.!?][ \t]")
_WORD_NEAR = re.compile(r"[^\s\"'\\`<>()|,;]+")
_BETWEEN = r"[ \t\r\n\"'\\`<>()|,;\x{80}-\x{10FFFF}]"
_WORD_BETWEEN = rf"{_BETWEEN}*[^ \t\r\n\"'\\`<>()|,;]+{_BETWEEN}"
_NOUN_ENDS = "[^A-Za-z0-9_.(=-]"
_WORD_BEGINS = r"(?:(?-u:\b)|\\[nrt])"
CALLS_HINT = loosened(_CALL.pattern) + r"[^)\r\n\"']*[\"']"
NOUNS_HINT = (
    rf"(?:{_WORD_BEGINS}|_)(?i:{_SURE_NOUN}|{_NOUNS}){_NOUN_ENDS}"
    rf"(?:{_WORD_BETWEEN}){{0,{_NEAR_WORDS_MAX - 1}}}{_BETWEEN}*[*_]*{A_PASSWORD}"
    rf"|(?:{_WORD_BEGINS}|_)(?i:{_SURE_NOUN})(?:{_NOUN_ENDS}|$)"
    rf"|{_WORD_BEGINS}(?i:{_ISSUED}){_NOUN_ENDS}"
    rf"(?:{_WORD_BETWEEN}){{0,{_TOKEN_WORDS_MAX - 1}}}{_BETWEEN}*[*_]*{A_TOKEN}"
)
_CODES = (
    r"(?i:(?:backup|recovery|scratch|rescue|emergency|one-time|2fa|mfa|two-factor|otp)[ _-]?"
    r"(?:authentication |verification |login |access |sign-in )?(?:codes|keys))"
)
_CODE = r"(?=[A-Za-z-]{0,12}[0-9])[A-Za-z0-9]{4,12}(?:[- ][A-Za-z0-9]{4,8}){0,4}(?![\w-])"
_BETWEEN_CODES = r"(?:[\s,;|*•\[\]\"'`\\-]|\\[nrt]|(?<!\w)[0-9]{1,2}[.):])"
_LIST = re.compile(
    rf"{_CODES}[^\r\n\\0-9]{{0,60}}?(?: are| is|[:=]|\r?\n|\\n)(?P<codes>(?:{_BETWEEN_CODES}{{1,12}}{_CODE}){{1,40}})"
)
"""A list of codes that are used once each."""
_ONE_CODE = re.compile(rf"(?<![\w-]){_CODE}|(?<=\\[nrt]){_CODE}")
LISTS_HINT = loosened(_CODES)
_CALLS, _LISTS, _NOUNS_SEARCH = (NativeSearch(hint) for hint in (CALLS_HINT, LISTS_HINT, NOUNS_HINT))


def in_calls(text: str) -> Iterator[Span]:
    """Yield the literals that look like passwords among a call's arguments, such as `login("ada", "x")`."""
    for call in _CALL.finditer(text) if _CALLS.may_match(text) else ():
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


def in_lists(text: str) -> Iterator[Span]:
    """Yield the codes in lists of backup codes and recovery codes."""
    for match in _LIST.finditer(text) if _LISTS.may_match(text) else ():
        yield from (Span(*code.span()) for code in _ONE_CODE.finditer(text, *match.span("codes")))


def near_nouns(text: str) -> Iterator[Span]:
    """Yield the passwords and tokens after "password", "login", "user" or "token", or before "as the password"."""
    if not _NOUNS_SEARCH.may_match(text):
        return
    for noun in _NOUN.finditer(text):
        yield from _near(text, noun.end(), _end_near(text, noun.end()), _NEAR_WORDS_MAX, looks_like_password)
        if noun["sure"]:
            start = max(0, noun.start() - _NEAR_MAX)
            ends = [one.end() for one in _END.finditer(text, start, noun.start())]
            start = ends[-1] if ends else start
            yield from _near(text, start, noun.start(), _NEAR_MAX, looks_like_password)
    for noun in _ISSUED_NOUN.finditer(text):
        yield from _near(text, noun.end(), _end_near(text, noun.end()), _TOKEN_WORDS_MAX, looks_like_token)


def _end_near(text: str, start: int) -> int:
    """Return the end of the line or the sentence, or of the part that is near."""
    end = min(start + _NEAR_MAX, len(text))
    stop = _END.search(text, start, end)
    return stop.start() if stop else end


def _near(
    text: str, start: int, end: int, words_max: int, is_secret: Callable[[str], bool]
) -> Iterator[Span]:
    """Yield those of the first words in a part of a text that pass a test."""
    for word in islice(_WORD_NEAR.finditer(text, start, end), words_max):
        value = word[0].rstrip(".!?:*_").lstrip("*_")
        if is_secret(value):
            begin = word.start() + word[0].find(value)
            yield Span(begin, begin + len(value))
