"""A workflow file as a value. Pure."""

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from pydantic import Field

from antiphon_shared.values import Value
from antiphon_shared.workflows.nodes import TEXT_MAX, Node, Seconds, WorkflowNode, parts
from antiphon_shared.workflows.params import Name, Param

DEFAULT_TIMEOUT_S = 3_600.0
DEPTH_MAX = 8
"""Bound on the levels of workflows, the outermost included."""
NODES_MAX = 10_000
"""Bound on the nodes of a workflow, with its sub-workflows inlined."""


class Workflow(Value):
    """One workflow: its params, its nodes, its output."""

    description: str = Field(min_length=1, max_length=TEXT_MAX, description="The model reads it.")
    params: dict[Name, Param] = Field(default={}, max_length=100)
    timeout_s: Seconds = DEFAULT_TIMEOUT_S
    graph: dict[Name, Node] = Field(min_length=1, max_length=NODES_MAX)
    output: dict[Name, Any] | str | None = Field(default=None, description="A map, or one reference.")

    def nodes(self) -> Iterator[Node]:
        """Yield every node, also those inside others."""
        for node in self.graph.values():
            yield node
            yield from parts(node).values()


class Specification(Value):
    """All workflows of a domain."""

    domain: str = Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)
    version: str = Field(min_length=1, max_length=100)
    description: str = Field(default="", max_length=TEXT_MAX)
    workflows: dict[Name, Workflow] = Field(min_length=1, max_length=1_000)

    def nodes_inside(self, node: Node) -> Iterator[Node]:
        """Yield every node inside a node, also those of the workflows that it calls."""
        called: set[str] = set()
        waiting = [node]
        while waiting:
            one = waiting.pop()
            inside: list[Node] = [*parts(one).values()]
            if isinstance(one, WorkflowNode) and one.workflow in self.workflows.keys() - called:
                called.add(one.workflow)
                inside += self.workflows[one.workflow].graph.values()
            yield from inside
            waiting += inside


def canonical(specification: Specification) -> bytes:
    """Return the JSON that two files share if and only if they mean the same.

    Keys are sorted and defaults left out, as the order of nodes and written defaults have no meaning.
    """
    fields = specification.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def specification_hash(specification: Specification) -> str:
    """Return the hash to which a run is pinned."""
    return blake2b(canonical(specification), digest_size=16).hexdigest()
