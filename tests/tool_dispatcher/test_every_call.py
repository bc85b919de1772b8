"""What small functions of the dispatcher make of schemas, values and texts: every_call.json.

After a change that is meant: `python -m tests.tool_dispatcher.test_every_call`, and read what it has written.
"""

from pathlib import Path

import pytest

from tests.kept_forms import Reader, differences, write
from tests.plain_samples import PLAIN
from tests.sampled import readers_of_samples
from tool_dispatcher import import_failures
from tool_dispatcher.authoring import (
    codes,
    contract,
    example,
    faults,
    foreign_failures,
    options,
    parameters,
    relations,
    renamed,
    secret,
    tool,
    validate,
)
from tool_dispatcher.batch import dependencies, placeholders
from tool_dispatcher.check import cases, hostile, judge, leaks, places, shown
from tool_dispatcher.check import verdict as of_checks
from tool_dispatcher.idempotency import fingerprint, identity
from tool_dispatcher.idempotency import write as writes
from tool_dispatcher.results import as_json, oversize, position, redacted, verdict
from tool_dispatcher.running import cache
from tool_dispatcher.sql import tables

KEPT = Path(__file__).with_name("every_call.json")
_MODULES = (
    *(
        codes,
        contract,
        example,
        faults,
        foreign_failures,
        options,
        parameters,
        relations,
        renamed,
        secret,
        tool,
        validate,
    ),
    *(
        dependencies,
        placeholders,
        cases,
        judge,
        leaks,
        places,
        shown,
        of_checks,
        fingerprint,
        identity,
        writes,
    ),
    *(as_json, oversize, position, redacted, verdict, cache, tables, import_failures),
)
_HOSTILE = ("of_any_kind", "texts", "numbers", "nestings")
READERS = (
    *(reader for module in _MODULES for reader in readers_of_samples(module, PLAIN)),
    Reader("hostile values", lambda kind: list(map(repr, getattr(hostile, kind)())), (), _HOSTILE),
)


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_each_call_gives_what_it_gave(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
