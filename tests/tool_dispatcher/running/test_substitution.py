"""The tool that may answer for another, its arguments, and the report."""

from antiphon_shared.tools.calls import ErrorType
from antiphon_shared.tools.contract import Alternative, Contract, Effect

from tests.rows import each_row
from tool_dispatcher.authoring.failures import WHAT_TO_DO, tool_error
from tool_dispatcher.running.substitution import mapped, substitutes, substitution_reason

ALTERNATIVES = (Alternative(tool="find_pages"), Alternative(tool="recall"))

REPLACEABLE: dict[Effect, tuple[ErrorType, ...]] = {
    "read": ("api_failure", "timeout", "rate_limit", "circuit_open", "internal_error"),
    "write": ("circuit_open", "rate_limit"),
}


@each_row("effect", ["read", "write"])
@each_row("kind", WHAT_TO_DO)
def test_an_alternative_is_called_after_a_failure_without_effect(effect: Effect, kind: ErrorType) -> None:
    contract = Contract(effect=effect, alternatives=ALTERNATIVES)
    expected = ALTERNATIVES if kind in REPLACEABLE[effect] else ()
    assert substitutes(contract, tool_error(kind, "It failed.")) == expected


def test_a_contract_without_alternatives_has_no_substitutes() -> None:
    assert substitutes(Contract(effect="read"), tool_error("timeout", "Slow.")) == ()


def test_arguments_are_handed_on_under_the_alternatives_names() -> None:
    alternative = Alternative(tool="find_pages", arguments={"query": "text", "limit": "count"})
    given = {"query": "rust", "limit": None, "language": "en"}
    assert mapped(alternative, given) == {"text": "rust", "count": None}
    assert mapped(alternative, {"query": "rust"}) == {"text": "rust"}


def test_without_a_mapping_arguments_keep_their_names() -> None:
    given = {"query": "rust"}
    assert mapped(Alternative(tool="find_pages"), given) == given


def test_a_mapping_to_nothing_hands_on_nothing() -> None:
    assert mapped(Alternative(tool="list_pages", arguments={}), {"query": "rust"}) == {}


def test_the_reason_reads_as_a_sentence() -> None:
    error = tool_error("api_failure", "The index\nis down.")
    assert substitution_reason("search_documents", error, "find_pages") == (
        "search_documents failed (api_failure: The index is down); find_pages answered instead."
    )


def test_the_reason_is_short_for_any_message() -> None:
    reason = substitution_reason("search", tool_error("timeout", "slow " * 500), "find_pages")
    assert len(reason) < 300
    assert reason.endswith("…); find_pages answered instead.")
