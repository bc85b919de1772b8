"""A stored recipe: a workflow that was learned from sessions, with the tools that it was learned with. Pure."""

import json
from functools import cached_property
from hashlib import blake2b
from typing import Any, Self

from pydantic import Field, model_validator
from pydantic_core import to_json

from antiphon_shared.stored import Kind
from antiphon_shared.tools.calls import Catalogue, ToolDefinition
from antiphon_shared.tools.contract import CONTRACT_KEYWORD
from antiphon_shared.values import SessionId, Value
from antiphon_shared.workflows.params import Name
from antiphon_shared.workflows.specification import Specification, Workflow


class Recipe(Value):
    """A learned workflow."""

    name: Name = Field(description="Name of the recipe, and of the one workflow in its file.")
    file: dict[str, Any] = Field(description="The fields of the workflow file.")
    tools: dict[str, str] = Field(description="For each tool that it calls, the hash of its schema.")
    learned_from: tuple[SessionId, ...] = Field(min_length=1, description="Ids of the sessions.")

    @model_validator(mode="after")
    def _has_its_workflow(self) -> Self:
        if self.name not in self.specification.workflows:
            raise ValueError(f"the file has no workflow {self.name}")
        return self

    @cached_property
    def specification(self) -> Specification:
        return Specification.model_validate_json(to_json(self.file), strict=True)

    @property
    def workflow(self) -> Workflow:
        return self.specification.workflows[self.name]


RECIPE: Kind[Recipe] = Kind("a recipe", Recipe)


def schema_hash(tool: ToolDefinition) -> str:
    """Return the hash of the parts of a tool that a recipe relies on: its parameters, its effect and its version.

    The rest of its contract, such as timeouts, may change.
    """
    schema = {key: value for key, value in tool.input_schema.items() if key != CONTRACT_KEYWORD}
    relied_on = [schema, tool.effect, tool.contract.version]
    written = json.dumps(relied_on, sort_keys=True, separators=(",", ":"))
    return blake2b(written.encode(), digest_size=16).hexdigest()


def changed_tools(recipe: Recipe, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the tools of a recipe that are missing or have changed."""
    definitions = catalogue.by_name
    return tuple(
        name
        for name, hash in recipe.tools.items()
        if name not in definitions or schema_hash(definitions[name]) != hash
    )
