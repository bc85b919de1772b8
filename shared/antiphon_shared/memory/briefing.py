"""The briefing: all that the model sees in a round.

Its text is Markdown, in an order that changes as little as possible from round to round, so that the prompt's
beginning stays cacheable:

    # Question
    <the user's words, verbatim>

    # Earlier in this conversation
    - turn_1: <an earlier question; its answer is among the facts>

    # Facts
    <result call="toolu_1" tool="search" round="1" trust="untrusted">
    ## MCP: Build Rich-Context Apps
    F1 MCP lets a model use tools over one protocol.
    F4 (shortened) It was introduced in November 2024 by a company that ...
    ## Agents in Practice
    F7 {"number":4,"title":"Tool use"}
    F9 (superseded by F12) The course takes six hours.
    </result>

    # Further facts
    <older facts, chosen for this round alone; the same form>

    # Summaries
    <result call="summary" tool="summary" round="3" trust="untrusted">
      F20-F31: <a model's summary of facts that do not fit>
    </result>

    # Tools tried
    - round 1: search {"q": "..."} -> ok: F1-F9
    - round 1: get_outline {"course": "MPC"} -> not_found; read the error, understand the issue, fix the call and retry
    <result call="toolu_2" tool="get_outline" round="1" trust="tool">
      name: get_outline
      status: not_found
      result: No course is called 'MPC'.
      next: Search for it first.
    </result>

    # Reasoning so far
    - round 1: <the model's text>

    # Sub-questions
    - open: who teaches them?
    - answered: which courses teach MCP? Two [F1, F7]

    # Not shown
    - 12 facts not shown: F20-F31. Read one with recall(id="F20").

    # Now
    Round 2 of at most 4.

An empty section is left out. With a small budget, one fence holds all facts of the same trust, without tool, call and
round. Then searches that found something are not listed, and others share one line, `- already searched, found
nothing: "MCP pricing"`. The omitted facts are named after the round, `12 facts not shown; recall(id="F20") reads one.`

Results of tools are inside `<result>` fences only, and `text.fence` ensures that they can neither close their fence nor
open another. Inside, a line begins with `## ` and the title of the facts below, with the id of a fact and its
statement, or with two spaces, which continue the line above: a statement cannot begin a line of its own. The relations
of a fact are in parentheses after its id.
"""

from collections.abc import Iterable
from hashlib import blake2b
from itertools import pairwise
from typing import Literal

from pydantic import Field

from antiphon_shared.text.tokens import estimate_tokens
from antiphon_shared.values import Value

Level = Literal["full", "simplified", "minimal"]
_RUN_MIN = 3


class Outline(Value):
    """The properties of a briefing, without its text, for the session's log.

    The text is a pure render of the log; if it were stored for each round, a session would grow with the
    square of its rounds. The digest proves a render to be the same.
    """

    digest: str = Field(description="BLAKE2b of the text, 128 bits, in hexadecimal.")
    tokens: int = Field(ge=0, description="Estimated.")
    shown: tuple[str, ...] = Field(
        default=(), description="Ids of the facts in it, whole or shortened; neighbours as `F3-F9`."
    )
    shortened: tuple[str, ...] = Field(default=(), description="Ids of the facts that are shortened.")
    omitted: int = Field(default=0, ge=0, description="Number of facts that are left out.")
    missed: tuple[str, ...] = Field(
        default=(),
        description="Facts that are not in it though they are close to what is asked; the closest first.",
    )


class Briefing(Value):
    """One round's briefing, rendered; the newest is a document of its session."""

    text: str
    outline: Outline

    @classmethod
    def of(
        cls,
        text: str,
        shown: Iterable[str] = (),
        shortened: Iterable[str] = (),
        omitted: int = 0,
        missed: Iterable[str] = (),
    ) -> "Briefing":
        """Return the briefing with that text, the ids of its facts, and the data about omitted facts."""
        return cls(
            text=text,
            outline=Outline(
                digest=digest_of(text),
                tokens=estimate_tokens(text),
                shown=id_ranges(shown),
                shortened=id_ranges(shortened),
                omitted=omitted,
                missed=tuple(missed),
            ),
        )


def digest_of(text: str) -> str:
    """Return the name of a briefing: a hash of its text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def number_of(id: str) -> int:
    """Return the number in the id of a fact or a document: 7 for `F7`."""
    return int(id[1:])


def id_ranges(ids: Iterable[str]) -> tuple[str, ...]:
    """Return ids in the order of their numbers, with three and more neighbours joined: `F1`, `F2`, `F4-F7`."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(map(number_of, ids))):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return _joined(runs)


def id_ranges_without(ids: Iterable[str], count: int) -> tuple[str, ...]:
    """Return the ranges of the other ids from `F1` to that count: the cost grows with `ids`, not with the count."""
    bounds = (0, *sorted(set(map(number_of, ids))), count + 1)
    return _joined((before + 1, after - 1) for before, after in pairwise(bounds) if before + 1 < after)


def _joined(runs: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    parts: list[str] = []
    for first, last in runs:
        is_long = last - first + 1 >= _RUN_MIN
        parts += [f"F{first}-F{last}"] if is_long else [f"F{number}" for number in range(first, last + 1)]
    return tuple(parts)


def ids_in(ranges: Iterable[str]) -> tuple[str, ...]:
    """Return the ids in ranges of `id_ranges`, one by one."""
    bounds = [list(map(number_of, part.split("-"))) for part in ranges]
    return tuple(f"F{number}" for ends in bounds for number in range(ends[0], ends[-1] + 1))
