"""The steps of a query: their tasks, their tools, and the conditions for the next step to begin. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from antiphon_shared.output.schema import output_schema
from antiphon_shared.values import JsonSchema, Value

STEPS_MAX = 20
_ROUNDS_MAX = 1_000
"""The rounds of a session."""

ToolName = Annotated[str, Field(max_length=64)]


def _checked_schema(schema: JsonSchema) -> dict[str, Any]:
    output_schema(schema)  # UnfitSchema is a ValueError
    return schema


Schema = Annotated[dict[str, Any], AfterValidator(_checked_schema)]
"""A JSON Schema 2020-12 within the bounds of schema.py."""


class Step(Value):
    """One step of a query. Its answer, once accepted, is the input of the next step."""

    name: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$", description="Unique among the steps.")
    instructions: str = Field(min_length=1, max_length=20_000, description="Task of the model in this step.")
    tools: tuple[ToolName, ...] = Field(
        min_length=1, max_length=100, description="Names of the only tools that may be called."
    )
    output: Schema | None = Field(
        default=None,
        description="JSON Schema 2020-12 that the step's answer must fit; any text when left out.",
    )
    validation_tools: tuple[ToolName, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=10,
        description="Tools of `tools` that must accept the step's output; only together with `output`.",
    )
    max_rounds: int = Field(default=10, ge=5, le=50, description="Reasoning rounds of one attempt at most.")
    attempts: int = Field(default=3, ge=1, le=10, description="Attempts at the step before the session ends.")

    @model_validator(mode="after")
    def _is_sound(self) -> "Step":
        if repeated := _repeated(self.tools):
            raise ValueError(f"tools: {repeated!r} is listed twice; list it once")
        if self.validation_tools is None:
            return self
        if self.output is None:
            raise ValueError("validation_tools need an output: say what the step's answer must fit")
        if others := [name for name in self.validation_tools if name not in self.tools]:
            raise ValueError(
                f"validation_tools: {others[0]!r} is not among the step's tools; add it to tools"
            )
        return self


def _checked(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    # Not by Field, which would report the length as well where a step is invalid.
    if not 1 <= len(steps) <= STEPS_MAX:
        raise ValueError(f"there are {len(steps)} steps; give 1 to {STEPS_MAX}")
    if repeated := _repeated([step.name for step in steps]):
        raise ValueError(f"two steps are named {repeated!r}; give each a different name")
    return steps


Steps = Annotated[tuple[Step, ...], AfterValidator(_checked)]
"""The steps of a query, in their order."""

StepsName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""The name of steps that the operator has published: the name of their file, without its ending."""


def _form_of(value: object) -> str:
    return "antiphon.name" if isinstance(value, str) else "antiphon.steps"


# Error messages leave out parts of a path that begin with `antiphon.`.
StepsOption = Annotated[
    Annotated[Steps, Tag("antiphon.steps")] | Annotated[StepsName, Tag("antiphon.name")],
    Discriminator(_form_of),
]
"""The steps in a query's options: a list, or the name of published ones."""


def rounds_of(steps: Sequence[Step]) -> int:
    """Return the maximum of rounds that all attempts at the steps can take."""
    return min(sum(step.max_rounds * step.attempts for step in steps), _ROUNDS_MAX)


def tools_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the names of the tools of all steps, each once."""
    return tuple(dict.fromkeys(name for step in steps for name in step.tools))


def _repeated(names: Sequence[str]) -> str | None:
    return next((name for name, count in Counter(names).items() if count > 1), None)
