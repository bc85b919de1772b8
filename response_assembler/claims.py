"""Statements of an answer without a citation, for `citations="strict"`. Pure.

A statement is a sentence of five words or more in a paragraph, a list, a quotation or the body of a table.
Headings, code, questions, sentences that end in a colon, remarks in italics and sentences that report a gap (in
English: "I could not find ...") do not count. A statement is covered by

- a citation in it or directly after it;
- the citation that its paragraph or item ends in, back to the citation before that;
- the sentence above its list, table or quotation, if that ends in a colon and cites, or reports a gap;
  above a quotation a citation is enough.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from response_assembler.markdown import Block, Sentence

MARK = " [no source]"
_WORDS_MIN = 5
_UNSPACED_MIN = 10
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_UNKNOWN = re.compile(
    r"^(?:unfortunately|however|but|so far|also|sorry)?\W{0,4}(?:"
    r"(?:I|we)\s+(?:could|can|did|do|was|were|am|are|have|had)(?:\s*not|n['’]t|\s+no|\s+unable)\b"
    r"|(?:I|we)\s+(?:cannot|(?:have\s+)?found\s+(?:nothing|no|neither))\b"
    r"|(?:nothing|none|no|neither)\b.{0,80}\b(?:mention|returned|found|say|said|state|tell|told|give|known|called|available)"
    r"|(?:there\s+(?:is|was|are|were)\s+(?:no|nothing))\b.{0,80}\b(?:information|mention|data|evidence|source|fact|record)"
    r"|(?:the\s+|these\s+|my\s+)?(?:facts?|sources?|tools?|results?|search(?:es)?|briefing|material|documents?)\b"
    r".{0,60}\b(?:do|does|did)(?:\s+not|n['’]t)\b"
    r"|(?:tried\s+without\s+success|not\s+(?:found|known|available))\b"
    r")"
    r"|\b(?:is|are|was|were|remains?)\s+(?:not\s+(?:known|clear|stated|mentioned|given)|unknown|unclear)\b",
    re.IGNORECASE | re.DOTALL,
)


def uncited(blocks: Iterable[Block], fact_ids: Collection[str]) -> Iterator[Sentence]:
    """Yield the statements that no citation of one of the facts covers, in their order."""
    above: Sentence | None = None
    for block in blocks:
        is_below = block.kind in ("item", "row", "quotation")
        above = above if is_below else None
        if not (above and _introduces(above, block, fact_ids)) and not _is_remark(block):
            yield from _uncovered(block.sentences, fact_ids)
        if block.sentences and not is_below:
            above = block.sentences[-1]


def _introduces(above: Sentence, block: Block, fact_ids: Collection[str]) -> bool:
    """Return whether the sentence above covers the block."""
    if block.kind == "quotation" and _cites(above, fact_ids):
        return True
    is_opening = above.text.rstrip("*_ ").endswith((":", "："))
    return is_opening and (_cites(above, fact_ids) or _says_unknown(above))


def _uncovered(sentences: tuple[Sentence, ...], fact_ids: Collection[str]) -> list[Sentence]:
    """Return the uncovered statements of one paragraph.

    Its last citation covers the statements before it, back to the citation before that.
    """
    uncovered = []
    covers = bool(sentences) and _cites(sentences[-1], fact_ids)
    for sentence in reversed(sentences[:-1] if covers else sentences):
        if _cites(sentence, fact_ids):
            covers = False
        elif not covers and _is_statement(sentence):
            uncovered.append(sentence)
    return uncovered[::-1]


def _is_statement(sentence: Sentence) -> bool:
    text = sentence.text.strip("*_ \n\t")
    if text.endswith(("?", "？", ":", "：")) or _says_unknown(sentence):
        return False
    is_long = len(_WORD.findall(text)) >= _WORDS_MIN
    return is_long or len(_UNSPACED.findall(text)) >= _UNSPACED_MIN


def _cites(sentence: Sentence, fact_ids: Collection[str]) -> bool:
    return any(id in fact_ids for id in sentence.cited)


def _says_unknown(sentence: Sentence) -> bool:
    return _UNKNOWN.search(sentence.text.strip("*_ \n\t")[:300]) is not None


def _is_remark(block: Block) -> bool:
    text = block.text.strip()
    return block.kind == "prose" and any(
        text.startswith(sign) and text.endswith(sign) and not text.startswith(sign * 2) for sign in "*_"
    )
