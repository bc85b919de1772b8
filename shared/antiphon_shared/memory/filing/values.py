"""Values of an attribute, and whether two of them exclude each other. Pure."""

from typing import NamedTuple

from antiphon_shared.memory.filing.attributes import DATES, OPPOSITES, state_of_field, unit_of_field
from antiphon_shared.text.dates import Date, date_of_value, is_later
from antiphon_shared.text.names import name_in
from antiphon_shared.text.numbers import Amount, amounts_in

_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis")


class State(NamedTuple):
    """A word for the state of a thing, possibly denied."""

    word: str
    is_denied: bool


Name = frozenset[str]
"""The words of a person's or a place's name, in lower case."""
Value = Amount | Date | State | Name


def exclude(one: Value, other: Value) -> bool:
    """Return whether both cannot be true of one thing; values of two kinds never exclude each other."""
    match one, other:
        case State(), State():
            return _states_exclude(one, other)
        case Amount(), Amount():
            return one.excludes(other)
        case frozenset(), frozenset():
            return one.isdisjoint(other)
        case (Amount() | State(), _) | (_, Amount() | State()):
            return False
        case tuple(), tuple():
            return is_later(one, other) is not None
    return False


def value_of(attribute: str, field: str, value: object) -> Value | None:
    """Return the value of a record's field; None if it is not comparable with sentences."""
    if isinstance(value, bool):
        state = state_of_field(field)
        return State(state, not value) if is_state(state) else None
    if attribute in DATES:
        return date_of_value(value)
    text = str(value)
    words = text.split()
    folded = [word.lower() for word in words]
    if is_state(" ".join(folded)):
        return State(" ".join(folded), False)
    if any(map(str.isdecimal, text)):
        unit = unit_of_field(field)
        amounts = amounts_in([*folded, unit] if unit else folded)
        return amounts[0] if len(amounts) == 1 and amounts[0].end >= len(folded) else None
    return name_in(words) or None


def is_state(words: str) -> bool:
    """Return whether the words name a state that has an opposite."""
    if words in OPPOSITES:
        return True
    return any(words.startswith(prefix) and words[len(prefix) :] in OPPOSITES for prefix in _PREFIXES)


def _states_exclude(one: State, other: State) -> bool:
    if one.word == other.word:
        return one.is_denied != other.is_denied
    if one.is_denied or other.is_denied:
        return False
    if other.word in OPPOSITES.get(one.word, ()):
        return True
    return any(
        a == prefix + b for prefix in _PREFIXES for a, b in ((one.word, other.word), (other.word, one.word))
    )
