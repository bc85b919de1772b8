"""A scripted model that works through the assembly example and makes mistakes, drawn by a seed.

It knows what is right, and errs by lot: in the tool, in the arguments, by leaving out a validation, by writing prose
in place of a move. What it is told it mends: an error of a call, a failed validation, a refused answer. What it is
not told it does not notice. Each draw depends on the seed, the task, the move and how often the move was tried, so
that the mistakes are the same whether the pipeline enforces anything or not.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from anthropic.types import Message, TextBlock, ToolUseBlock, Usage
from antiphon_shared.text.tokens import estimate_tokens

from benchmarks.steps.tasks import Task, value_of
from examples import assembly
from examples.assembly.catalogue import CATALOGUE
from reasoning_engine.port import OnHeaders, OnText
from reasoning_engine.prompt import Prompt
from reasoning_engine.shaped import FINAL_ANSWER

PROSE, WRONG_TOOL, WRONG_ARGUMENT, SKIPPED_VALIDATION = 0.10, 0.15, 0.20, 0.20
MOVES = {
    "discovery": ("find_examples",),
    "configuration": ("get_details", "validate_minimal", "validate_full"),
    "assembly": ("deploy", "verify_deployment"),
}
_VALIDATIONS = ("validate_minimal", "validate_full", "verify_deployment")
_LINE = re.compile(r"line-\d\d")
_STEP = re.compile(r"^# Step \d of \d: (\w+)$", re.MULTILINE)
_ATTEMPT = re.compile(r"attempt (\d+) of")
_ROUND = re.compile(r"^Round (\d+)", re.MULTILINE)
_REFUSED = "Your last answer does not count."
_FAULTY = ('"valid":false', '"status":"broken"', "Property: ")
_ALL_TOOLS = assembly.__all__
_SETTINGS = {(one.component, setting.name): setting for one in CATALOGUE for setting in one.settings}


class Call(NamedTuple):
    """A tool call as the model writes it."""

    tool: str
    arguments: dict[str, Any]


@dataclass
class Work:
    """The state of the model's work at one task, between rounds."""

    task: Task
    draft: dict[str, Any]
    step: tuple[str, str] = ("", "")
    """The step that the briefing named last, and the attempt."""
    moves: list[str] = field(default_factory=list)
    """The moves still to make, the next first."""
    tries: Counter[str] = field(default_factory=Counter)
    has_answered: bool = False
    """Whether its last reply was an answer, or prose."""
    refusals: int = 0
    """Answers and calls that the pipeline refused."""
    deployed: dict[str, str] = field(default_factory=lambda: {"deployment": "D-1", "checksum": "0" * 12})


class ErringModel:
    """The model: one for all tasks of a run.

    Args:
        tasks: The tasks that it may be asked.
        seed: Decides every mistake.
    """

    def __init__(self, tasks: Sequence[Task], seed: int) -> None:
        self._seed = seed
        self._calls = 0
        self.works = {task.line.name: Work(task, _empty(task)) for task in tasks}

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> Message:
        """Return the next move of the task that the prompt is about."""
        briefing = str(prompt["messages"][-1]["content"])
        offered = [str(tool["name"]) for tool in prompt.get("tools", [])]
        found = _LINE.search(briefing)
        assert found is not None, "a question that the model does not know"
        work = self.works[found[0]]
        self._notice(work, briefing)
        made = self._next(work)
        work.has_answered = not isinstance(made, Call)
        if isinstance(made, dict) and FINAL_ANSWER in offered:
            made = Call(FINAL_ANSWER, made)
        size = estimate_tokens(briefing + json.dumps(prompt.get("tools", [])))
        self._calls += 1
        return _message(
            made,
            f"toolu_{self._calls}",
            Usage(input_tokens=size, output_tokens=estimate_tokens(json.dumps(made))),
        )

    def _notice(self, work: Work, briefing: str) -> None:
        """Change the moves by what the briefing reports of the last ones."""
        step, attempt = _STEP.search(briefing), _ATTEMPT.search(briefing)
        now = (step[1], attempt[1]) if step and attempt else ("", "")
        results = _last_results(briefing)
        if found := re.search(r'"deployment":"(D-\d+)"', results):
            checksum = re.search(r'"checksum":"(\w+)"', results)
            work.deployed = {"deployment": found[1], "checksum": checksum[1] if checksum else ""}
        if now != work.step or not work.moves:
            work.step = now
            work.moves = [*(MOVES[now[0]] if now[0] else sum(MOVES.values(), ())), "answer"]
        elif _REFUSED in briefing and work.has_answered:
            work.refusals += 1
            self._mend(work, briefing[briefing.index(_REFUSED) :])
        elif any(sign in results for sign in _FAULTY):
            self._mend(work, results)
        elif "-> ok" in results:
            work.moves.pop(0)
        work.refusals += results.count("The call was not run")

    def _mend(self, work: Work, reported: str) -> None:
        """Write the faulty draft again, and put the moves that have to be made again before the others."""
        again = [name for name in _VALIDATIONS if f"`{name}`" in reported]
        if "checksum" in reported:
            again = ["verify_deployment"]
        elif any(sign in reported for sign in _FAULTY):
            work.draft = self._drafted(work)
            is_assembly = work.moves[0] in MOVES["assembly"] or work.step[0] == "assembly"
            again = list(MOVES["assembly"] if is_assembly else MOVES["configuration"][1:])
        work.moves = [*again, *(move for move in work.moves if move not in again)]

    def _next(self, work: Work) -> Call | dict[str, Any] | str:
        """Return the next move: a call, the value of an answer, or prose."""
        while True:
            move = work.moves[0]
            draw = self._draw(work, move)
            if draw.random() < PROSE:
                return "Everything is in place; the line works as it was wanted."
            if move == "answer":
                return self._answer(work)
            if move in _VALIDATIONS and draw.random() < SKIPPED_VALIDATION:
                work.moves.pop(0)
                continue
            if move == "get_details":
                work.draft = self._drafted(work)
            if draw.random() < WRONG_TOOL:
                return _call(draw.choice([name for name in _ALL_TOOLS if name != move]), work, work.draft)
            if draw.random() < WRONG_ARGUMENT:
                return _call(move, work, _slipped(work.draft, draw), is_misspelt=True)
            return _call(move, work, work.draft)

    def _answer(self, work: Work) -> dict[str, Any]:
        if work.step[0] == "discovery":
            return {"components": [part["component"] for part in work.draft["parts"]]}
        return work.draft if work.step[0] == "configuration" else dict(work.deployed)

    def _drafted(self, work: Work) -> dict[str, Any]:
        draw = self._draw(work, "draft")
        whole = work.task.line.model_dump(mode="json")
        return _slipped(whole, draw) if draw.random() < WRONG_ARGUMENT else whole

    def _draw(self, work: Work, move: str) -> Random:
        work.tries[move] += 1
        return Random(f"{self._seed}/{work.task.line.name}/{move}/{work.tries[move]}")  # no secret


def _empty(task: Task) -> dict[str, Any]:
    """Return a first draft: the components without settings."""
    parts = [{"component": part.component, "settings": {}} for part in task.line.parts]
    return {"name": task.line.name, "parts": parts}


def _slipped(line: dict[str, Any], draw: Random) -> dict[str, Any]:
    """Return the line with one slip: a setting lost, one that does not fit, parts swapped, or another value."""
    slipped: dict[str, Any] = json.loads(json.dumps(line))
    parts = [part for part in slipped["parts"] if part["settings"]]
    kind = draw.choice(("lost", "misfit", "swapped", "another value"))
    if kind == "swapped" or not parts:
        slipped["parts"].reverse()
        return slipped
    part = draw.choice(parts)
    name = draw.choice(sorted(part["settings"]))
    if kind == "lost":
        del part["settings"][name]
    elif kind == "misfit":
        part["settings"][name] = None
    else:
        part["settings"][name] = value_of(_SETTINGS[part["component"], name], draw)
    return slipped


def _call(tool: str, work: Work, line: dict[str, Any], is_misspelt: bool = False) -> Call:
    """Return a call of a tool with the arguments that the model holds at the time."""
    component = line["parts"][0]["component"] + ("s" if is_misspelt else "")
    match tool:
        case "search_components" | "find_examples":
            return Call(tool, {"query": "x" if is_misspelt else work.task.question[:300]})
        case "list_kinds":
            return Call(tool, {})
        case "list_components":
            return Call(tool, {"kind": "source"})
        case "get_info" | "get_details" | "get_defaults":
            return Call(tool, {"component": component})
        case "list_choices":
            return Call(tool, {"component": component, "setting": "station"})
        case "get_deployment":
            return Call(tool, {"deployment": work.deployed["deployment"]})
        case "verify_deployment":
            slip = {"checksum": "0" * 12} if is_misspelt else {}
            return Call(tool, {"receipt": {**work.deployed, **slip}})
        case _:
            return Call(tool, {"line": line})


def _last_results(briefing: str) -> str:
    """Return what the briefing shows of the calls of the last round: their lines, and the facts that they name."""
    found = _ROUND.search(briefing[briefing.rindex("# Now") :])
    number = int(found[1]) - 1 if found else 0
    lines = briefing.splitlines()
    tried = ["->" + line.rpartition("->")[2] for line in lines if line.startswith(f"- round {number}: ")]
    fences = re.findall(rf'<result call="\S+" tool="\w+" round="{number}".*?</result>', briefing, re.DOTALL)
    facts = {id for line in tried for id in re.findall(r"\bF\d+", line)}
    return "\n".join([*tried, *fences, *(line for line in lines if line.split(" ", 1)[0] in facts)])


def _message(made: Call | dict[str, Any] | str, id: str, usage: Usage) -> Message:
    content: list[TextBlock | ToolUseBlock]
    if isinstance(made, Call):
        content = [ToolUseBlock(type="tool_use", id=id, name=made.tool, input=made.arguments)]
    else:
        text = made if isinstance(made, str) else json.dumps(made)
        content = [TextBlock(type="text", text=text)]
    return Message(
        id="msg_erring",
        type="message",
        role="assistant",
        model="erring",
        content=content,
        stop_reason="tool_use" if isinstance(made, Call) else "end_turn",
        stop_sequence=None,
        usage=usage,
    )
