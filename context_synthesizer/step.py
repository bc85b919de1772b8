"""The step of a briefing: its instructions, its input and its rounds. Pure.

# Step 2 of 3: configuration
<the step's instructions, verbatim>

The output of step discovery:
<result call="step 1" tool="discovery" round="4" trust="untrusted">
  {"id":"gateway","version":3}
</result>
"""

from dataclasses import dataclass

from antiphon_shared.events import ReasoningCompleted, StepToBrief
from antiphon_shared.output.reading import read_answer
from antiphon_shared.output.steps import Step, Steps
from antiphon_shared.text.fence import CLOSING, fence, opening
from pydantic_core import to_json


@dataclass(frozen=True, slots=True)
class StepText:
    """The step that a briefing is for."""

    title: str
    lines: tuple[str, ...]
    begun: int
    """The first round of the attempt: earlier reasoning and tool uses are not shown."""
    rounds: str
    """The progress of the attempt, as a sentence."""
    question: tuple[str, ...]
    """The texts to which facts are compared in this step: its instructions and its input."""


def step_text(request: StepToBrief, round: int, steps: Steps, reply: ReasoningCompleted | None) -> StepText:
    """Return the step's part of the briefing for a round; `reply` holds the output of the previous step."""
    step = steps[request.number - 1]
    of = f"Step {request.number} of {len(steps)}"
    instructions = step.instructions.strip()
    given = (_input(steps[request.number - 2], reply),) if reply else ()
    before = tuple(_fenced(text, steps[request.number - 2], request, reply) for text in given if reply)
    return StepText(
        title=f"{of}: {step.name}",
        lines=(instructions, *before),
        begun=request.begun,
        rounds=f"{of}, attempt {request.attempt} of {step.attempts}: round {round - request.begun + 1} of at most "
        f"{step.max_rounds}.",
        question=(instructions, *given),
    )


def _input(before: Step, reply: ReasoningCompleted) -> str:
    text = reply.text.strip()
    return text if before.output is None else to_json(read_answer(text).value).decode()


def _fenced(text: str, before: Step, asked: StepToBrief, reply: ReasoningCompleted) -> str:
    opened = opening(f"step {asked.number - 1}", before.name, reply.round, asked.is_untrusted)
    return f"\nThe output of step {before.name}:\n{opened}\n  {fence(text)}\n{CLOSING}"
