"""The tools of the second step: give the components of a line their settings, and check them."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from antiphon import ToolFailed, tool

from . import checks, database
from .discovery import known
from .lines import ComponentDetails, ComponentName, Line, Verdict, WholeLine


class Choices(BaseModel):
    """The values that a setting may have."""

    component: str
    setting: str
    choices: tuple[str, ...]


class Defaults(BaseModel):
    """The settings of a component that have a default, with it, and those that must be given."""

    component: str
    settings: dict[str, Any]
    required: list[str]


@tool(effect="read", mode="parallel-safe", example={"component": "water_gauge"})
def get_details(component: ComponentName) -> ComponentDetails:
    """Look up every setting of a component: its type, its limits, and whether it is required."""
    return known(component)


@tool(effect="read", mode="parallel-safe", example={"component": "water_gauge", "setting": "station"})
def list_choices(
    component: ComponentName,
    setting: Annotated[str, Field(max_length=40, description="Name of a setting, such as station.")],
) -> Choices:
    """List the values that a setting of a component may have."""
    for one in known(component).settings:
        if one.name == setting and one.choices:
            return Choices(component=component, setting=setting, choices=one.choices)
    raise ToolFailed(
        "not_found",
        f"{component} has no setting {setting!r} with a list of choices.",
        "Look its settings up with get_details.",
    )


@tool(effect="read", mode="parallel-safe", example={"component": "threshold"})
def get_defaults(component: ComponentName) -> Defaults:
    """Look up the defaults of a component's settings, and the names of those that have none."""
    settings = known(component).settings
    return Defaults(
        component=component,
        settings={one.name: one.default for one in settings if one.default is not None},
        required=[one.name for one in settings if one.required],
    )


@tool(effect="read", mode="parallel-safe", validates="line", example={"line": Line.__example__})
def validate_minimal(line: WholeLine) -> Verdict:
    """Check that each component of a line exists and has its required settings."""
    return Verdict.of(checks.missing(line, catalogue()))


@tool(effect="read", mode="parallel-safe", validates="line", example={"line": Line.__example__})
def validate_full(line: WholeLine) -> Verdict:
    """Check a line wholly: required settings, the type and the limits of each value, and the order of components."""
    return Verdict.of(checks.problems(line, catalogue()))


def catalogue() -> dict[str, ComponentDetails]:
    """Return the components by name."""
    return {one.component: one for one in database.all_components()}
