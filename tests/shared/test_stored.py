"""A kind of stored value reads the data of every earlier release, and reports that of a later one."""

from typing import Any

import pytest
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.errors import NewerFormat, UnreadableEvent
from antiphon_shared.stored import Kind
from antiphon_shared.values import Value
from pydantic import Field

from tests.rows import each_row


class Note(Value):
    format: int = Field(default=1, ge=1)
    words: str = ""


class Count(Value):
    n: Any


FIRST: Kind[Note] = Kind("a note", Note, writes_defaults=False)
THIRD: Kind[Note] = Kind(
    "a note",
    Note,
    version=3,
    upcasters={1: lambda fields: {"said": fields["text"]}, 2: lambda fields: {"words": fields["said"]}},
)


def test_the_first_version_is_written_without_its_number() -> None:
    assert FIRST.write(Note(words="Yes."), FORMAT) == b'{"words":"Yes."}'
    assert FIRST.write(Note(), FORMAT) == b"{}"
    assert FIRST.read(b'{"words":"Yes."}') == Note(words="Yes.")


@pytest.mark.parametrize(
    "written",
    [b'{"text":"Yes."}', b'{"stored_version":2,"said":"Yes."}', b'{"stored_version":3,"words":"Yes."}'],
)
def test_every_version_is_read(written: bytes) -> None:
    assert THIRD.read(written) == Note(words="Yes.")


def test_an_older_version_keeps_an_integer_beyond_64_bits() -> None:
    kind: Kind[Count] = Kind("a count", Count, version=2, upcasters={1: lambda fields: {"n": fields["m"]}})
    assert kind.read(b'{"m":%d}' % 10**30) == Count(n=10**30)


def test_a_later_version_is_written_first() -> None:
    written = THIRD.write(Note(words="Yes."), FORMAT)
    assert written == b'{"stored_version":3,"format":1,"words":"Yes."}'
    assert THIRD.read(written) == Note(words="Yes.")
    assert THIRD.versioned(b"{}") == b'{"stored_version":3}'


@pytest.mark.parametrize(
    "written",
    [
        b'{"stored_version":4,"words":"Yes."}',
        b'{"stored_version":4,"unheard":"of"}',
        b'{"stored_version":3,"words":"Yes.","format":%d}' % (FORMAT + 1),
    ],
)
def test_a_value_of_a_later_release_is_refused_with_its_name(written: bytes) -> None:
    with pytest.raises(NewerFormat, match="a note has format"):
        THIRD.read(written)


@each_row("kind", [FIRST, THIRD])
@each_row(
    "written", [b"", b"null", b"[]", b'{"no":"note"}', b'{"format":"x"}', b'{"stored_version":"x"}', b"\xff"]
)
def test_a_malformed_value_is_unreadable(kind: Kind[Any], written: bytes) -> None:
    with pytest.raises(UnreadableEvent, match="a note"):
        kind.read(written)
