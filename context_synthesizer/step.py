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
    """The parts of a briefing about its step."""

    title: str
    lines: tuple[str, ...]
    begun: int
    """The first round of the attempt; reasoning and tool uses of earlier rounds are not shown."""
    rounds: str
    """The progress of the attempt, as a sentence."""
    question: tuple[str, ...]
    """The texts to which facts are compared in this step: its instructions and its input."""


def step_text(request: StepToBrief, round: int, steps: Steps, reply: ReasoningCompleted | None) -> StepText:
    """Return the step's part of the briefing for a round; `reply` holds the output of the previous step."""
    step = steps[request.number - 1]
    position = f"Step {request.number} of {len(steps)}"
    instructions = step.instructions.strip()
    inputs = (_input(steps[request.number - 2], reply),) if reply else ()
    before = tuple(_fenced(text, steps[request.number - 2], request, reply) for text in inputs if reply)
    return StepText(
        title=f"{position}: {step.name}",
        lines=(instructions, *before),
        begun=request.begun,
        rounds=f"{position}, attempt {request.attempt} of {step.attempts}: round {round - request.begun + 1} "
        f"of at most {step.max_rounds}.",
        question=(instructions, *inputs),
    )


def _input(before: Step, reply: ReasoningCompleted) -> str:
    text = reply.text.strip()
    return text if before.output is None else to_json(read_answer(text).value).decode()


def _fenced(text: str, before: Step, request: StepToBrief, reply: ReasoningCompleted) -> str:
    opened = opening(f"step {request.number - 1}", before.name, reply.round, request.is_untrusted)
    return f"\nThe output of step {before.name}:\n{opened}\n  {fence(text)}\n{CLOSING}"
