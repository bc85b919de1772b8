"""The steps of a query, for Python programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.shapes import Shape, schema_of


@dataclass(frozen=True)
class Step:
    """One step of a query, with its own tools. The next step begins when the output of this step is accepted.

    Args:
        name: A name that is unique among the steps: letters, digits, `_` and `-`.
        instructions: The task of the model in this step.
        tools: The names of the tools that the model may call in this step.
        output: The type of the step's output, as for `ask(output=...)`. Default: any text.
        validation_tools: The tools among `tools` that must accept the output. They need an `output`.
        max_rounds: The maximum number of reasoning rounds of one attempt, 5 to 50.
        attempts: The maximum number of attempts, 1 to 10; then the session ends.
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
