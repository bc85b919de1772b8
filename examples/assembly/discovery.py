"""The tools of the first step: find the components that a line needs."""

from difflib import get_close_matches
from typing import Annotated

import orjson
from pydantic import BaseModel, Field

from antiphon import ToolFailed, tool

from . import database
from .lines import KINDS, Component, ComponentDetails, ComponentName, Kind

Query = Annotated[str, Field(min_length=2, max_length=300, description="Words that say what is needed.")]


class KindOfComponent(BaseModel):
    """A kind of component and its place in a line."""

    kind: Kind
    summary: str
    components: int = Field(description="How many components are of this kind.")


class Example(BaseModel):
    """A line that somebody has built."""

    summary: str
    components: list[ComponentName] = Field(description="Its components, in order.")


def known(name: str) -> ComponentDetails:
    """Return the component of that name. Raises ToolFailed, naming similar ones, when there is none."""
    catalogue = {one.component: one for one in database.all_components()}
    if name in catalogue:
        return catalogue[name]
    similar = get_close_matches(name, catalogue, n=3)
    raise ToolFailed(
        "not_found",
        f"There is no component {name!r}.",
        f"Call again with one of these: {', '.join(similar)}."
        if similar
        else "Find its name with search_components.",
    )


@tool(effect="read", mode="parallel-safe", example={"query": "water level above a limit"})
def search_components(
    query: Query, limit: Annotated[int, Field(ge=1, le=20, description="Components at most.")] = 5
) -> list[Component]:
    """Search the catalogue of components by words."""
    rows = database.found("components", query, limit)
    return [Component.model_validate_json(row["details"]) for row in rows]


@tool(effect="read", mode="parallel-safe", example={})
def list_kinds() -> list[KindOfComponent]:
    """List the kinds of components, in the order in which they stand in a line."""
    kinds = [one.kind for one in database.all_components()]
    return [
        KindOfComponent(kind=kind, summary=summary, components=kinds.count(kind))
        for kind, summary in KINDS.items()
    ]


@tool(effect="read", mode="parallel-safe", example={"kind": "source"})
def list_components(kind: Kind) -> list[Component]:
    """List all components of a kind."""
    return [Component(**one.model_dump()) for one in database.all_components() if one.kind == kind]


@tool(effect="read", mode="parallel-safe", example={"component": "water_gauge"})
def get_info(component: ComponentName) -> Component:
    """Look up what a component does and what it costs."""
    return Component(**known(component).model_dump())


@tool(effect="read", mode="parallel-safe", example={"query": "write to the chat when the water is high"})
def find_examples(
    query: Query, limit: Annotated[int, Field(ge=1, le=10, description="Examples at most.")] = 2
) -> list[Example]:
    """Find lines that others have built for a similar purpose, with their components in order."""
    rows = database.found("examples", query, limit)
    return [Example(summary=row["summary"], components=orjson.loads(row["components"])) for row in rows]
