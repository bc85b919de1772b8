"""The briefing: all that the model sees in a round.

Its text is Markdown with fenced facts, in this order, so that the prompt's beginning stays the same
from round to round:

    # Question
    <the user's words, verbatim>

    # Facts
    <fact id="F1" tool="get_course_outline" call="toolu_1" round="1" at="$">
    {"course": "...", "lessons": [...]}
    </fact>

    # Tools tried
    - round 1: get_course_outline {"course": "..."} -> ok: F1
    - round 1: search {"q": "..."} -> not_found: <what happened, and what to do next>

    # Reasoning so far
    - round 1: <what the model said>

    # Not shown
    - F2, F3: ...

    # Now
    Round 2 of at most 4.

A section with nothing to say is left out. What tools returned stands inside `<fact>` fences only, and
`fence` makes sure that it cannot close its fence or open another. A fact that is not shown whole carries
`shortened="yes"`; its text then ends in an ellipsis.
"""

import re
from hashlib import blake2b
from typing import Any, Literal

from pydantic import Field
from pydantic_core import to_json

from shared.values import Value

Level = Literal["full", "simplified", "minimal"]
CHARACTERS_PER_TOKEN = 4
"""About."""

_LOOK_ALIKE = r"(?![\x00-\x7f])\w"
"""Any letter beyond ASCII may be drawn like one of ours."""
_FENCE = re.compile(
    r"[<＜﹤](?=[\W_]{0,32}+"
    + r"[\W_]{0,4}+".join(f"(?:{letter}|{_LOOK_ALIKE})" for letter in "fact")
    + r"(?![a-zA-Z0-9]))",
    re.IGNORECASE,
)


class Outline(Value):
    """What a briefing holds, without its text: what the session's log keeps of it.

    The text is a pure render of what is in the log already; keeping it for each round would make a session
    grow with the square of its rounds. The digest proves a render to be the same.
    """

    digest: str = Field(description="BLAKE2b of the text, 128 bits, in hexadecimal.")
    tokens: int = Field(ge=0, description="Estimated.")
    facts_shown: tuple[str, ...] = Field(
        default=(), description="Ids of the facts in it, whole or shortened."
    )
    facts_shortened: tuple[str, ...] = ()
    facts_omitted: tuple[str, ...] = ()


class Briefing(Value):
    """One round's briefing, rendered; the newest stands in a document of its session."""

    text: str
    outline: Outline

    @classmethod
    def of(
        cls,
        text: str,
        shown: tuple[str, ...] = (),
        shortened: tuple[str, ...] = (),
        omitted: tuple[str, ...] = (),
    ) -> "Briefing":
        """The briefing with that text, and the ids of the facts in it and left out of it."""
        return cls(
            text=text,
            outline=Outline(
                digest=digest_of(text),
                tokens=estimate_tokens(text),
                facts_shown=shown,
                facts_shortened=shortened,
                facts_omitted=omitted,
            ),
        )


def digest_of(text: str) -> str:
    """What a briefing is named by: a hash of its text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def fence(content: Any) -> str:
    """Tool output as text that cannot imitate the fence around it, by spaces, case or look-alike letters.

    The first character of whatever could pass for a fence becomes `&lt;`; the rest is verbatim.
    """
    return _FENCE.sub("&lt;", as_text(content))


def as_text(content: Any) -> str:
    """A fact's content as it is written into a briefing: text as it is, a structure as compact JSON."""
    return content if isinstance(content, str) else to_json(content).decode()


def estimate_tokens(text: str) -> int:
    """A rough, deterministic count, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
