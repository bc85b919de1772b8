"""The salience of a statement on any subject: low for boilerplate. Pure."""

import re

from antiphon_shared.memory.filing.reading import read_statement

USUAL, LITTLE, LEAST = 0.5, 0.3, 0.1
_BOILERPLATE_MAX = 200
_TELL_TALE = frozenset((
    "cookies", "cookie", "click", "skip", "rights", "privacy", "terms", "subscribe", "sign", "follow", "share",
    "top", "javascript", "log", "login", "advertisement",
))  # fmt: skip  # a text, not a column
_BOILERPLATE = re.compile(
    r"\b(?:(?:we|(?:this|our) (?:web)?site) uses? cookies|accept (?:all )?cookies|cookie (?:policy|settings"
    r"|preferences)|click here|skip to (?:main )?content|all rights reserved|privacy policy|terms of (?:use|service)"
    r"|subscribe to our|sign up for our|follow us on|share (?:this )?on (?:facebook|twitter|linkedin|x)"
    r"|back to top|enable javascript|log ?in to (?:continue|read)|^advertisement$)",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(r"(?:©|\(c\)|copyright)\s*(?:©|\(c\))?\s*(?:\d{4}|by\b)", re.IGNORECASE)
_ADDRESS = re.compile(r"<?(?:https?://|www\.)\S+>?")
_PAGE_NUMBER = re.compile(r"(?:page|p\.|seite)?\s*\d{1,5}(?:\s*(?:of|/|von)\s*\d{1,5})?", re.IGNORECASE)
_PAGE_NUMBER_MAX = 20
_NAVIGATION = re.compile(
    r"(?:home|menu|search|login|next|previous|contact|about)(?: ?[|»>›·] ?[\w ]{1,30}){2,20}", re.IGNORECASE
)
_RANKING = re.compile(
    r'\{(?:"(?:title|name|score|rank|relevance|distance|similarity|index|position)":(?:"[^"\\]*"|[\d.eE+-]+),?)+\}'
)


def salience_of(text: str, is_json: bool) -> float:
    """Return 0.5 for an ordinary statement, and less for boilerplate of pages and search engines."""
    if len(text) > _BOILERPLATE_MAX:
        return USUAL
    if is_json:
        return LITTLE if '"score"' in text and _RANKING.fullmatch(text) else USUAL
    if _is_no_sentence(text):
        return LEAST
    words = read_statement(text, False).folded
    return LITTLE if not _TELL_TALE.isdisjoint(words) and _BOILERPLATE.search(text) else USUAL


def _is_no_sentence(text: str) -> bool:
    """Return whether a text is an address, a page number, a line of links, or a copyright."""
    if text[0] in "<hHwW" and _ADDRESS.fullmatch(text):
        return True
    if len(text) <= _PAGE_NUMBER_MAX and text[-1].isdecimal() and _PAGE_NUMBER.fullmatch(text):
        return True
    return (text[0] in "©(cC" and _COPYRIGHT.match(text) is not None) or _NAVIGATION.fullmatch(
        text
    ) is not None
