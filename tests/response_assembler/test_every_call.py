"""What small functions of the assembler make of values and texts: every_call.json.

After a change that is meant: `python -m tests.response_assembler.test_every_call`, and read what it has written.
"""

from pathlib import Path

import pytest

from response_assembler import (
    closeness,
    markdown,
    missing,
    partial,
    produced,
    quote,
    shaped,
    sources,
    standing,
    uncertainty,
    verify,
)
from tests.kept_forms import Reader, differences, write
from tests.plain_samples import PLAIN
from tests.sampled import readers_of_samples

KEPT = Path(__file__).with_name("every_call.json")
_MODULES = (
    closeness,
    markdown,
    missing,
    partial,
    produced,
    quote,
    shaped,
    sources,
    standing,
    uncertainty,
    verify,
)
READERS = tuple(reader for module in _MODULES for reader in readers_of_samples(module, PLAIN))


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_each_call_gives_what_it_gave(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
