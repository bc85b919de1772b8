"""The parts of a session's document about the required output: its schema, validations and steps. Pure."""

from dataclasses import dataclass

from antiphon_shared.output.validation import Validation
from antiphon_shared.values import LogEntry

from coordinator.session_parts import STRICT


class ValidationRun(Validation):
    """A run of a validating tool."""

    tool: str


@dataclass(frozen=True)
class Output:
    """The shape that the answer must have."""

    __pydantic_config__ = STRICT

    is_demanded: bool = False
    """Whether the query has a schema that the answer must fit."""
    validation_tools: tuple[str, ...] = ()
    """Tools that must have validated the answer."""
    validations: tuple[ValidationRun, ...] = ()
    """The newest run of each of them on each value."""
    refusals: int = 0
    """The number of final answers that were refused."""
    because: tuple[str, ...] = ()
    """The faults of the last refused answer, a sentence each."""
    is_unvalidated: bool = False
    """Whether the last refused answer fits the schema, and lacks only validations."""
    attempt: str = ""
    """The beginning of the last refused answer."""


@dataclass(frozen=True)
class StepPlan:
    """The part of a step that the session keeps; its instructions and its schema are in the query."""

    __pydantic_config__ = STRICT

    name: str
    tools: tuple[str, ...]
    """The step's tools that the session may use, in the catalogue's order."""
    max_rounds: int
    attempts: int
    has_schema: bool = False
    validation_tools: tuple[str, ...] = ()


@dataclass(frozen=True)
class Steps:
    """The steps of the query, and the current attempt."""

    __pydantic_config__ = STRICT

    plans: tuple[StepPlan, ...] = ()
    lacking: tuple[str, ...] = ()
    """Tools of steps that the session may not use."""
    number: int = 0
    """The number of the current step from 1; 0 if the query has no steps."""
    attempt: int = 1
    begun: int = 1
    """The first round of the attempt."""
    because: tuple[str, ...] = ()
    """The reasons for the failure of the previous attempt."""
    replies: tuple[LogEntry, ...] = ()
    """The reasoning.completed with the output of each finished step."""

    @property
    def plan(self) -> StepPlan | None:
        """Return the current step."""
        return self.plans[self.number - 1] if self.number else None

    @property
    def is_last(self) -> bool:
        """Return whether this is the last step."""
        return self.number == len(self.plans)

    def ends_with(self, round: int) -> bool:
        """Return whether a round is the attempt's last."""
        return self.plan is not None and round >= self.begun + self.plan.max_rounds - 1
