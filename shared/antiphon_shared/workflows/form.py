"""The form of a workflow file: text in, specification or problems out. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json, to_json

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.text.yaml_text import UnreadableYaml, YamlText, read_yaml
from antiphon_shared.values import Value
from antiphon_shared.workflows import nodes
from antiphon_shared.workflows.params import Param
from antiphon_shared.workflows.problem import Path, Problem, error
from antiphon_shared.workflows.specification import Specification, Workflow

_MODELS_BY_KEY: dict[str, type[Value]] = {
    "params": Param,
    "expects": Param,
    "workflows": Workflow,
    "on_error": nodes.OnError,
    "compensate": nodes.CompensateCall,
    "steps": nodes.CompensateCall,
    "on": nodes.Arm,
}
_STAND_INS = {"version": "0", "description": "-"}
"""Stand-ins for keys that may be required."""
_INDEPENDENT_KEYS = frozenset((
    *_STAND_INS, "timeout_s", "max_iterations", "concurrency", "retry", "delay", "backoff", "max_rounds", "example",
))  # fmt: skip
"""Keys whose values do not change the meaning of the rest."""
_NAMESPACES = frozenset(("workflows", "params", "expects", "graph", "branches", "args", "output"))
"""Objects whose keys are names of the author's choice."""
_NAMES = "letters, digits and _, at most 64, the first no digit"
_DOMAINS = "a lower-case letter, then lower-case letters, digits and _"


@dataclass(frozen=True, slots=True)
class WorkflowFile:
    """The content of a file; without a specification if the problems of its form prevent further checks."""

    name: str
    text: YamlText | None
    specification: Specification | None
    problems: tuple[Problem, ...] = ()

    def located(self, problem: Problem) -> Problem:
        """Return a problem with its file, line and column."""
        position = self.text.position(problem.path) if self.text else problem.position
        return replace(problem, file=self.name, position=position)


def read_file(text: str, name: str) -> WorkflowFile:
    """Return the content of a text, with every problem of its form.

    The result has a specification despite problems that do not change the meaning of the rest, such as a
    repeated or unknown key, or a time of 0 seconds, so that the rest is checked at once.
    """
    problems: tuple[Problem, ...] = ()
    try:
        yaml = read_yaml(text, allows_aliases=False)
    except UnreadableYaml as unreadable:
        problems = tuple(
            Problem("error", "syntax", (), one.message, "", name, one.position) for one in unreadable.problems
        )
        if unreadable.text is None or not isinstance(unreadable.text.value, dict):
            return WorkflowFile(name, None, None, problems)
        yaml = unreadable.text
    read = WorkflowFile(name, yaml, None)
    try:
        return replace(read, specification=_specification(yaml.value), problems=problems)
    except ValidationError as refused:
        of_form = [*form_problems(refused, yaml.value)]
    problems = (*problems, *map(read.located, of_form))
    if not all(map(_is_independent, of_form)):
        return replace(read, problems=problems)
    try:
        return replace(read, specification=_specification(_rest(yaml.value, of_form)), problems=problems)
    except ValidationError:
        return replace(read, problems=problems)


def _is_independent(problem: Problem) -> bool:
    """Return whether the rest of a file means the same without the key of a problem."""
    *around, key = problem.path or ("",)
    return problem.code == "unknown_key" or (
        key in _INDEPENDENT_KEYS and not (around and around[-1] in _NAMESPACES)
    )


def _specification(value: object) -> Specification:
    return Specification.model_validate_json(to_json(value), strict=True)


def _rest(value: object, problems: Iterable[Problem]) -> Any:
    """Return JSON without the keys of problems, or with placeholders for required keys."""
    rest = from_json(to_json(value))
    for problem in problems:
        *around, key = problem.path
        parent = _at(rest, tuple(around))
        if isinstance(parent, dict):
            parent.pop(key, None)
            if key in _STAND_INS and problem.code != "unknown_key":
                parent[key] = _STAND_INS[str(key)]
    return rest


def form_problems(refused: ValidationError, value: object) -> Iterator[Problem]:
    """Yield pydantic's errors in the words of the file; of several on one path the first."""
    reported: set[Path] = set()
    details = refused.errors(include_url=False, include_context=True)
    for one in sorted(details, key=lambda one: one["type"] == "too_short"):
        path = _path(one, value)
        after_others = one["type"] == "too_short" and any(other[: len(path)] == path for other in reported)
        if path in reported or after_others:
            continue
        reported.add(path)
        yield _problem(one, path, value)


def _path(one: ErrorDetails, value: Any) -> Path:
    """Return the path of an error in the file, without the tags of unions and similar parts."""
    path: list[str | int] = []
    for part in one["loc"]:
        if _has(value, part):
            value = value[part]
        elif part is one["loc"][-1] and one["type"] in ("missing", "extra_forbidden"):
            value = None
        else:
            continue
        path.append(part)
    return tuple(path)


def _problem(one: ErrorDetails, path: Path, value: object) -> Problem:
    there = _at(value, path)
    match one["type"]:
        case "extra_forbidden":
            meant = did_you_mean(str(path[-1]), _fields(one["loc"]))
            return error(path, "unknown_key", "there is no such key", meant)
        case "missing":
            added = 'version: "1"' if path == ("version",) else path[-1]
            return error(path, "missing_key", f"{path[-1]} is missing", f"Add {added}")
        case "node_kind":
            return _node_kind(path, there, one["msg"])
        case "string_type" if isinstance(there, int | float):
            return error(path, "wrong_type", f"{to_json(there).decode()} is not text", "Put it in quotes")
        case "model_type" if path[-2:-1] == ("params",) and isinstance(there, str):
            return error(path, "wrong_type", "a param is an object", f"Write {{type: {there[:80]}}}")
        case "string_type" | "dict_type" | "model_type" | "tuple_type" if there is None:
            return error(path, "wrong_type", "the value is missing", "Give a value, or leave the key out")
        case "string_pattern_mismatch" | "string_too_long" if "[key]" in one["loc"]:
            return _bad_name(path, str(path[-1]), _NAMES)
        case "string_pattern_mismatch":
            return _bad_name(path, str(there), _DOMAINS if path == ("domain",) else _NAMES)
    message = one["msg"].removeprefix("Value error, ").replace("Input", "it").replace("Tuple", "the list")
    return error(path, one["type"], message[:1].lower() + message[1:].rstrip("."))


def _bad_name(path: Path, name: str, allowed: str) -> Problem:
    return error(path, "bad_name", f"{name[:80]!r} is not a valid name", f"Names are {allowed}")


def _node_kind(path: Path, there: object, kinds: str) -> Problem:
    if not isinstance(there, Mapping):
        return error(path, "wrong_type", "a node is an object with keys", _sentence(kinds))
    types = ("reason",) if kinds == nodes.PART_KINDS else nodes.NODE_TYPES
    keys = [key for key in ("call", "workflow", "type") if key in there]
    if keys == ["type"]:
        name = str(there["type"])
        what = f"there is no type {name[:80]!r} here"
        return error((*path, "type"), "unknown_type", what, did_you_mean(name, types))
    stands = f"it has {' and '.join(keys)}" if keys else "it has none of `call`, `workflow` and `type`"
    return error(path, "node_kind", stands, _sentence(kinds))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _has(value: object, part: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, Mapping) and part in value


def _at(value: Any, path: Path) -> Any:
    for part in path:
        if not _has(value, part):
            return None
        value = value[part]
    return value


def _fields(loc: tuple[str | int, ...]) -> list[str]:
    """Return the known keys next to an unknown one."""
    around = [part for part in loc[:-1] if part not in ("<fields>", "<schema>")]
    model: type[Value] = Specification
    if around:
        before, last = str(around[-2:][0]), str(around[-1])
        model = nodes.MODELS.get(last) or _MODELS_BY_KEY.get(last) or _MODELS_BY_KEY.get(before) or model
    return [field.alias or name for name, field in model.model_fields.items()]
