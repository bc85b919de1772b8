"""Steps of a query, as Python programs define them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.shapes import Shape, schema_of


@dataclass(frozen=True)
class Step:
    """One step of a query. The model gets only its tools, and the next step begins when its output counts.

    Args:
        name: Unique among the steps: letters, digits, `_` and `-`.
        instructions: What the model has to do in this step.
        tools: Names of the only tools that may be called.
        output: The shape of the step's answer, as `ask(output=...)` takes it; without one, any text.
        validation_tools: Those of `tools` that must have accepted the step's output. They need an `output`.
        max_rounds: Reasoning rounds of one attempt at most, 5 to 50.
        attempts: Attempts at the step before the session ends, 1 to 10.
    """

    name: str
    instructions: str
    tools: Sequence[str]
    output: Shape | None = None
    validation_tools: Sequence[str] | None = None
    max_rounds: int = 10
    attempts: int = 3

    def as_option(self) -> dict[str, Any]:
        """Return the step in the form of the query option `steps`. Raises InvalidQuery for a shape without a schema."""
        fields = {**vars(self), "output": None if self.output is None else schema_of(self.output)}
        return {name: value for name, value in fields.items() if value is not None}
