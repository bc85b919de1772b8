"""An outcome that helps the model is clean; every other is named, with the change to make."""

from typing import Annotated, Any

import pytest
from antiphon_shared.tools.calls import ErrorType, ToolError

from antiphon import Secret
from tests.rows import each_row
from tool_dispatcher.authoring.tool import tool
from tool_dispatcher.check.cases import Case
from tool_dispatcher.check.judge import Judge
from tool_dispatcher.check.verdict import Outcome, faults

GOOD = {"words": "clocks"}


@tool(effect="read", example=GOOD)
def look(words: Annotated[str, "what"], password: Annotated[str, Secret] = "") -> str:
    """Looks."""
    return ""


JUDGE = Judge(look.input_schema)


def a_refusal(**changed: Any) -> ToolError:
    given: dict[str, Any] = {
        "error_type": "validation_error",
        "message": "The arguments are not valid.",
        "suggested_action": "Correct them.",
        "example_valid_call": GOOD,
        "fields": {"words": "required, but missing"},
    }
    return ToolError(**{**given, **changed})


def an_error(
    error_type: ErrorType = "not_found", message: str = "There is none.", action: str = "Ask."
) -> ToolError:
    return ToolError(error_type=error_type, message=message, suggested_action=action)


def verdict_of(
    arguments: dict[str, Any], outcome: Outcome, kind: str = "null", secrets: tuple[str, ...] = ()
) -> list[str]:
    """Return the problems, each with a remedy."""
    case = Case(kind, "a case", arguments)
    found = faults(case, JUDGE.of(arguments), outcome, JUDGE, secrets)
    assert all(fault.change.endswith(".") for fault in found)
    return [fault.what for fault in found]


def test_a_complete_refusal_has_no_fault() -> None:
    assert verdict_of({}, Outcome("refused", a_refusal())) == []


def test_data_and_typed_errors_of_valid_arguments_are_clean() -> None:
    assert verdict_of(GOOD, Outcome("ran", data={"found": 3})) == []
    assert verdict_of(GOOD, Outcome("ran", data=None)) == []
    assert verdict_of(GOOD, Outcome("ran", an_error())) == []
    assert verdict_of(GOOD, Outcome("accepted")) == []


def test_a_complete_refusal_of_a_valid_call_has_no_fault() -> None:
    """A validator may know more than a schema can say."""
    assert verdict_of(GOOD, Outcome("refused", a_refusal())) == []


@pytest.mark.parametrize("happened", ["ran", "accepted"])
def test_an_accepted_invalid_call_is_a_fault_with_the_broken_rule(happened: Any) -> None:
    arguments = {"words": 3}
    (fault,) = faults(Case("wrong type", "", arguments), JUDGE.of(arguments), Outcome(happened), JUDGE)
    assert fault.what == "accepted, though the schema forbids it"
    assert fault.detail == 'words: "type": "string" does not hold'


def test_an_accepted_nan_is_a_fault_with_the_fix() -> None:
    arguments = {"words": float("nan")}
    (fault,) = faults(Case("not JSON", "", arguments), JUDGE.of(arguments), Outcome("accepted"), JUDGE)
    assert "allow_inf_nan=False" in fault.change


@each_row(
    ("changed", "what"),
    [
        ({"fields": {}}, "does not name the wrong field"),
        ({"example_valid_call": None}, "no example"),
        ({"example_valid_call": {"words": 3}}, "is not valid"),
        ({"suggested_action": " "}, "no suggested action"),
        ({"message": ""}, "no message"),
        ({"message": "x" * 30_000}, "characters"),
        ({"error_type": "internal_error"}, "the validation itself failed"),
        ({"message": "Traceback (most recent call last): ..."}, "traceback"),
        ({"fields": {"words": "not in /srv/data/words.txt"}}, "path of the machine"),
        ({"suggested_action": "Look into /srv/data/words.txt"}, "path of the machine"),
    ],
)
def test_a_refusal_that_does_not_help_is_a_fault(changed: dict[str, Any], what: str) -> None:
    (found,) = verdict_of({}, Outcome("refused", a_refusal(**changed)))
    assert what in found


def test_a_tool_that_refuses_its_own_example_is_at_fault() -> None:
    assert verdict_of(GOOD, Outcome("refused", a_refusal()), kind="example") == [
        "the tool refuses its own example"
    ]


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (an_error("internal_error", "KeyError: 3"), "the model receives internal_error"),
        (an_error(action="\n"), "the not_found has no suggested action"),
        (an_error(message=""), "the not_found has no message"),
        (an_error(message='File "x.py", line 3'), "it shows a traceback"),
    ],
)
def test_a_failure_that_does_not_help_is_a_fault(error: ToolError, what: str) -> None:
    assert verdict_of(GOOD, Outcome("ran", error)) == [what]


def test_an_exception_is_reported_with_its_text() -> None:
    outcome = Outcome("ran", an_error("internal_error", "KeyError: 3"))
    (fault,) = faults(Case("drawn", "", GOOD), JUDGE.of(GOOD), outcome, JUDGE)
    assert fault.detail == "KeyError: 3"
    assert "ToolFailed" in fault.change


def test_a_secret_argument_must_not_come_back() -> None:
    arguments = {**GOOD, "password": "hunter2hunter2"}
    assert verdict_of(arguments, Outcome("ran", an_error(message="hunter2hunter2 is wrong"))) == [
        "it shows a secret"
    ]
    assert verdict_of(arguments, Outcome("ran", data=["hunter2hunter2"])) == ["its result shows a secret"]
    assert verdict_of(arguments, Outcome("ran", data=["ok"])) == []


def test_a_secret_of_the_settings_must_not_come_out() -> None:
    outcome = Outcome("ran", an_error(message="no access with key-of-the-service"))
    assert verdict_of(GOOD, outcome, secrets=("key-of-the-service",)) == ["it shows a secret"]


def test_an_injection_that_worked_is_a_fault() -> None:
    (what,) = verdict_of({"words": "{{1337*7919}}"}, Outcome("ran", data="It is 10587703."))
    assert "was computed" in what


def test_arguments_of_the_caller_may_be_quoted() -> None:
    arguments = {"words": "/etc/passwd"}
    assert verdict_of(arguments, Outcome("ran", an_error(message="There is no '/etc/passwd'."))) == []
