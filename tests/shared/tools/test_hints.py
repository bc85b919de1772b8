"""Hints: a contract in short lines for the model, each once."""

from typing import Any

import pytest
from antiphon_shared.tools.contract import CHANGES, ONE_AFTER_ANOTHER, UNKNOWN_OUTCOME, Dependency, Effect
from antiphon_shared.tools.hints import describe, published

from tests.rows import each_row
from tool_dispatcher.authoring.contract import complete
from tool_dispatcher.authoring.tool import tool


def hints(effect: Effect = "read", text: str = "Does it.", **options: Any) -> list[str]:
    """Return the hints that the model reads after the description."""
    return published(text, complete("t", effect, options)).removeprefix(text).splitlines()[1:]


def test_a_plain_read_costs_no_tokens() -> None:
    assert published("Does it.", complete("t", "read", {})) == "Does it."


HINTS: list[tuple[Effect, dict[str, Any], list[str]]] = [
    ("read", {"depends_on": "search"}, ["Requires: search first."]),
    (
        "read",
        {"depends_on": ["look", Dependency(tool="search", required_fields=("id", "url"))]},
        ["Requires: look first.", "Requires: search first; its `id` and `url`."],
    ),
    ("read", {"next": ["rerank", "fetch"]}, ["Next: rerank, fetch."]),
    (
        "read",
        {"batch": {"tool": "create_contacts", "argument": "contacts"}},
        ["For more than one at once, call create_contacts."],
    ),
    ("read", {"mode": "sequential-only"}, [ONE_AFTER_ANOTHER]),
    ("read", {"rounds": 2}, ["Only in round 2."]),
    ("read", {"rounds": [2, 1]}, ["Only in round 1 or 2."]),
    ("read", {"rounds": [1, 2, 3]}, ["Only in round 1, 2 or 3."]),
    ("write", {}, [ONE_AFTER_ANOTHER, UNKNOWN_OUTCOME]),
    ("write", {"mode": "parallel-safe", "idempotent": True}, [CHANGES]),
]


@each_row(("effect", "options", "lines"), HINTS)
def test_the_contract_is_described_in_plain_lines(
    effect: Effect, options: dict[str, Any], lines: list[str]
) -> None:
    assert hints(effect, **options) == lines


@pytest.mark.parametrize("idempotent", [True, False])
@pytest.mark.parametrize("mode", ["parallel-safe", "sequential-only"])
def test_every_write_is_marked_by_one_of_three_lines(mode: str, idempotent: bool) -> None:
    """Models are not sent the contract: the offline model knows writes by these lines."""
    lines = hints("write", mode=mode, idempotent=idempotent)
    assert {CHANGES, ONE_AFTER_ANOTHER, UNKNOWN_OUTCOME} & set(lines)


def test_a_write_that_can_be_asked_about_does_not_end_as_unknown() -> None:
    assert UNKNOWN_OUTCOME not in published("D.", complete("t", "write", {}, has_reconcile=True))


def test_a_hint_already_in_the_description_is_not_repeated() -> None:
    text = describe("Fetches one.", requires="search", next=["rerank"], notes=ONE_AFTER_ANOTHER)
    assert text == f"Fetches one.\nRequires: search first.\nNext: rerank.\n{ONE_AFTER_ANOTHER}"
    assert hints("read", text, depends_on={"tool": "search", "required_fields": ["id"]}, next="rerank") == []
    assert hints("read", text, mode="sequential-only") == []
    assert hints("read", text, next=["rerank", "cite"]) == ["Next: cite."]
    assert hints("read", "Makes one; see create_all.", batch={"tool": "create_all", "argument": "a"}) == []
    assert describe(text, requires="search", next="rerank") == text


def test_a_longer_name_is_another_tool() -> None:
    assert hints("read", "D.\nRequires: search-all.", depends_on="search") == ["Requires: search first."]


def test_an_author_may_require_something_in_words() -> None:
    assert describe(" D. ", requires=["an open order."]) == "D.\nRequires: an open order."


def test_the_catalogue_holds_the_hints_and_the_tool_the_authors_words() -> None:
    noted = tool(effect="write", name="note", description="Notes.")(lambda: None)
    assert noted.description == "Notes."
    assert noted.definition.description == f"Notes.\n{ONE_AFTER_ANOTHER}\n{UNKNOWN_OUTCOME}"
