"""The outputs of finished steps, for an answer of a session that ended before its last step. Pure."""

from collections.abc import Sequence

from antiphon_shared.output.reading import read_answer

from response_assembler.quote import code, plain
from response_assembler.shaped import value_as_json


def steps_section(steps: Sequence[tuple[str, str]]) -> str:
    """Return the section in Markdown, from name and output of each step; empty without steps."""
    if not steps:
        return ""
    produced = [f"{code(name)}:\n\n{_as_markdown(output)}" for name, output in steps]
    return "\n\n".join(["**What the finished steps produced**", *produced])


def _as_markdown(output: str) -> str:
    answer = read_answer(output)
    return plain(output.strip()) if answer.problem else f"```json\n{value_as_json(answer.value)}\n```"
