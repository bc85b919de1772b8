"""An author's failure, and the error that it becomes."""

import pytest
from antiphon_shared.tools.calls import ErrorType

from tool_dispatcher.authoring.failures import WHAT_TO_DO, ToolFailed, error_of


def test_an_error_type_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'oops' is not an error type of tools; use one of validation_error"):
        ToolFailed("oops", "…")  # type: ignore[arg-type]  # the very fault


@pytest.mark.parametrize("kind", ["cancelled", "circuit_open", "unknown_tool", "dependency_failed"])
def test_no_tool_can_claim_that_it_did_not_run(kind: ErrorType) -> None:
    """A reader would take the tool's words for ours, and assume that it had no effect."""
    with pytest.raises(ValueError, match="is not an error type of tools"):
        ToolFailed(kind, "…")


def test_a_failure_without_a_message_is_reported_with_default_advice() -> None:
    error = error_of(ToolFailed("not_found", " ", " "), "read")
    assert (error.message, error.suggested_action) == (
        "The tool failed and did not say why.",
        WHAT_TO_DO["not_found"],
    )


class NoSuchOrder(ToolFailed):
    code = "ORDER_UNKNOWN"


class Client(Exception):
    code = "InvalidParameter"


@pytest.mark.parametrize(
    ("error", "code", "error_type"),
    [
        (ToolFailed("not_found", "No such city.", code="NOT_FOUND"), "NOT_FOUND", "not_found"),
        (NoSuchOrder("not_found", "No such order."), "ORDER_UNKNOWN", "not_found"),
        (NoSuchOrder("not_found", "No such order.", code="GONE"), "GONE", "not_found"),
        (Client("bad"), "InvalidParameter", "internal_error"),
        (ToolFailed("not_found", "No."), "", "not_found"),
        (ToolFailed("not_found", "No.", code="not a code"), "", "not_found"),
        (SystemExit(3), "", "internal_error"),
    ],
)
def test_the_code_of_an_exception_is_kept_next_to_the_error_type(
    error: BaseException, code: str, error_type: str
) -> None:
    reported = error_of(error, "read")
    assert (reported.code, reported.error_type) == (code, error_type)
