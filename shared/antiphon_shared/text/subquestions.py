"""The parts of a question, by rules: a fallback for questions without sub-questions by a model. Pure.

A part is a slice of the query, in the user's own words: a sentence that asks, an item of a list that asks, a
clause after `and` that asks again. A wrong part misleads more than a missing one,
so uncertain cases stay whole. Except for question marks, the rules are for English, and leave other languages
whole.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from antiphon_shared.text.sentences import UNSPACED, sentences

PARTS_MAX = 8
QUERY_CHARACTERS_MAX = 4_000
"""The length from which a query is taken to hold a pasted text, whose questions are not the user's: it stays whole."""

_REMEMBERED = 256
"""Bound on cached queries, whose parts are needed in each round of a session."""

_Span = tuple[int, int]

_QUESTION_WORD = r"(?:who|whom|whose|what|which|when|where|why|how)"
_ASKING = rf"{_QUESTION_WORD}(?:['’](?:s|re|d|ll))?"
_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might|must)"
_PRONOUN = r"(?:it|they|he|she|we|you|i|there|any|these|those)"
_COMMAND = (
    r"(?:find|tell me|list|compare|explain|summari[sz]e|describe|calculate|compute|determine|identify|give me|show me"
    r"|check|recommend|suggest|look up|search for|work out|figure out|estimate|name|rank)"
)
_LEAD = r"(?:(?:and|also|then|next|finally|first|please|so|now)\b,?\s+){0,3}"

_UNBROKEN = re.compile(
    r'"[^"\n]*"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|`[^`\n]*`|\([^()\n]*\)|\[[^\[\]\n]*\]|https?://\S+'
)
_ITEM = re.compile(r"[^\S\n]*(?:[-*•+]|\(?\d{1,2}[.)]|\(?[a-h]\))[^\S\n]+")
_QUESTION_MARK = re.compile(r"(?:\?+!*(?=[\s\"'”’»)\]]|$)|[？؟\u037e]+)[\"'”’»)\]]*")
_ASKS = re.compile(rf"{_LEAD}(?:{_ASKING}|{_AUXILIARY}\s+{_PRONOUN}|{_COMMAND})\b(?=\s+\S)", re.IGNORECASE)
_OF_FORM = re.compile(
    r"\b(?:your|the answer|an answer|answers|reasoning|sources?|citations?|a table|table|words|sentences?|format"
    r"|json|markdown|bullets?|bullet points|step by step|briefly|concise)\b",
    re.IGNORECASE,
)
"""Words of a command about the answer's form, next to other questions."""
_COURTESY = re.compile(
    r"(?:can|could|would|will) you (?:please )?help\b.*|(?:any|some) (?:ideas?|thoughts?|suggestions?)\b.*"
    r"|how are you\b.*|(?:do you|does anyone) know\?|(?:is that|are you) (?:ok|okay|right)\b.*",
    re.IGNORECASE,
)
_JOINT = re.compile(
    rf"(?P<series>,\s+)(?=(?P<in_series>{_ASKING})\s)"
    rf"|,?\s+(?:and|but)\s+(?:also\s+|then\s+)?(?=(?P<word>{_ASKING})\s)"
    rf"|,\s+(?:and|but)\s+(?:also\s+)?(?={_AUXILIARY}\s+{_PRONOUN}\s)"
    rf"|(?:;|[,;]?\s+and\s+then|[,;]\s*then|,\s+and)\s+(?={_COMMAND}\s)"
    rf"|;\s+(?=(?:and\s+)?(?:{_ASKING}|{_AUXILIARY}\s+{_PRONOUN})\s)"
)
_HAS_VERB = re.compile(
    rf"\b{_AUXILIARY}\b|\b{_QUESTION_WORD}['’]|\bwho\s+(?!in\b|of\b|at\b|from\b|on\b|among\b)\w+\s+\S|^{_LEAD}{_COMMAND}\b",
    re.IGNORECASE,
)
_ASKS_FOR_A_THING = re.compile(rf"{_LEAD}(?:which|what|{_COMMAND})\b", re.IGNORECASE)
_REFERS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those)\b", re.IGNORECASE
)
_RELATIVE = re.compile(r"\b(?:who|whom|whose|which|that)\b", re.IGNORECASE)


@lru_cache(_REMEMBERED)
def sub_questions(query: str) -> tuple[str, ...]:
    """Return the questions of a query, in its own words; the whole query when it asks one thing.

    At most `PARTS_MAX`: the last one then contains the rest. An empty tuple for a blank query.
    """
    if not query.strip():
        return ()
    if len(query) > QUERY_CHARACTERS_MAX:
        return (query,)
    veiled = _veiled(query)
    parts = [part for ask in _question_sentences(veiled) for part in _clauses(veiled, ask)]
    if len(parts) < 2:
        return (query,)
    if len(parts) > PARTS_MAX:
        parts = [*parts[: PARTS_MAX - 1], (parts[PARTS_MAX - 1][0], parts[-1][1])]
    return tuple(query[start:end] for start, end in parts)


def _veiled(query: str) -> str:
    """Return the query, of the same length, with quotations, brackets and addresses masked."""
    plain = re.sub(r"[\ud800-\udfff]", "x", query)
    return _UNBROKEN.sub(lambda match: f"{match[0][0]}{'x' * (len(match[0]) - 2)}{match[0][-1]}", plain)


def _question_sentences(veiled: str) -> list[_Span]:
    """Return the sentences and list items that ask something."""
    asks: list[_Span] = []
    for start, end in _sentences(veiled):
        sentence = veiled[start:end]
        is_question = bool(_QUESTION_MARK.search(sentence))
        if is_question and _is_short(sentence):
            if asks:
                asks[-1] = asks[-1][0], end
        elif _COURTESY.fullmatch(sentence):
            continue
        elif is_question or (_ASKS.match(sentence) and not (asks and _OF_FORM.search(sentence))):
            asks.append((start, end))
    return asks


def _sentences(veiled: str) -> Iterator[_Span]:
    """Yield the sentences, trimmed; a list item begins one, without its bullet."""
    at = 0
    for line in veiled.splitlines(keepends=True):
        item = _ITEM.match(line)
        begin = item.end() if item else 0
        rest = line[begin:]
        begin += at
        at += len(line)
        for piece in sentences(rest):
            ends = [mark.end() for mark in _QUESTION_MARK.finditer(piece)]
            for first, last in zip([0, *ends], [*ends, len(piece)], strict=True):
                yield from _trimmed(veiled, begin + first, begin + last)
            begin += len(piece)


def _clauses(veiled: str, ask: _Span) -> list[_Span]:
    """Return the clauses of one sentence that each ask by themselves."""
    start, end = ask
    cuts: list[_Span] = []
    for joint in _JOINT.finditer(veiled, start, end):
        left = veiled[cuts[-1][1] if cuts else start : joint.start()]
        if _parts(joint, left, veiled[joint.end() : end]):
            cuts.append(joint.span())
    begins, ends = [start, *(cut[1] for cut in cuts)], [*(cut[0] for cut in cuts), end]
    return [span for first, last in zip(begins, ends, strict=True) for span in _trimmed(veiled, first, last)]


def _parts(joint: re.Match[str], left: str, right: str) -> bool:
    """Return whether both sides of a joint can stand alone."""
    if _is_short(left) or _is_short(right):
        return False
    if not _HAS_VERB.search(left) and (joint["series"] or not joint[0].startswith(",")):
        return False
    asking = joint["word"] or joint["in_series"]
    if not asking:
        return True
    word = asking.replace("’", "'").partition("'")[0]
    left_rest = " ".join(left.split()[1:])
    if re.search(rf"\b{word}\b", left_rest, re.IGNORECASE):
        return False
    if _RELATIVE.fullmatch(word):
        may_continue = not joint[0].startswith(",") and _ASKS_FOR_A_THING.match(left)
        if _RELATIVE.search(left_rest) or (may_continue and not _REFERS_BACK.search(right)):
            return False
    return not joint["series"] or bool(re.search(rf",\s+and\s+{_QUESTION_WORD}\s", right))


def _is_short(text: str) -> bool:
    """Return whether a text has fewer than three words, too few to stand alone, in a script with spaces."""
    return len(text.split()) < 3 and not UNSPACED.search(text)


def _trimmed(text: str, start: int, end: int) -> Iterator[_Span]:
    """Yield the span without separators and a sentence's full stop, unless it is empty then."""
    while start < end and _separates(text[start]):
        start += 1
    while end > start and _separates(text[end - 1]):
        end -= 1
    if re.search(r"[^\W_](?<![.]\w)\.$", text[max(start, end - 3) : end]):
        end -= 1
    if start < end:
        yield start, end


def _separates(character: str) -> bool:
    return character.isspace() or character in ",;"
