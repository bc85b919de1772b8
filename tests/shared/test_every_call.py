"""What small functions of the ground floor make of schemas, values and texts: every_call.json.

After a change that is meant: `python -m tests.shared.test_every_call`, and read what it has written.
"""

from pathlib import Path

import pytest
from antiphon_shared import formats, stored
from antiphon_shared.breakers import table
from antiphon_shared.bus import address, connection, session_content, signing, unavailable, waiting
from antiphon_shared.events import asyncapi, codec
from antiphon_shared.output import bounds, reading, schema, steps, validation
from antiphon_shared.process import aside, clock, errors, ids
from antiphon_shared.redaction import (
    assigned_values,
    columns,
    key_hint,
    known_values,
    secret_keys,
    secret_values,
    span,
)
from antiphon_shared.tools import (
    asking,
    contract,
    grants,
    hints,
    journal,
    placeholders,
    relevance,
    repeating,
)
from antiphon_shared.workflows import (
    condition,
    form,
    items,
    nodes,
    order,
    outline,
    params,
    problem,
    proposal,
    ranking,
    references,
    write,
)
from antiphon_shared.workflows.checks import arguments, edges, sub_workflows, texts
from antiphon_shared.workflows.checks import nodes as of_nodes

from tests.kept_forms import Reader, differences
from tests.kept_forms import write as write_down
from tests.plain_samples import PLAIN
from tests.sampled import readers_of_samples

KEPT = Path(__file__).with_name("every_call.json")
_MODULES = (
    *(
        formats,
        stored,
        table,
        address,
        connection,
        session_content,
        signing,
        unavailable,
        waiting,
        asyncapi,
        codec,
    ),
    *(bounds, reading, schema, steps, validation, aside, clock, errors, ids),
    *(assigned_values, columns, key_hint, known_values, secret_keys, secret_values, span),
    *(asking, contract, grants, hints, journal, placeholders, relevance, repeating),
    *(
        condition,
        form,
        items,
        nodes,
        order,
        outline,
        params,
        problem,
        proposal,
        ranking,
        references,
        write,
    ),
    *(arguments, edges, sub_workflows, texts, of_nodes),
)
READERS = tuple(reader for module in _MODULES for reader in readers_of_samples(module, PLAIN))


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_each_call_gives_what_it_gave(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write_down(READERS, KEPT)
