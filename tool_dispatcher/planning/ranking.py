"""The workflows and recipes that serve a goal, and their params that the goal does not give. Pure.

They are ranked like tools, see tools/relevance.py: by their words and by their meaning. A param is called
missing only when that is certain: the goal has no value of its kind. When two texts are needed and the goal
has one, neither is missing, as it may be either.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from antiphon_shared.text.words import plain_words, words
from antiphon_shared.tools.relevance import scores_of
from antiphon_shared.workflows.params import Param

_NUMBER_WORDS = frozenset((
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "dozen",
    "single",
))  # fmt: skip  # a text, not a column
_TIME_WORDS = frozenset((
    "today", "tonight", "tomorrow", "yesterday", "now", "next", "this", "day", "week", "weekend", "month", "year",
    "noon", "midnight", "morning", "evening", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    "sunday", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december", "christmas", "easter",
))  # fmt: skip
_SHAPES = {
    "email": re.compile(r"\S@\S"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S|\bwww\."),
    "uuid": re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"),
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A workflow or a recipe that could be run."""

    name: str
    description: str
    params: Mapping[str, Param] = field(default_factory=dict)
    outline: Sequence[str] = ()
    """Its steps: names of tools, or sentences."""


class Ranked(NamedTuple):
    """An offer that serves a goal."""

    name: str
    score: float
    missing: tuple[str, ...]
    """Required params of which the goal certainly holds no value."""


def rank_offers(goal: str, offers: Iterable[Offer]) -> list[Ranked]:
    """Return the offers that fit a goal, the best first; ties by name."""
    listed = list(offers)
    scores = scores_of(map(_parts_of, listed), goal)
    ranked = [
        Ranked(offer.name, score.total, missing(goal, offer))
        for offer, score in zip(listed, scores, strict=True)
        if score.is_fitting
    ]
    return sorted(ranked, key=lambda one: (-one.score, one.name))


def missing(goal: str, offer: Offer) -> tuple[str, ...]:
    """Return the required params of an offer of which a goal certainly holds no value."""
    read = _Goal(goal, offer)
    return tuple(
        name for name, param in offer.params.items() if param.is_required and not read.may_hold(param)
    )


class _Goal:
    """A goal, compared with the words of an offer and the params that it may have values for."""

    def __init__(self, goal: str, offer: Offer) -> None:
        self._goal = goal
        self._words = {*plain_words(goal)} | {word.casefold() for word in re.findall(r"\w+", goal)}
        self._has_digit = any(sign.isdigit() for sign in goal)
        offer_words = words(" ".join((offer.name, offer.description, *offer.outline, *offer.params)))
        self._has_more = not {*words(goal)} <= {*offer_words}

    def may_hold(self, param: Param) -> bool:
        """Return whether the goal may hold a value of a param."""
        if param.enum is not None:
            texts = [one for one in param.enum if isinstance(one, str)]
            return len(texts) < len(param.enum) or any(
                one.casefold() in self._goal.casefold() for one in texts
            )
        match param.type:
            case "int" | "float":
                return self._has_digit or not self._words.isdisjoint(_NUMBER_WORDS)
            case "str" if param.format in ("date", "date-time", "time"):
                return self._has_digit or not self._words.isdisjoint(_TIME_WORDS)
            case "str" if param.format in _SHAPES:
                return _SHAPES[param.format].search(self._goal) is not None
            case "str":
                return self._has_more
        return True  # lists, objects and bools can be expressed in any words


def _parts_of(offer: Offer) -> tuple[str, ...]:
    """Return the name, the description, and the texts of the params and the outline."""
    params = [_text_of(name, param) for name, param in offer.params.items()]
    return (offer.name, offer.description, *params, *offer.outline)


def _text_of(name: str, param: Param) -> str:
    values = [one for one in param.enum or () if isinstance(one, str)]
    return " ".join((name, param.description, *values))
