"""The workflows that serve a goal, and the params that the goal lacks."""

import pytest
from antiphon_shared.workflows.params import Param

from tests.rows import each_row
from tool_dispatcher.planning.ranking import Offer, missing, rank_offers


def text(**fields: object) -> Param:
    return Param.model_validate({"type": "str", "required": True, **fields})


TRIP = Offer(
    "book_trip",
    "Books a flight and a hotel, or neither.",
    {
        "destination": text(description="Where to."),
        "start": text(format="date"),
        "nights": Param(type="int", required=True),
        "seat": text(enum=("aisle", "window")),
        "note": Param(type="str"),
        "budget": Param(type="float", default=100.0),
    },
    ("find_flights", "book_flight", "book_hotel"),
)
REFUND = Offer("refund_order", "Pays back what a customer paid.", {"order": text()}, ("get_order", "refund"))
REPORT = Offer("w7", "Sums up the month.", {}, ("sql_query", "send_email"))
OFFERS = (REFUND, REPORT, TRIP)


@pytest.mark.parametrize(
    ("goal", "first"),
    [
        ("Book me a trip to Lisbon", "book_trip"),
        ("I need a hotel room and a plane ticket to Rome", "book_trip"),
        ("window seat", "book_trip"),
        ("Give the money back for order O-17", "refund_order"),
        ("a summary of this month by e-mail", "w7"),
    ],
)
def test_the_offer_closest_to_the_goal_comes_first(goal: str, first: str) -> None:
    assert rank_offers(goal, OFFERS)[0].name == first


def test_offers_unrelated_to_the_goal_are_left_out() -> None:
    assert rank_offers("xyzzy", OFFERS) == []
    assert rank_offers("", OFFERS) == []
    assert rank_offers("Book a trip", []) == []


def test_the_order_of_the_offers_changes_nothing() -> None:
    found = rank_offers("Book a flight for the order of a customer this month", OFFERS)
    assert len(found) > 1
    assert found == rank_offers("Book a flight for the order of a customer this month", OFFERS[::-1])
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_an_outline_and_the_values_of_params_are_found_too() -> None:
    by_tool = rank_offers(
        "sql query", (Offer("a", "Does it."), Offer("b", "Does it.", outline=("sql_query",)))
    )
    assert [one.name for one in by_tool] == ["b"]


def test_equal_offers_come_by_name() -> None:
    assert [one.name for one in rank_offers("soup", (Offer("b", "Soup."), Offer("a", "Soup.")))] == ["a", "b"]


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("Book a trip", ("destination", "start", "nights", "seat")),
        ("Book a trip to Lisbon", ("start", "nights", "seat")),
        ("Book a trip to Lisbon tomorrow", ("nights", "seat")),
        ("Book a trip to Lisbon on 2030-05-01, two nights, Window", ()),
        ("Book a trip to Lisbon for three nights", ("start", "seat")),
        ("Reise nach 東京 buchen", ("start", "nights", "seat")),
    ],
)
def test_a_required_param_is_missing_where_the_goal_has_no_value_of_its_kind(
    goal: str, expected: tuple[str, ...]
) -> None:
    assert missing(goal, TRIP) == expected
    assert all(one.missing == expected for one in rank_offers(goal, [TRIP]))


@each_row(
    ("param", "goal", "is_missing"),
    [
        (text(format="email"), "send it to ann", True),
        (text(format="email"), "send it to ann@example.org", False),
        (text(format="uri"), "read the page", True),
        (text(format="uri"), "read https://example.org", False),
        (text(format="uuid"), "show 4711", True),
        (text(format="uuid"), "show 00000000-0000-4000-8000-000000000000", False),
        (Param(type="bool", required=True), "do it", False),
        (Param(type="list", required=True), "do it", False),
        (Param(type="int", required=True, enum=(1, 2)), "do it", False),
    ],
)
def test_a_param_with_a_format_is_missing_if_the_goal_has_no_match(
    param: Param, goal: str, is_missing: bool
) -> None:
    assert missing(goal, Offer("w", "Does it.", {"p": param})) == (("p",) if is_missing else ())
