"""Values after `:`, `=` and similar signs: in JSON, code, YAML, headers, tables and URLs. Pure."""

import re
from collections.abc import Iterator

from antiphon_shared.redaction.harmless import is_code, is_harmless, looks_random, looks_secret
from antiphon_shared.redaction.span import (
    BEGINS,
    KEY,
    QUOTE,
    WORD_AT,
    IsSecret,
    Span,
    candidates,
    end_of,
    levels,
)

_SPACE = r"(?:\s|\\{1,15}[nrt]){0,40}+"
_LITERAL = r"(?:(?:[bfruNBFRU]{1,2}|@|[A-Za-z_][\w.:]{0,40}!?\()(?=\\{0,15}[\"']))?"
"""The prefix of bytes and other literals before a quote, or a call around it, such as `Some("x")`."""
_TYPE = (
    r": ?(?:[A-Za-z&][\w.&?\[\],]{0,60}+(?: \| None)? |str|string|String|bytes)=(?!=)"
    r"(?=[ \t]{0,20}+[bfruBFRU]{0,2}\\{0,15}[\"'])"
)
"""The text between a name and the literal that is assigned to it: `: Optional[str] =`."""
_ADDRESS = tuple("/:.@#")
"""Signs before `secret:x` that show that it is part of an address, of an image's name or of a scope."""
_LINE_START_MAX = 60
_CODE_MAX = 200
_ASSIGNED = re.compile(
    rf"{BEGINS}-{{0,2}}{KEY}"
    rf"(?:(?P<escape>\\{{0,15}})(?P<closing>[\"']){_SPACE}(?::|=>){_SPACE}{_LITERAL}"
    r"(?:(?P<quoted>(?P=escape)[\"'])|(?P<number>-?\d[\d.eE+-]{0,40}+(?![\w/]))|(?P<opened>[\[{]))"
    r"|(?:[\"'`*\\\]]|\[\]|%5[BbDd]){0,6}+"
    rf"(?P<separator>[ \t]{{0,20}}+(?:{_TYPE}"
    r"|:=|[=-]>|[:=](?![:=])|\|)[*`]{0,3}+[ \t]{0,20}+)"
    r"(?:(?P<block>[|>][+-]?\d?[ \t]*+(?P<newline>\n|\r\n|\\{1,15}n)(?=[ \t]))"
    rf"|{_LITERAL}(?P<opening>{QUOTE})|(?=(?P<word>[^\s\"'`]))))"
)
"""`"key": "value"`, `"key": 12`, `"key": [`; `key=value`, `key: value`, and the beginning of a block in YAML."""
_SCHEME = re.compile(r"(?i:bearer|basic|token|apikey|api-key|negotiate|ntlm|key)[ \t]{1,4}+")
_OTHER_SCHEME = re.compile(r"[A-Za-z][\w-]{1,30}[ \t]{1,4}+")
_WITH_FIELDS = re.compile(r"(?i:digest|hawk|oauth|signature|aws4-hmac-sha256)[ \t]{1,4}+(?=[\w-]{1,40}=)")
_FIELD = re.compile(
    r"[\w-]{1,40}+=(?:\\{0,15}\")?(?P<value>\[redacted[^\]]{0,12}\]|[^\s,\"'\\]{1,4096}+)(?:\\{0,15}\")?(,[ \t]{0,4}+)?"
)
_COOKIE = re.compile(
    r"[^\s=;,\"'\\]{1,200}=(?P<value>\[redacted[^\]]{0,12}\]|[^\s;,\"'\\]{1,4096}+)(;[ \t]{0,4}+)?"
)
_NEXT_FIELD = re.compile(r"(?:&amp;|[&;,])[\w.\[\] -]{1,60}=|&(?:quot|#34|apos|#39);")
_CUT = re.compile(r"[&;,<>()\[\]{}]")
_LINE_START = re.compile(
    r"(?:.*(?:[\r\n]|\\[nr]))?[ \t]*(?:(?:[-*#>|+]|//|export|set|setx|env|ENV|ARG|let|const|var|local|readonly)[ \t]+)*"
    r"(?:[A-Za-z_$][\w$]*[.:])*[\"'`*_]{0,4}(?:--?)?",
    re.DOTALL,
)
_LINE_END = re.compile(r"[*_]{0,3}[ \t]*+(?:\Z|[\r\n]|\\{1,8}[nr]|[ \t]#)")
_ANY_QUOTE = re.compile(r"\\{0,15}\"")
_INDENT = re.compile(r"[ \t]{0,60}")
_HTML_QUOTES = ("&quot;", "&#34;", "&apos;", "&#39;")
_QUOTE_BEFORE = re.compile(r"\\{0,15}[\"']\Z")
_BRACKET_OR_QUOTE = re.compile(r"[\[\]{}\"']")
_COLON = re.compile(r"\s{0,40}:")


def assigned(text: str, is_secret: IsSecret) -> Iterator[Span]:
    at = word_end = 0
    while (match := _ASSIGNED.search(text, at)) is not None:
        at = match.end()
        key = next(filter(is_secret, candidates(text, match.start("key"), match["key"])), None)
        if key is None:
            at = match.end("key")
        elif match["opened"]:
            inside, at = _texts_inside(text, match)
            yield from inside
        elif match["number"]:
            yield Span(*match.span("number"), "number")
        elif opening := match["quoted"] or match["opening"]:
            start, at = match.end(), end_of(text, match.end(), opening)
            scheme = _SCHEME.match(text, start, at)
            if text[match.end() - len(opening) - 1] == "(":  # get("DB_PASSWORD") is not a literal secret
                is_value = looks_random(text[start:at]) and not text[start:at].isupper()
            else:
                is_value = bool(match["quoted"]) or not is_harmless(
                    text[scheme.end() if scheme else start : at], key
                )
            if is_value:
                yield Span(start, at, levels=levels(opening))
        elif match["block"]:
            at = _end_of_block(text, match)
            block = text[match.end() : at]
            if not is_harmless(block):
                yield Span(at - len(block.lstrip()), match.end() + len(block.rstrip()))
        else:
            word_end = max(word_end, at)
            if word_end == at and (word := WORD_AT.match(text, at)) is not None:
                word_end = word.end()
            values, at = _of_words(text, match, key, word_end)
            yield from values


def _of_words(text: str, match: "re.Match[str]", key: str, end: int) -> tuple[list[Span], int]:
    """Return the unquoted value of `key: value` or `key=value`, in a word with that end; and where to continue."""
    start, separator, name = match.end(), match["separator"], key.lower()
    if separator == ":" and text[match.start() - 1 : match.start()] in _ADDRESS:
        return [], start
    if ":" in separator and name.endswith("cookie") and _COOKIE.match(text, start):
        return _each_value(_COOKIE, text, start, is_first_only=name.startswith("set"))
    if name.endswith(("authorization", "token")):
        if scheme := _WITH_FIELDS.match(text, start):
            return _each_value(_FIELD, text, scheme.end())
        scheme = _SCHEME.match(text, start) or _OTHER_SCHEME.match(text, start)
        token = WORD_AT.match(text, scheme.end()) if scheme else None
        if scheme and token and (scheme.re is _SCHEME or looks_random(token[0])):
            start, end = token.span()
    if text.startswith(_HTML_QUOTES, start, end):
        start = text.index(";", start) + 1
    quote = _quote_around(text, match)
    is_line = _ends_line(text, end, quote) and (bool(quote) or _starts_line(text, match.start()))
    # The end of the value within its word. Only the beginning of a long word is copied for the test.
    behind = _NEXT_FIELD if is_line or is_code(text[start : min(end, start + _CODE_MAX)]) else _CUT
    cut = behind.search(text, start, end)
    word = text[start : cut.start() if cut else end]
    word = word if is_line or separator == "=" else word.rstrip(".,;:!?)*_|")
    is_value = is_line or separator == "=" or looks_secret(word)
    value = Span(start, start + len(word), "url" if separator == "=" and "%" in word else "")
    if not is_value or is_harmless(word, key) or is_code(word):
        return [], value.end
    return [value], value.end


def _each_value(
    part: "re.Pattern[str]", text: str, at: int, is_first_only: bool = False
) -> tuple[list[Span], int]:
    """Return the values of `a=x; b=y` and similar lists; and where to continue."""
    values: list[Span] = []
    while (match := part.match(text, at)) is not None:
        at = match.end()
        if not is_harmless(match["value"]):
            values.append(Span(*match.span("value")))
        if match[2] is None or is_first_only:
            break
    return values, at


def _quote_around(text: str, match: "re.Match[str]") -> str:
    """Return the quote that begins before a key and does not end after it, as around `-H 'X-Api-Key: x'`."""
    before = _QUOTE_BEFORE.search(text, max(0, match.start() - 16), match.start())
    is_around = before and text[match.end("key") : match.end("key") + 1] not in ("\\", before[0][-1])
    return before[0] if before and is_around else ""


def _starts_line(text: str, start: int) -> bool:
    """Return whether the line has only permitted text before its key."""
    if text[start - 1 : start + 1] in ("\\n", "\\r"):
        return True
    before = text[max(0, start - _LINE_START_MAX) : start]
    has_line_end = len(before) == start or "\n" in before or "\\n" in before
    return has_line_end and _LINE_START.fullmatch(before) is not None


def _ends_line(text: str, end: int, quote: str) -> bool:
    if quote:
        return end == len(text) or text.startswith(quote, end) or _LINE_END.match(text, end) is not None
    return _LINE_END.match(text, end) is not None


def _end_of_block(text: str, match: "re.Match[str]") -> int:
    """Return the end of the indented lines; in JSON, whose line ends are escapes, also the end of its text."""
    newline, end = match["newline"], match.end()
    first = _INDENT.match(text, end)
    indent = first[0] if first else ""
    is_json = newline.endswith("n")
    while True:
        next_line = text.find(newline, end)
        last = next_line if next_line >= 0 else len(text)
        if is_json and (closing := _ANY_QUOTE.search(text, end, last)):
            return closing.start()
        if next_line < 0 or not text.startswith(indent, end := next_line + len(newline)):
            return last


def _texts_inside(text: str, match: "re.Match[str]") -> tuple[list[Span], int]:
    """Return the texts of a list or an object, all of which are secret, without keys; and its end."""
    quote, depth, at = match["escape"] + match["closing"], 1, match.end()
    inside: list[Span] = []
    while depth and (sign := _BRACKET_OR_QUOTE.search(text, at)) is not None:
        at = sign.end()
        if sign[0] in "[{":
            depth += 1
        elif sign[0] in "]}":
            depth -= 1
        elif text.endswith(quote, match.end(), at):
            start, end = at, end_of(text, at, quote)
            at = end + len(quote)
            if start < end and _COLON.match(text, at) is None:
                inside.append(Span(start, end, levels=levels(quote)))
    return inside, at if not depth else len(text)
