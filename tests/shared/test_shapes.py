"""Events and stored values keep their shape: fields, types, defaults, bounds and words; see shapes.json.

Clients and processes of other releases rely on it. After an intended change, run `python -m tests.shared.test_shapes`,
and review the output. For a new field, see docs/changing.md, "After a change".
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from antiphon_shared.breakers.breaker import BreakerState
from antiphon_shared.bus.dead_letters import Letter
from antiphon_shared.events.asyncapi import document
from antiphon_shared.events.session import Turn
from antiphon_shared.events.step_records import AnyRecord
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.contract import Contract
from antiphon_shared.workflows.recipe import Recipe
from pydantic import TypeAdapter

from coordinator.session import Session
from tests.rows import each_row

SHAPES = Path(__file__).with_name("shapes.json")
_STORED: dict[str, Any] = {
    "the session's document": Session,
    "a memory delta": MemoryDelta,
    "the tool catalogue": Catalogue,
    "a contract": Contract,
    "a step record": AnyRecord,
    "a breaker": BreakerState,
    "a turn": Turn,
    "a dead letter": Letter,
    "a recipe": Recipe,
}


@cache
def shapes() -> dict[str, Any]:
    """Return the bus's document, and the JSON Schema of each kind of stored value."""
    stored = {name: TypeAdapter(model).json_schema() for name, model in _STORED.items()}
    return {name: _untitled(shape) for name, shape in {"the bus": document(), **stored}.items()}


def _untitled(shape: Any) -> Any:
    """Return a schema without the titles that pydantic makes of the names of fields."""
    if isinstance(shape, dict):
        return {
            key: _untitled(value) for key, value in shape.items() if key != "title" or isinstance(value, dict)
        }
    return [_untitled(one) for one in shape] if isinstance(shape, list) else shape


@each_row("name", ["the bus", *_STORED])
def test_every_sent_or_stored_shape_is_unchanged(name: str) -> None:
    assert json.loads(json.dumps(shapes()[name])) == _kept()[name]


@cache
def _kept() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(SHAPES.read_text())
    return kept


if __name__ == "__main__":
    SHAPES.write_text(json.dumps(shapes(), indent=1, sort_keys=True, ensure_ascii=False) + "\n")
