"""Positions of the values of secret keys in text: JSON, assignments, headers, XML, URLs and sentences. Pure.

Each form has its own expression with bounded parts, and a plain mark that a text must contain for it. A new
form whose keys are not written in their own letters must be added to `key_hint.py` too.
"""

import re
from collections.abc import Iterator

from antiphon_shared.redaction.assigned_values import assigned
from antiphon_shared.redaction.columns import elsewhere
from antiphon_shared.redaction.harmless import is_harmless, is_option_in_sentence, looks_random, looks_secret
from antiphon_shared.redaction.span import (
    BEGINS,
    KEY,
    QUOTE,
    WORD,
    WORD_AT,
    IsSecret,
    Span,
    candidates,
    end_of,
    levels,
    merge_overlapping,
)
from antiphon_shared.redaction.url_encoded import decoded_runs

_ELEMENT = re.compile(
    rf"(?:<|&lt;)(?:[A-Za-z][\w.-]{{0,40}}+:)?{KEY}(?:\s[^<>&]{{0,300}}+)?(?:>|&gt;)(?:\s|\\{{1,15}}[nrt])*+(?:<!\[CDATA\[)?"
    r"(?P<value>(?:(?!&lt;|\]\]>)[^<]){1,4096}+)(?:\]\]>\s*+)?(?=(?:<|&lt;)/(?:[A-Za-z][\w.-]{0,40}+:)?(?P=key))"
)
_OPTION = re.compile(rf"{BEGINS}--?{KEY} {{1,4}}+(?:(?P<opening>{QUOTE})|(?P<word>(?![-=|:]){WORD}))")
_SENTENCE = re.compile(
    rf"{BEGINS}{KEY}[\"'`*]{{0,4}}+ (?:is|to|was|are|est|ist|lautet|es|è|é|je|jest|är)(?: now| still)?"
    rf"[ \t]{{0,3}}:?[ \t]{{1,4}}{QUOTE}?(?=[^\s\"'`])"
)
_SETTING = re.compile(rf"{BEGINS}{KEY}[ \t]{{1,8}}+{QUOTE}?(?=[^\s\d]{{0,80}}+\d)(?P<word>(?![-=|:(]){WORD})")
_DEFAULT = re.compile(r"\$\{\w{1,80}:?[-=](?P<value>[^{}]{1,4096})\}")


def spans(text: str, is_secret: IsSecret) -> list[Span]:
    """Return the positions of the values of secret keys, in order and without overlaps; `is_secret` tests keys."""
    candidates = [*assigned(text, is_secret), *elsewhere(text, is_secret)]
    if "</" in text or "&lt;/" in text:
        candidates += _in_elements(text, is_secret)
    if "-" in text:
        candidates += _behind_options(text, is_secret)
    candidates += _behind_names(text, is_secret)
    if " " in text:
        candidates += _in_sentences(text, is_secret)
    if "%" in text:
        candidates += _encoded(text, is_secret)
    return merge_overlapping(_without_variable(text, span) for span in candidates)


def _without_variable(text: str, span: Span) -> Span:
    """Return the span of the value in `${NAME:-value}`, which occurs elsewhere without the name."""
    match = _DEFAULT.fullmatch(text, span.start, span.end)
    return span if match is None else span._replace(start=match.start("value"), end=match.end("value"))


def _in_elements(text: str, is_secret: IsSecret) -> Iterator[Span]:
    for match in _ELEMENT.finditer(text):
        value = _without_space_behind(match["value"])
        if is_secret(match["key"]) and not is_harmless(value):
            yield Span(match.start("value"), match.start("value") + len(value))


def _without_space_behind(value: str) -> str:
    """Return a value without trailing space, also without escaped line ends of JSON."""
    while (shorter := value.rstrip()).endswith(("\\n", "\\r", "\\t")):
        value = shorter[:-1].rstrip("\\")
    return shorter


def _behind_options(text: str, is_secret: IsSecret) -> Iterator[Span]:
    for match in _OPTION.finditer(text):
        if match["key"].endswith("-stdin") or not is_secret(match["key"]):
            continue
        start, end = match.span("word") if match["word"] else (match.end(), 0)
        end = end or end_of(text, start, match["opening"])
        if not (is_harmless(text[start:end]) or (match["word"] and is_option_in_sentence(match["word"]))):
            yield Span(start, end, levels=levels(match["opening"] or ""))


def _behind_names(text: str, is_secret: IsSecret) -> Iterator[Span]:
    """Yield values after a name of several parts, as in `setenv DB_PASSWORD x`; and `:password "x"` of Clojure."""
    at = 0
    while (match := _SETTING.search(text, at)) is not None:
        at, key = match.end("key"), match["key"]
        word = match["word"].rstrip(",;)")
        is_name = "_" in key or "-" in key or text[match.start() - 1 : match.start()] == ":"
        if is_name and looks_random(word) and is_secret(key):
            yield Span(match.start("word"), match.start("word") + len(word))


def _in_sentences(text: str, is_secret: IsSecret) -> Iterator[Span]:
    for match in _SENTENCE.finditer(text):
        if not any(map(is_secret, candidates(text, match.start("key"), match["key"]))):
            continue
        if (after := WORD_AT.match(text, match.end())) is None:
            continue
        word = after[0].rstrip(".,;:!?)*_")
        goes_on = word == after[0] and text.startswith(" ", after.end())  # "is 4096 bytes long"
        if looks_secret(word) and not (word.isdigit() and goes_on):
            yield Span(match.end(), match.end() + len(word))


def _encoded(text: str, is_secret: IsSecret) -> Iterator[Span]:
    for run in decoded_runs(text):
        for start, end, *_ in merge_overlapping(assigned(run.text, is_secret)):
            yield Span(run.position_of(start), run.position_of(end), "encoded")
