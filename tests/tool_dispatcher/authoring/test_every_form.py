"""The error for every code, status and message of a tool, and every word of their tables: every_form.json.

After an intended change, run `python -m tests.tool_dispatcher.authoring.test_every_form`, and review the output.
"""

from pathlib import Path

import pytest

from tests.kept_forms import Reader, differences, readers_of, write
from tool_dispatcher.authoring import codes, foreign_failures
from tool_dispatcher.batch.answers import refused_by_coordinator

KEPT = Path(__file__).with_name("every_form.json")
_STATUSES = tuple(map(str, range(199, 601)))
_LONG = tuple("m" * length for length in (199, 200, 201, 299, 300))


def _status(text: str) -> object:
    return foreign_failures.classify_status(int(text), 2.0)


READERS = (
    *readers_of(codes, "code_in", "is_only_code", "type_of"),
    Reader("type_of a status", codes.type_of, (), _STATUSES),
    Reader("of_status", _status, (), _STATUSES),
    Reader("shortened", foreign_failures.shortened, (foreign_failures,), _LONG),
    Reader("refused_by_coordinator", refused_by_coordinator, (codes,), _LONG),
)


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_the_reading_of_every_form_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
