"""Passwords and tokens that no key names: arguments of commands, name and password, lines, links. Pure.

The words around them are ordinary, so that a value has to look like a password or a token itself.
"""
# ruff: noqa: E501  # an expression that is cut at the line's end is harder to read

import re
from collections.abc import Iterator

from antiphon_shared.redaction.first_search import (
    A_PASSWORD,
    A_RANDOM_PASSWORD,
    A_RANDOM_WORD,
    A_TOKEN,
    loosened,
)
from antiphon_shared.redaction.harmless import (
    has_issued_part,
    is_card,
    looks_issued,
    looks_like_generated_token,
    looks_like_password,
    looks_like_random_password,
    looks_like_token,
    looks_random,
)
from antiphon_shared.redaction.near_words import (
    CALLS_HINT,
    LISTS_HINT,
    NOUNS_HINT,
    in_calls,
    in_lists,
    near_nouns,
)
from antiphon_shared.redaction.span import Form, IsSecret, Span
from antiphon_shared.text.native_search import NativeSearch

_LINE = r"(?:(?<![^\r\n\"])|(?<=\\n))[ \t]{0,20}"
_LINE_END = r"[ \t]*(?=[\r\n]|\\{1,7}[nr]|\\{0,7}\"|\Z)"
_WORD_BEGINS = (
    r"(?<!\"[:=] [\"'])(?<!\"[:=][\"'])(?<!, [\"'])(?<!,[\"'])(?<![\[{][\"'])(?<![Ii][Dd] )(?<![Ii][Dd][:=] )(?<!ef )(?<!ommit )"
    r"(?:(?<![^\s\"'`(,;>])|(?<=\\[nrt]))(?:(?!(?i:[\w.$-]{0,60}(?:id|ref|hash|commit)[=:]))[\w.$-]{1,60}[=:])?"
)
_PART_OF_TEXT = r"(?!\A[^\s,;]*\Z)"
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
    r" (?:[Cc]ode|[Pp]asscode|PIN)|\bPIN|\bOTP|\b(?:[Dd]oor|[Gg]ate|[Aa]larm|[Ee]ntry|[Kk]eypad|[Ll]ock|[Ss]afe)(?: code)?)"
)
_WORD_OF_KEYS = (
    r"(?:(?i:token|secret|auth|pass|pwd|cred|salt|licen[sc]e|webhook|hmac|jwt|cookie|seed|access)"
    r"(?:[\w.-]{0,30}(?![\w.-])(?<!id)(?<!ID)(?<!Id)(?<!ash)(?<!name))|[Kk]eys?|KEYS?|SESSION)"
)
_KEY_OF_DATA = r"(?i:[\w.-]{0,60}?(?:idempotency|cache|public|primary|partition|sort|dedup\w*|foreign|object|row|group|hash|map|index|shard|lock|unique|range|state|s3|storage)[-_]?key)"
_SCHEME_OF_DATA = r"(?:https?|wss?|file|git|git\+\w+|ssh|s?ftps?|s3|gs|hdfs|docker|oci|ipfs|ipns|doi|chrome-extension|[\w+]*sql\w*|redis|rediss|mongodb(?:\+srv)?|amqps?|jdbc)"
_HEADER_OF_DATA = (
    r"(?i:[\w-]{0,40}(?:request|trace|correlation|cache|id|hash|etag|version|digest|span|revision|commit)\b)"
)
_VALUE_ENDS = r"(?=[\s\"'\\,;&)}\]]|\Z)"
_HINTS_OF_VALUES = {
    looks_like_password: A_PASSWORD,
    looks_like_token: A_TOKEN,
    looks_issued: f"(?:{A_PASSWORD}|{A_TOKEN})",
    looks_like_random_password: A_RANDOM_PASSWORD,
    looks_like_generated_token: A_RANDOM_PASSWORD,
    looks_random: A_RANDOM_WORD,
    has_issued_part: rf"[^ \"'<>\\]*(?:{A_PASSWORD}|{A_TOKEN})",
}


def _form(mark: str, pattern: str, is_secret: IsSecret, before: str = "") -> tuple[Form, str]:
    """Return a form, and an expression for a first search.

    The latter leaves out the part `before` of the pattern, and so begins with plain words.
    """
    hint = loosened(pattern, _HINTS_OF_VALUES.get(is_secret, ""))
    return Form(mark, re.compile(before + pattern), is_secret), hint


def _is_any(value: str) -> bool:
    """Accept every value of a form whose surroundings are proof enough."""
    return True


_FORMS_WITH_WORDS = (
    # Arguments of commands.
    _form(
        " -",
        rf"[ \t]-(?:[pPwWNAXk]|pw|pass(?:wd|word)?|auth)[ \t=:]{{0,2}}{_QUOTE}{_WORD}",
        looks_like_password,
    ),
    _form(
        " -",
        rf"[ \t]-[a-zA-Z][ \t]{{1,2}}{_QUOTE}{_WORD}",
        looks_like_token,
    ),
    _form(
        " /",
        rf"/(?:p|pw|pwd|pass|password|rp|key)[ \t:]{{1,2}}{_QUOTE}{_WORD}",
        looks_random,
        before=r"[ \t]",
    ),
    _form(
        "--",
        rf"{_LONG_OPTION}[ \t=]{{1,2}}(?:{_QUOTE}[\w./:\[\]-]{{1,100}}[=:]{{1,2}})?{_QUOTE}{_WORD}",
        looks_issued,
    ),
    _form(
        "%",
        rf"[ \t]-[uU][ \t]*{_QUOTE}[^\s%:\"'\\]{{1,60}}%{_WORD}",
        looks_like_password,
    ),
    _form(
        "|",
        rf"(?:echo|printf|print)[ \t]+(?:-n[ \t]+)?{_QUOTE}(?P<value>[^\s\"'\\|]{{6,200}}){_QUOTE}[ \t]*\|",
        looks_issued,
    ),
    _form(
        "send",
        rf"\bsend(?:line)?[ \t(]+(?:--[ \t]+)?\\{{0,7}}[\"']{_WORD}(?=\\)",
        looks_like_password,
    ),
    # Links.
    _form(
        "/",
        rf"/{_ACTION}[\w.-]{{0,30}}?(?:/[\w.%=-]{{1,40}}){{0,2}}?[/-](?P<value>[\w~.=-]{{20,300}})(?=/?(?:[?#\s\"'<>)\\,]|/basic|\Z))",
        looks_like_token,
    ),
    _form(
        "=",
        rf"[?&;#]{_PARAMETER}=(?P<value>[\w~.%+/=-]{{20,400}})",
        looks_like_token,
    ),
    # Keys with a word for a secret in their name, and a token: `routing_key: x`; not those of entries, caches and columns.
    _form(
        "",
        rf"{_WORD_OF_KEYS}\\{{0,7}}[\"']?[ \t]{{0,8}}(?:[:=]|=>|:=)[ \t]{{0,8}}{_QUOTE}"
        rf"(?P<value>[A-Za-z0-9+/_.~-]{{20,400}}={{0,2}}){_VALUE_ENDS}",
        looks_like_token,
        before=rf"(?<![\w.-])(?!{_KEY_OF_DATA})[\w.-]{{0,60}}?",
    ),
    # The last argument of a call.
    _form(
        ")",
        r"\\{0,7}[\"']\)",
        looks_like_random_password,
        before=r"[\"'](?P<value>[^\s\"'\\`<>()|,;=/:]{8,100})",
    ),
    # Codes of digits.
    _form(
        "",
        rf"{_CODE}(?:'s| is| =|:| for [\w. -]{{1,30}}(?: is|:))?[ \t]{{1,3}}(?P<value>[0-9]{{4,10}}|[0-9]{{3}}[ -][0-9]{{3}})(?![\w.-]*[\w-])",
        _is_any,
    ),
    _form(
        "ode",
        r"[Cc]ode(?:'s| is|:)[ \t]{1,3}(?P<value>[0-9]{4,8})(?=\b[^\r\n]{0,80}(?:share|expire|valid|minutes))",
        _is_any,
    ),
    # Cookies of a session, as pairs and as a browser's file has them; keys of streams.
    _form(
        "alue",
        rf"ame\\{{0,7}}[\"']?[ \t]{{0,4}}[:=][ \t]{{0,4}}{_QUOTE}[\w.-]{{0,40}}(?i:sess|sid|auth|csrf|xsrf|token|jwt|remember|login)[\w.-]{{0,40}}"
        rf"{_QUOTE}(?:[,;\s]|\\{{1,7}}[nr]){{1,20}}{_QUOTE}[Vv]alue\\{{0,7}}[\"']?[ \t]{{0,4}}[:=][ \t]{{0,4}}{_QUOTE}{_WORD}",
        looks_random,
    ),
    _form(
        "\t",
        r"(?:TRUE|FALSE)\t/\S{0,60}\t(?:TRUE|FALSE)\t[0-9]{1,20}\t[\w.-]{1,80}\t(?P<value>[^\s\"'\\]{8,4000})",
        looks_random,
    ),
    # Addresses of services with a token in them: `tgram://x/chat`, `rtmp://host/live/x`.
    _form(
        "://",
        r"://(?P<value>[^\s\"'<>\\]{12,400})",
        has_issued_part,
        before=rf"(?<![\w+.-])(?!{_SCHEME_OF_DATA}:)[a-z][a-z0-9+-]{{1,20}}",
    ),
    # Headers of commands, except those of requests and caches.
    _form(
        ":",
        rf"[Xx]-(?!{_HEADER_OF_DATA})[\w-]{{1,40}}:[ \t]?(?P<value>[\w~.+/=-]{{20,400}})(?=[\s\"'\\]|\Z)",
        looks_like_token,
    ),
    # Numbers of payment cards, and their codes.
    _form(
        "",
        r"(?:(?i:card|visa|mastercard|amex|maestro)[\w #.:-]{0,30}?)[ :#]{1,3}(?P<value>[2-6][0-9]{3}(?:[ -]?[0-9]{2,6}){2,4})(?![\w.-]*[\w-])",
        _is_any,
    ),
    _form("", r"(?i:cv[vc]2?|card code)[ :#=]{1,3}(?P<value>[0-9]{3,4})(?![\w.-]*[\w-])", _is_any),
    # Before "is the password", "as my login".
    _form(
        " ",
        r"[\"'`]? (?:is|as|for|was) (?:the |a |your |my |our |their )?[\w ]{0,20}?(?:pass(?:word|code|phrase)?|pw|pwd|token|secret|(?:api|access) key)\b",
        looks_random,
        before=r"(?P<value>[^\s\"'\\`<>()|,;]{8,80})",
    ),
)
"""Forms with plain words."""
_FORMS_WITHOUT_WORDS = (
    # Any word of a text whose letters and digits are in no order, but ids, and values in JSON.
    _form(
        "",
        rf"{_PART_OF_TEXT}{_WORD_BEGINS}(?P<value>[^\s\"'\\`<>()|,;=/:]{{8,100}})(?=[\s\"'`),;.:!?<\\]|\Z)",
        looks_like_random_password,
    ),
    # Any long word of capitals, small letters and digits in no order.
    _form(
        "",
        r"(?:(?<![\w/+.%\\-])|(?<=\\[nrt]))(?<![Ii][Dd][=:])(?<![Ii][Dd]: )(?<![Ii][Dd]\":\")(?<![Ii][Dd]\": \")(?P<value>[A-Za-z0-9_-]{32,200})(?=[\s\"'`),;:!?<&\\]|\Z)",
        looks_like_generated_token,
    ),
    # Groups of digits that are the number of a card, by its check digit.
    _form(
        "",
        r"(?<![\w.-])(?P<value>[2-6][0-9]{3}(?:[ -][0-9]{4}){3}|3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5})(?![\w-])",
        is_card,
    ),
    # Name and password with a colon: at an address without a scheme, on its own line, as a word.
    _form(
        "@",
        r"(?<![\w:/@.%-])[\w.+-]{1,60}:(?P<value>[^\s:@/\"'\\<>{}()]{6,100})@(?=[A-Za-z0-9\[])",
        looks_random,
    ),
    _form(
        ":",
        rf"(?<![\w:/@.%+-])[A-Za-z][\w.+-]{{0,60}}(?:@[\w-]{{1,60}}(?:\.[\w-]{{1,60}}){{1,5}})?:{_WORD}{_ENDS}",
        looks_like_password,
    ),
    # Lines of an assignment, with any name.
    _form(
        "",
        rf"{_LINE}[A-Za-z$][\w.$/ -]{{0,60}}?[ \t]{{0,8}}(?:[:=]|=>|:=)[ \t]{{0,8}}{_QUOTE}{_WORD}{_QUOTE}[;,]?{_LINE_END}",
        looks_like_password,
    ),
)
BY_WORDS = "|".join((*(hint for _, hint in _FORMS_WITH_WORDS), CALLS_HINT, LISTS_HINT))
BY_SIGNS = "|".join((*(hint for _, hint in _FORMS_WITHOUT_WORDS), NOUNS_HINT))
"""Two expressions of which one matches in every text that may contain one of these forms: together they would take
more states than the engine keeps.
"""
_SEARCHED = tuple((form, NativeSearch(hint)) for form, hint in (*_FORMS_WITH_WORDS, *_FORMS_WITHOUT_WORDS))


def unnamed(text: str) -> Iterator[Span]:
    """Yield the values in all such forms."""
    for form, search in _SEARCHED:
        if form.mark in text and search.may_match(text):
            yield from form.values(text, trailing=".,:!?")
    yield from in_calls(text)
    yield from in_lists(text)
    yield from near_nouns(text)
