"""Values by name from the command line: the params of a run, and a person's answers.

`@RUN_ID.path` refers to the output of an earlier run.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from antiphon_shared.text.yaml_text import UnreadableYaml, read_yaml
from antiphon_shared.workflows.params import Param, short_json
from pydantic_core import from_json

from antiphon.cli.input_files import text_of
from antiphon.cli.output import UsageError

OutputOf = Callable[[str], Awaitable[Any]]
"""A function that returns the output of a run by its id."""

_FROM_RUN = re.compile(r"@(?:\{(?P<braced>[^{}]+)\}|(?P<run>[A-Za-z0-9_:-]+))(?:\.(?P<path>.+))?")
_KEYS_MAX = 20


class UnfitValue(ValueError):
    """A typed value is unusable; the message says why."""


async def read_params(
    declared: Mapping[str, Param], typed: Sequence[str], file: Path | None, output_of: OutputOf
) -> dict[str, Any]:
    """Return the params of a run; params on the command line override params of a file.

    Raises UsageError, which names every param that is wrong or missing.
    """
    values = _of_file(file)
    problems: list[str] = []
    unfit: dict[str, str] = {}
    for name, text in _pairs(typed, "--param ", problems):
        try:
            values[name] = await _value(declared.get(name), text, output_of)
        except UnfitValue as error:
            unfit[name] = str(error)
    problems += [f"param {name!r}: {why}" for name, why in unfit.items()]
    problems += _problems({name: one for name, one in declared.items() if name not in unfit}, values)
    problems += [f"param {name!r} does not exist" for name in {**values, **unfit} if name not in declared]
    if problems:
        raise UsageError("; ".join(problems) + ".", hint=_described(declared))
    return values


def read_values(expects: Mapping[str, Param], typed: Sequence[str]) -> dict[str, Any]:
    """Return a person's values, each by its type. Raises UsageError, which names all errors."""
    values: dict[str, Any] = {}
    problems: list[str] = []
    for name, text in _pairs(typed, "", problems):
        try:
            values[name] = typed_value(expects.get(name), text)
        except UnfitValue as error:
            problems.append(f"{name!r}: {error}")
    problems += [f"value {name!r} was not requested" for name in values if name not in expects]
    if problems:
        raise UsageError("; ".join(problems) + ".", hint=_described(expects))
    return values


def _pairs(typed: Sequence[str], option: str, problems: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each name and its text; add a problem for each argument without a value."""
    for one in typed:
        name, equals, text = one.partition("=")
        if equals:
            yield name, text
        else:
            problems.append(f"{option}{one!r} has no value; use NAME=VALUE")


def typed_value(param: Param | None, text: str) -> Any:
    """Return the value of a text: itself for a param of type str, else JSON. Raises UnfitValue."""
    if param is None or param.type == "str":
        return text
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        raise UnfitValue(f"{short_json(text)} is not {_a_json(param.type)}") from None


def at_path(value: object, path: str, run_id: str) -> Any:
    """Return the value at a path of a run's output, such as `0.flight.id`. Raises UnfitValue."""
    walked = f"@{run_id}"
    for key in path.split(".") if path else ():
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            raise UnfitValue(f"{walked} has no {key!r}: it is {_type_of(value)}")
        walked += f".{key}"
    return value


async def _value(param: Param | None, text: str, output_of: OutputOf) -> Any:
    if not text.startswith("@") or text.startswith("@@"):
        return typed_value(param, text.removeprefix("@"))
    match = _FROM_RUN.fullmatch(text)
    if match is None:
        raise UnfitValue(
            f"{short_json(text)} does not name a run; use @RUN_ID.path, or @@ for a text that begins with @"
        )
    run_id = match["braced"] or match["run"]
    return at_path(await output_of(run_id), match["path"] or "", run_id)


def _problems(declared: Mapping[str, Param], values: Mapping[str, object]) -> Iterator[str]:
    for name, param in declared.items():
        value = values.get(name)
        if value is None and param.is_required:
            yield f"param {name!r} is required"
        elif value is not None and (problem := param.problem(value)):
            yield f"param {name!r}: {problem}"


def _of_file(file: Path | None) -> dict[str, Any]:
    """Return the params of a JSON or YAML file. Raises UsageError, and UnreadableEvent if it cannot be read."""
    if file is None:
        return {}
    try:
        value = read_yaml(text_of(file, "--params"), allows_aliases=False).value
    except UnreadableYaml as error:
        first = error.problems[0]
        at = f":{first.position.line}:{first.position.column}" if first.position else ""
        raise UsageError(f"--params: {file}{at}: {first.message}.") from None
    if not isinstance(value, dict):
        raise UsageError(
            f"--params: {file} does not contain an object. Map the name of each param to its value."
        )
    return value


def _described(declared: Mapping[str, Param]) -> str:
    """Return a hint with all params and their types."""
    described = (
        f"{name}: {param.type}{', required' if param.is_required else ''}" for name, param in declared.items()
    )
    return f"Defined: {'; '.join(described) or 'none'}."


def _a_json(kind: str) -> str:
    examples = {"int": "3", "float": "2.5", "bool": "true or false", "list": "[1, 2]", "object": '{"a": 1}'}
    return f"{kind} in JSON, such as {examples[kind]}"


def _type_of(value: object) -> str:
    match value:
        case dict():
            more = ", ..." if len(value) > _KEYS_MAX else ""
            return f"an object with {', '.join(list(value)[:_KEYS_MAX]) or 'nothing'}{more}"
        case list():
            return f"a list of {len(value)}"
        case _:
            return short_json(value)
