"""The note a model writes at the end of a reply: what it concluded, doubts and plans, and what is still open.

    <note>
    concluded: Course B covers the same topic as lesson 4 [F3, F7]
    open: Who teaches course B?
    answered: What is lesson 4 about? Authentication [F3]
    doubt: the outline may be out of date
    plan: look up the teachers of course B
    </note>

It is read leniently: JSON, a code fence, other cases, bullets and plurals will do. Pure.
"""

from shared.values import Value


class Note(Value):
    """What one reply says of the state of the work, each entry one line."""

    concluded: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    """Sub-questions not answered yet."""
    answered: tuple[str, ...] = ()
    """Sub-questions with their answers, and the facts cited."""
    doubts: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()


def read_note(text: str) -> tuple[Note | None, str]:
    """The note in a reply's text, None when there is none, and the text without it."""
    return None, text
