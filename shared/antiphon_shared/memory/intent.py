"""The intent of a session, as it changes from round to round: goal, constraints, sub-questions. Pure."""

import re
from dataclasses import dataclass
from functools import cached_property

from pydantic import Field

from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.subquestions import QUERY_CHARACTERS_MAX, sub_questions
from antiphon_shared.values import Round, Value

_GOAL_CHARACTERS = 300
_CONSTRAINTS_MAX = 8
_CONSTRAINT = re.compile(
    r"\b(?:(?:at (?:most|least)|no (?:more|less|fewer|later|earlier) than|up to|under|below|above|over|within|before"
    r"|after|by|until|since|between)\s+(?=[^\s,.;?!]*[\d$€£]|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri"
    r"|sat|sun|today|tomorrow|yesterday)[a-z]*\b)|(?:only|without|except|but not|not counting|excluding)\s+(?=\w))"
    r"[^,.;?!\n]{1,80}",
    re.IGNORECASE,
)
"""A bound, a date, or an exclusion in English; one that the rules miss is still part of the question."""


class Intent(Value):
    """The intent of a session after a round is filed, with the round's changes."""

    round: Round
    goal: str = Field(
        description="Goal of the session: the question on one line, until a note of the model states "
        "the goal."
    )
    constraints: tuple[str, ...] = ()
    open: tuple[str, ...] = Field(default=(), description="Sub-questions not answered yet.")
    answered: tuple[str, ...] = Field(default=(), description="Sub-questions with their answers.")
    changed: tuple[str, ...] = Field(
        default=(), description="Changes by the round, such as `open: who teaches it?`; empty at first."
    )


@dataclass(frozen=True)
class Question:
    """A query with its goal, constraints and parts, each computed on first use."""

    query: str

    @cached_property
    def goal(self) -> str:
        """Return the question on one line."""
        return one_line(self.query, _GOAL_CHARACTERS)

    @cached_property
    def constraints(self) -> tuple[str, ...]:
        """Return the bounds and exclusions that the question states, in its own words."""
        if len(self.query) > QUERY_CHARACTERS_MAX:
            return ()
        constraints = (one_line(match[0], 120) for match in _CONSTRAINT.finditer(self.query))
        return tuple(dict.fromkeys(constraints))[:_CONSTRAINTS_MAX]

    @cached_property
    def parts(self) -> tuple[str, ...]:
        return sub_questions(self.query)


def changed(before: Intent, after: Intent) -> tuple[str, ...]:
    """Return the differences, a line each: the goal, and added and removed entries."""
    return (
        *((f"goal: {after.goal}",) if after.goal != before.goal else ()),
        *_news("constraint", before.constraints, after.constraints),
        *_news("open", before.open, after.open),
        *_news("answered", before.answered, after.answered),
        *_news("no longer open", after.open, before.open),
    )


def _news(kind: str, before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, ...]:
    if before == after:
        return ()
    earlier = set(before)
    return tuple(f"{kind}: {one}" for one in after if one not in earlier)
