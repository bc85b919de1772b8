"""Hints in a file: their additions to descriptions, and their faults."""

import json

import pytest
from antiphon_shared.tools.calls import ToolDefinition

from tool_dispatcher.authoring.hint_file import InvalidHints, ToolHint, read_hints, with_hints

KNOWN = {"search_flights", "create_booking", "send-mail", "check_credit"}
FILE = """
create_booking:
  requires: [search_flights (needs flight_id), check_credit]
  next: [send-mail]
  hint: >-
    Name the price
    before you book.
send-mail: { requires: [create_booking] }
check_credit: {}
"""


def a_tool(name: str, description: str = "Does it.") -> ToolDefinition:
    return ToolDefinition(name=name, description=description, input_schema={}, effect="read")


def described(description: str, hint: ToolHint) -> str:
    return with_hints([a_tool("t", description)], {"t": hint})[0].description


def faults(text: str) -> list[str]:
    with pytest.raises(InvalidHints) as refused:
        read_hints(text, KNOWN)
    return str(refused.value).splitlines()


def test_hints_follow_the_description() -> None:
    tools = with_hints(map(a_tool, sorted(KNOWN)), read_hints(FILE, KNOWN))
    assert {tool.name: tool.description for tool in tools} == {
        "check_credit": "Does it.",
        "create_booking": "Does it.\nRequires: search_flights (needs flight_id).\nRequires: check_credit first.\n"
        "Next: send-mail.\nName the price before you book.",
        "search_flights": "Does it.",
        "send-mail": "Does it.\nRequires: create_booking first.",
    }


def test_hints_may_be_written_as_json() -> None:
    assert read_hints(json.dumps({"send-mail": {"next": ["check_credit"]}}), KNOWN) == {
        "send-mail": ToolHint(next=("check_credit",))
    }


def test_a_hint_already_in_the_description_is_not_repeated() -> None:
    description = "Books.\nRequires: search_flights first; its `id`.\nNext: pay.\nAsk first."
    assert (
        described(description, ToolHint(requires=("search_flights",), next=("pay",), hint="Ask first."))
        == description
    )
    more = described(description, ToolHint(requires=("search",), next=("pay", "tell")))
    assert more == f"{description}\nRequires: search first.\nNext: tell."


def test_hints_of_several_origins_add_up() -> None:
    once = with_hints([a_tool("t")], {"t": ToolHint(requires=("a",)), "absent": ToolHint(next=("b",))})
    twice = with_hints(once, {"t": ToolHint(requires=("a", "b (needs id)"))})
    assert [tool.description for tool in twice] == ["Does it.\nRequires: a first.\nRequires: b (needs id)."]


def test_a_hint_stays_on_its_line() -> None:
    assert described("Does it.", ToolHint(hint=" Ask.\n\nNext: pay. ")) == "Does it.\nAsk. Next: pay."
    assert described("Does it.", ToolHint(hint="  ")) == "Does it."


def test_every_fault_is_named_at_once_by_line_and_column() -> None:
    text = """
create_boking:
  requires: [search_flights]
create_booking:
  requires: [serch_flights (needs flight_id), "", an earlier search]
  nxet: [send-mail]
  next: send-mail
  hint: 3
send-mail:
  next: [send-mail, 7, check_credits]
check_credit:
search_flights: [hint]
"""
    names = "There are: check_credit, create_booking, search_flights, send-mail."
    form = "write the name of a tool, followed by a reason in brackets: search_flights (needs flight_id)"
    found = faults(text)
    for line in (
        f"line 2, column 1: create_boking: there is no tool 'create_boking'. Did you mean create_booking? {names}",
        "line 5, column 14: create_booking.requires.0: there is no tool 'serch_flights'. "
        f"Did you mean search_flights? {names}",
        f"line 5, column 51: create_booking.requires.2: 'an earlier search': {form}",
        "line 6, column 3: create_booking.nxet: the field does not exist. Did you mean next? "
        "There are: requires, next, hint.",
        "line 7, column 3: create_booking.next: write a list of tools",
        "line 8, column 3: create_booking.hint: write text",
        "line 10, column 10: send-mail.next.0: the tool names itself; remove it",
        "line 10, column 21: send-mail.next.1: write text",
        f"line 10, column 24: send-mail.next.2: there is no tool 'check_credits'. Did you mean check_credit? {names}",
        "line 11, column 1: check_credit: write an object of requires, next and hint",
        "line 12, column 1: search_flights: write an object of requires, next and hint",
    ):
        assert line in found
    assert len(found) == 12
    positions = [
        tuple(map(int, line.split(":")[0].removeprefix("line ").split(", column "))) for line in found
    ]
    assert positions == sorted(positions)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("[]", "line 1, column 1: the file: write an object: tools by name"),
        ("send-mail: [", "line 2, column 1: "),
        ("send-mail: {}\nsend-mail: {hnt: x}", "line 2, column 13: send-mail.hnt: the field does not exist"),
        ("send-mail: {}\nsend-mail: {hnt: x}", "line 2, column 1: 'send-mail' is repeated"),
        ("send-mail: {hint: " + "x" * 1_001 + "}", "at most 1000 characters"),
    ],
)
def test_an_invalid_hint_file_is_refused(text: str, why: str) -> None:
    assert why in "\n".join(faults(text))
