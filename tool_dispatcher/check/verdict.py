"""The faults of a case's outcome, with the change that the tool's author should make. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from antiphon_shared.tools.calls import ToolError
from antiphon_shared.values import Json

from tool_dispatcher.authoring.failures import readable
from tool_dispatcher.check import leaks
from tool_dispatcher.check.cases import EXAMPLE, Case
from tool_dispatcher.check.hostile import EVIDENCE
from tool_dispatcher.check.judge import Judge, Judgement

Happened = Literal["refused", "ran", "accepted"]
"""Refused by the validation, run, or accepted by the validation but not run."""

_ERROR_LENGTH_MAX = 20_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a case: an error, or data if it ran without error."""

    happened: Happened
    error: ToolError | None = None
    data: Json = None
    raised_at: str = ""
    """The file and line of the author's code that raised an exception; empty if none was raised."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault, and the change that removes it."""

    what: str
    change: str
    detail: str = ""
    """Details of the case."""


def faults(
    case: Case, judgement: Judgement, outcome: Outcome, judge: Judge, secrets: tuple[str, ...] = ()
) -> tuple[Fault, ...]:
    """Return every fault of the outcome; `secrets` are values that it must not show."""
    result: list[Fault] = []
    if judgement.word == "invalid" and outcome.happened != "refused":
        result.append(_accepted(judgement))
    if outcome.happened == "refused" and outcome.error is not None:
        result += _refusal(case, outcome, outcome.error, judge)
    if outcome.happened == "ran" and outcome.error is not None:
        result += _failure(outcome, outcome.error)
    hidden = (*secrets, *judge.secrets_in(case.arguments))
    result += (_leak_fault(leaked) for leaked in _leaks(case, outcome, judge, hidden))
    return tuple(result)


def _accepted(judgement: Judgement) -> Fault:
    if judgement.why.endswith(("is not valid JSON", "is not valid text")):
        change = (
            "Refuse it: NaN, infinities and lone surrogates are not valid in JSON; "
            "a pydantic model refuses them with allow_inf_nan=False."
        )
    else:
        change = (
            "Accept only arguments that the published schema allows: check validators that convert values, "
            "or correct the schema."
        )
    return Fault("accepted, though the schema forbids it", change, judgement.why)


def _refusal(case: Case, outcome: Outcome, error: ToolError, judge: Judge) -> Iterator[Fault]:
    """Yield the faults of a refusal: it must name each invalid field, the next action, and a valid example."""
    if error.error_type != "validation_error":
        yield Fault(
            f"the validation itself failed: the model receives {error.error_type}",
            "Make the tool's validators raise only ValueError, for any argument.",
            _raised(outcome, error),
        )
        return
    if case.kind == EXAMPLE:
        yield Fault("the tool refuses its own example", "Correct the example.")
    if not error.fields:
        yield Fault("the refusal does not name the wrong field", "Report the error of the validation.")
    if error.example_valid_call is None:
        yield Fault(
            "the refusal has no example of a valid call, because none could be generated from the schema",
            "Give the tool valid arguments as its `example=`.",
        )
    elif judge.of(error.example_valid_call).word == "invalid":
        yield Fault("the example in the refusal is not valid", "Give the tool a valid `example=`.")
    yield from _wording(error)


def _failure(outcome: Outcome, error: ToolError) -> Iterator[Fault]:
    """Yield the faults of a failure: it must have a specific type and name the next action."""
    if error.error_type == "internal_error":
        yield Fault(
            "the model receives internal_error",
            'Return JSON values. For a failure raise ToolFailed("not_found", message, suggested_action), or '
            "another fitting type; or add the limit to the schema, so that such arguments are refused.",
            _raised(outcome, error),
        )
    yield from _wording(error)


def _wording(error: ToolError) -> Iterator[Fault]:
    if not error.suggested_action.strip():
        yield Fault(f"the {error.error_type} has no suggested action", "Give ToolFailed a suggested_action.")
    if not error.message.strip():
        yield Fault(f"the {error.error_type} has no message", "Give ToolFailed a message.")
    if (length := sum(map(len, _texts(error)))) > _ERROR_LENGTH_MAX:
        yield Fault(f"the error has {length} characters, which cost tokens in each round", "Shorten it.")


def _leaks(case: Case, outcome: Outcome, judge: Judge, secrets: tuple[str, ...]) -> Iterator[str]:
    if outcome.error is not None:
        known_text = "\n".join((judge.text, *leaks.texts_in(case.arguments)))
        yield from leaks.leaks_in_error(_texts(outcome.error), known_text, secrets)
    elif outcome.happened == "ran":
        yield from leaks.leaks_in_data(outcome.data, secrets)


def _leak_fault(leaked: str) -> Fault:
    change = "Catch the failure, and describe it to the model in your own words."
    if leaked in EVIDENCE.values():
        change = "Treat arguments as data: bind them as parameters, and never evaluate, format or open them."
    elif leaked.startswith(leaks.PATH):
        change = "Describe the missing module without its location on this machine."
        return Fault(leaks.PATH, change, leaked.removeprefix(f"{leaks.PATH}: "))
    elif "secret" in leaked or "credential" in leaked:
        change = "Keep secrets out of texts; mark parameters that hold one: Annotated[str, Secret]."
    return Fault(leaked, change)


def _texts(error: ToolError) -> list[str]:
    return [error.message, error.suggested_action, *error.fields, *error.fields.values()]


def _raised(outcome: Outcome, error: ToolError) -> str:
    """Return the message of an exception, with its location in the author's code."""
    message = readable(error.message, 200)
    return f"{message} ({outcome.raised_at})" if outcome.raised_at else message
