"""The scoring of answers: by matchers if there is an expectation, and by rubrics, which are the user's functions.

    def rubric(query: str, response: Response, expected: Expected | None) -> float | bool | Score

It may be async, and may take any of `query`, `answer`, `response` and `expected`, by these names.
"""

import asyncio
import importlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon_shared.events.session import Response
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.text.excerpt import one_line

from antiphon.replay.compare.cells import Judgement
from antiphon.replay.compare.matchers import Expected, matched
from antiphon.replay.compare.questions import Question

RUBRIC_S_MAX = 300.0
"""The time limit for one judgement, which may ask a model."""
_NOTE_CHARACTERS_MAX = 1_000
_PARAMETERS = ("query", "answer", "response", "expected")


@dataclass(frozen=True, slots=True)
class Score:
    """The result of a rubric: a score with its reason."""

    score: float
    """From 0 to 1."""
    note: str = ""
    """The reason, for the reader of the table."""


@dataclass(frozen=True, slots=True)
class Rubric:
    """A function that judges answers."""

    name: str
    function: Callable[..., Any]
    takes: tuple[str, ...]


def load_rubric(spec: str) -> Rubric:
    """Return the function that `package.module:function` names. Raises ConfigurationError."""
    module_name, _, name = spec.partition(":")
    if not name:
        raise ConfigurationError(f"--rubric: {spec!r} is not `package.module:function`.")
    try:
        function = getattr(importlib.import_module(module_name.strip()), name.strip())
        parameters = inspect.signature(function).parameters.values()
    except (Exception, SystemExit) as error:  # a module of the user's may raise anything
        value = one_line(f"{type(error).__name__}: {error}", _NOTE_CHARACTERS_MAX)
        raise ConfigurationError(
            f"--rubric: {spec} cannot be used: {value}.",
            hint="The module must be importable, like those of --tools, and contain that function.",
        ) from error
    needed = {one.name for one in parameters if one.default is one.empty and one.kind not in _ANY_NUMBER}
    if unknown := sorted(needed - set(_PARAMETERS)):
        raise ConfigurationError(
            f"--rubric: {spec} takes {', '.join(unknown)}.",
            hint=f"The parameters of a rubric are any of {', '.join(_PARAMETERS)}.",
        )
    takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters)
    names = {one.name for one in parameters}
    return Rubric(name.strip(), function, tuple(one for one in _PARAMETERS if takes_all or one in names))


_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


async def judged(
    question: Question, response: Response | None, rubrics: Iterable[Rubric]
) -> tuple[Judgement, ...]:
    """Return the judgement of every scorer, 0 for a missing answer; an error of a rubric is a judgement too."""
    expected, rubrics = question.expected or Expected(), tuple(rubrics)
    if response is None:
        names = [*expected.model_dump(exclude_defaults=True), *(rubric.name for rubric in rubrics)]
        return tuple(Judgement(name, 0.0, "no answer") for name in names)
    judgements = [Judgement(name, float(is_so)) for name, is_so in matched(expected, response).items()]
    parameters = {
        "query": question.query,
        "answer": response.answer,
        "response": response,
        "expected": question.expected,
    }
    return (*judgements, *[await _judgement(rubric, parameters) for rubric in rubrics])


async def _judgement(rubric: Rubric, parameters: Mapping[str, object]) -> Judgement:
    arguments = {name: parameters[name] for name in rubric.takes}
    try:
        async with asyncio.timeout(RUBRIC_S_MAX):
            if inspect.iscoroutinefunction(rubric.function):
                value = await rubric.function(**arguments)
            else:
                value = await asyncio.to_thread(rubric.function, **arguments)
                value = await value if inspect.isawaitable(value) else value
        return _read(rubric.name, value)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a rubric is the user's, and must not end the table
        text = one_line(f"{type(error).__name__}: {error}", _NOTE_CHARACTERS_MAX)
        return Judgement(rubric.name, None, f"The rubric failed: {text}")


def _read(name: str, value: object) -> Judgement:
    """Return a rubric's result as a judgement. Raises TypeError, ValueError."""
    score, note = (value.score, str(value.note)) if isinstance(value, Score) else (value, "")
    if not isinstance(score, int | float):
        raise TypeError(
            f"it returned {type(score).__name__}; return a number from 0 to 1, a bool, or a Score"
        )
    if not (math.isfinite(score) and 0 <= score <= 1):
        raise ValueError(f"it returned {score}; return a score from 0 to 1")
    return Judgement(name, float(score), one_line(note, _NOTE_CHARACTERS_MAX))
