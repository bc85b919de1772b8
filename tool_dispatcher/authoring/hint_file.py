"""The reader of a YAML or JSON file of hints, which are added to the descriptions of tools. Pure.

create_booking:
  requires: [search_flights (needs flight_id)]
  next: [send_confirmation]
  hint: Name the price before you book.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.text.yaml_text import Path, Position, UnreadableYaml, YamlText, read_yaml
from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.tools.hints import describe
from antiphon_shared.values import Value
from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, to_json

_PROBLEMS_MAX = 100
_NO_TOOLS = "Name modules with tools in ANTIPHON_TOOLS."
_REQUIRED = re.compile(r"([a-zA-Z0-9_-]{1,64})(?: \([^\n]{1,200}\))?")
_FORM = "write the name of a tool, followed by a reason in brackets: search_flights (needs flight_id)"
_TYPES = {
    "model_type": "write an object of requires, next and hint",
    "tuple_type": "write a list of tools",
    "string_type": "write text",
    "dict_type": "write an object: tools by name, and the hints of each",
}
_NamedTool = Annotated[str, Field(max_length=300)]


class ToolHint(Value):
    """The addition to the description of one tool."""

    requires: tuple[_NamedTool, ...] = Field(
        default=(), max_length=20, description="Tools to call before, each as `NAME` or `NAME (reason)`."
    )
    next: tuple[_NamedTool, ...] = Field(default=(), max_length=20, description="Tools to call after.")
    hint: str = Field(default="", max_length=1_000)


Hints = dict[str, ToolHint]
"""By the name of the tool."""
_FILE: TypeAdapter[Hints] = TypeAdapter(Hints)


class InvalidHints(ValueError):
    """An error in a file of hints; the message has a line for each mistake, with its position."""


def with_hints(tools: Iterable[ToolDefinition], hints: Mapping[str, ToolHint]) -> tuple[ToolDefinition, ...]:
    """Return the tools with hints in their descriptions; hints for unknown tools have no effect.

    A description that already contains its hint stays unchanged.
    """
    return tuple(_with_hint(tool, hints[tool.name]) if tool.name in hints else tool for tool in tools)


def _with_hint(tool: ToolDefinition, hint: ToolHint) -> ToolDefinition:
    sentence = " ".join(hint.hint.split())
    described = describe(
        tool.description, requires=hint.requires, next=hint.next, notes=(sentence,) if sentence else ()
    )
    return tool.model_copy(update={"description": described})


def read_hints(text: str, tool_names: Collection[str]) -> Hints:
    """Return the hints of a file for the tools named. Raises InvalidHints, which lists every mistake."""
    problems: list[tuple[Position | None, str]] = []
    file: YamlText | None
    try:
        file = read_yaml(text)
    except UnreadableYaml as error:
        problems += [(problem.position, str(problem)) for problem in error.problems]
        file = error.text
    hints: Hints = {}
    if file is not None:
        try:
            hints = _FILE.validate_json(to_json(file.value), strict=True)
        except ValidationError as error:
            problems += [_located(file, *_form_problem(one)) for one in error.errors(include_url=False)]
        problems += [_located(file, *one) for one in _name_problems(file.value, sorted(tool_names))]
    if problems:
        problems.sort(key=lambda problem: problem[0] or Position(0, 0))
        raise InvalidHints("\n".join(line for _, line in problems[:_PROBLEMS_MAX]))
    return hints


def _located(file: YamlText, path: Path, message: str) -> tuple[Position, str]:
    position = file.key_position(path)
    return position, f"{position}: {'.'.join(map(str, path)) or 'the file'}: {message}"


def _form_problem(problem: ErrorDetails) -> tuple[Path, str]:
    """Return the path and the message of an error of pydantic."""
    path = problem["loc"]
    if problem["type"] == "extra_forbidden":
        return path, f"the field does not exist. {did_you_mean(str(path[-1]), ToolHint.model_fields)}"
    return path, _TYPES.get(problem["type"], problem["msg"])


def _name_problems(value: object, tool_names: list[str]) -> Iterator[tuple[Path, str]]:
    """Yield the path and the message of each wrong name; parts of the file that have another form are skipped."""
    for tool, hint in value.items() if isinstance(value, dict) else ():
        if tool not in tool_names:
            yield (tool,), f"there is no tool {tool!r}. {did_you_mean(tool, tool_names, _NO_TOOLS)}"
        for key in ("requires", "next"):
            names = hint.get(key) if isinstance(hint, dict) else None
            for index, one in enumerate(names if isinstance(names, list) else ()):
                if not isinstance(one, str):
                    continue
                match = _REQUIRED.fullmatch(one) if key == "requires" else None
                name = match[1] if match else one
                if key == "requires" and match is None:
                    yield (tool, key, index), f"{one!r}: {_FORM}"
                elif name == tool:
                    yield (tool, key, index), "the tool names itself; remove it"
                elif name not in tool_names:
                    yield (
                        (tool, key, index),
                        f"there is no tool {name!r}. {did_you_mean(name, tool_names, _NO_TOOLS)}",
                    )
