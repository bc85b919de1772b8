"""Events of the tool dispatcher."""

from typing import ClassVar

from pydantic import Field

from antiphon_shared.events.base import Component, EventData
from antiphon_shared.tools.calls import Summary, ToolResult
from antiphon_shared.values import Round


class ToolsCompleted(EventData):
    """A result for every call of the batch, in the order of the calls."""

    type: ClassVar[str] = "antiphon.tools.completed.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    results: tuple[ToolResult, ...]
    summary: Summary | None = Field(default=None, description="Always there since it exists.")
    duration_ms: int = Field(default=0, ge=0)

    @classmethod
    def of(cls, round: int, results: tuple[ToolResult, ...], duration_ms: int = 0) -> "ToolsCompleted":
        """Return the batch's results with their summary."""
        return cls(round=round, results=results, summary=Summary.of(results), duration_ms=duration_ms)
