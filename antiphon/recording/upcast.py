"""The upcasters of lines from every earlier format to today's. Pure.

The header of a recording contains its format. When the format changes, `lines.FORMAT` increases by one, and an upcaster
is added here under the earlier number; it is never removed, nor is a recording of that format in the tests. Events have
other versions and upcasters: see shared/antiphon_shared/events/codec.py.
"""

from collections.abc import Mapping
from typing import Any

from antiphon_shared.formats import CANNOT_CARRY_OVER, CannotCarryOver, Upcaster, carried_over
from antiphon_shared.process.errors import UnreadableEvent
from pydantic_core import from_json, to_json

from antiphon.recording.chain import SINCE, Chain, link_of
from antiphon.recording.lines import FORMAT, Line, decode_line


def same(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the line unchanged: the next format has the same form."""
    return fields


UPCASTERS: Mapping[int, Upcaster] = {1: same}
"""The upcaster of each format's lines, as JSON, to the next one; it does not set the header's format number."""


class Upcast:
    """A reader of a recording's lines, the header first; it also checks their chain."""

    def __init__(self, upcasters: Mapping[int, Upcaster] = UPCASTERS, current: int = FORMAT) -> None:
        self._upcasters, self._current = upcasters, current
        self._format: int | None = None
        self._chain: Chain | None = None
        self._is_same = False
        """Whether all lines but the header are unchanged by the upcasters."""

    def line(self, raw: bytes) -> Line:
        """Return the line in `raw`. Raises UnreadableEvent."""
        if self._format is None:
            return self._first(raw)
        line = raw if self._chain is None else self._chain.unbound(raw)
        return decode_line(line if self._is_same else self._carried_over(line, self._format))

    def _first(self, raw: bytes) -> Line:
        """Check the header's hash and return the header."""
        chain = Chain()
        is_bound = link_of(raw) is not None
        line = chain.unbound(raw) if is_bound else raw
        self._format = number = self._format_of(line)
        if is_bound and number < SINCE:
            raise UnreadableEvent(f"it has a chain, but recordings of format {number} have none.")
        if not is_bound and number >= SINCE and b'"header"' in raw:
            chain.unbound(raw)  # raises with the cause
        self._chain = chain if is_bound else None
        self._is_same = all(self._upcasters[n] is same for n in range(number, self._current))
        return decode_line(line if number == self._current else self._carried_over(line, number))

    def _format_of(self, raw: bytes) -> int:
        """Return the format in a header; for another line, which is refused later, today's format."""
        fields = _fields(raw)
        if fields.get("line") != "header":
            return self._current
        number = fields.get("format")
        if type(number) is int and number > self._current:
            by = str(fields.get("antiphon", "?"))[:40]
            raise UnreadableEvent(
                f"format {number} was written by a newer Antiphon ({by}); this one reads up to {self._current}.",
                hint="Upgrade Antiphon.",
            )
        if type(number) is not int or any(n not in self._upcasters for n in range(number, self._current)):
            raise UnreadableEvent(f"recordings have no format {str(number)[:40]}.")
        return number

    def _carried_over(self, raw: bytes, number: int) -> bytes:
        fields = _fields(raw)
        try:
            fields = carried_over(fields, self._upcasters, number, self._current)
            if fields.get("line") == "header":
                fields = {**fields, "format": self._current}
            return to_json(fields)
        except (CannotCarryOver, *CANNOT_CARRY_OVER) as error:
            raise UnreadableEvent(f"cannot be converted from format {number}: {error}"[:300]) from None


def _fields(raw: bytes) -> dict[str, Any]:
    try:
        fields = from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise UnreadableEvent(f"not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise UnreadableEvent("not a line of a recording.")
    return fields
