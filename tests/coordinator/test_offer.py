"""The tools that the model is shown, and those that it may call."""

from typing import Any

import pytest
from antiphon_shared.events import ReasoningRequested, ToolsRequested
from antiphon_shared.tools.calls import Catalogue, ToolDefinition
from hypothesis import given
from hypothesis import strategies as st

from coordinator import offer
from coordinator.decision import OfferBounds
from coordinator.session import Session
from coordinator.session_parts import replace
from tests.coordinator.builders import (
    a_briefing,
    a_call,
    a_catalogue,
    a_reply,
    a_result,
    a_tool,
    an_opened_session,
    answered,
    only,
    the_results,
)

FILLER = [a_tool(f"t{n:02}", description="Does one thing.") for n in range(31)]
BUILT_INS = ("find_tools", "read_result", "recall")
WEATHER = a_tool("zz_weather", description="How the weather is.")
MAIL = a_tool("zy_mail", description="Write a letter to a customer.")
MANY = a_catalogue(*FILLER, *BUILT_INS, WEATHER, MAIL)


def shown(session: Session, catalogue: Catalogue = MANY) -> tuple[str, ...]:
    return only(answered(session, a_briefing(session.round), catalogue), ReasoningRequested).tools


def next_round(session: Session, catalogue: Catalogue, reply: Any, *results: Any) -> Session:
    """Return the session one round later: briefed, replied, its batch done."""
    reasoning = answered(session, a_briefing(session.round), catalogue).session
    batch = answered(reasoning, reply, catalogue).session
    return answered(batch, the_results(*results, round=session.round), catalogue).session


def test_a_few_tools_are_all_offered_and_nothing_to_find_more() -> None:
    catalogue = a_catalogue(*FILLER[:30], *BUILT_INS)
    session = an_opened_session(catalogue).session
    assert session.tools.offer is None
    assert shown(session, catalogue) == tuple(tool.name for tool in FILLER[:30])


def test_a_few_tools_are_not_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of words that ranks them takes a tenth of a second to read."""
    monkeypatch.setattr(offer, "most_relevant", lambda *_: pytest.fail("they are ranked"))
    assert an_opened_session(a_catalogue(*FILLER[:30], *BUILT_INS)).session.tools.offer is None


def test_many_tools_are_offered_in_part_those_that_fit_the_question_and_a_tool_to_find_more() -> None:
    session = an_opened_session(MANY, query="How is the weather for my letter?").session
    names = shown(session)
    assert {"zz_weather", "zy_mail", "find_tools"} < set(names)
    assert len(names) == 8 + 1
    assert "read_result" not in names
    assert names == tuple(tool.name for tool in MANY.tools if tool.name in names), "in the catalogue's order"


def test_the_number_of_offered_tools_is_a_setting() -> None:
    session = an_opened_session(MANY, query="weather", offer=OfferBounds(all_max=3, subset=1)).session
    assert shown(session) == ("find_tools", "zz_weather")
    everything = an_opened_session(MANY, offer=OfferBounds(all_max=33)).session
    assert len(shown(everything)) == 33


def test_pinned_tools_are_offered_in_addition_to_the_others() -> None:
    catalogue = a_catalogue(*FILLER, *BUILT_INS, WEATHER, a_tool("aa_pinned", pinned=True))
    session = an_opened_session(catalogue, query="weather", offer=OfferBounds(subset=2)).session
    assert shown(session, catalogue) == ("aa_pinned", "find_tools", "t00", "zz_weather")


def test_tools_that_a_query_names_are_counted_alone() -> None:
    session = an_opened_session(MANY, ("t03", "zz_weather")).session
    assert shown(session) == ("t03", "zz_weather")


def test_tools_outside_the_scopes_are_neither_counted_nor_offered() -> None:
    writes = [a_tool(f"w{n:02}", "write", "weather weather") for n in range(31)]
    catalogue = a_catalogue(*writes, WEATHER, default_scopes=["read"])
    assert shown(an_opened_session(catalogue, query="weather").session, catalogue) == ("zz_weather",)


def test_a_tool_outside_the_offer_may_be_called_and_is_offered_afterwards() -> None:
    session = an_opened_session(MANY, offer=OfferBounds(subset=2)).session
    assert "t17" not in shown(session)
    reasoning = answered(session, a_briefing(), MANY).session
    batch = answered(reasoning, a_reply("", [a_call("t17"), a_call("invented")]), MANY)
    request = only(batch, ToolsRequested)
    assert [call.refused for call in request.calls] == [None, None], "the dispatcher reports the error"
    assert len(request.allowed) == 33 + 1
    after = answered(batch.session, the_results(a_result("t17")), MANY).session
    assert set(shown(after)) == {*shown(session), "t17"}


def test_tools_found_by_find_tools_are_offered_if_the_session_may_use_them() -> None:
    catalogue = a_catalogue(
        *FILLER, *BUILT_INS, WEATHER, a_tool("zz_write", "write"), default_scopes=["read"]
    )
    session = an_opened_session(catalogue, offer=OfferBounds(subset=1)).session
    found = {"tools": [{"name": name} for name in ("zz_weather", "zz_write", "nothing", "read_result")]}
    results = a_result("find_tools", data=found)
    after = next_round(session, catalogue, a_reply("", [a_call("find_tools")]), results)
    assert shown(after, catalogue) == ("find_tools", "t00", "zz_weather")


@pytest.mark.parametrize("data", [None, "zz_weather", {"tools": "zz_weather"}, {"tools": [7]}])
def test_a_malformed_result_of_find_tools_adds_no_tool(data: Any) -> None:
    session = an_opened_session(MANY, offer=OfferBounds(subset=1)).session
    reply, result = a_reply("", [a_call("find_tools")]), a_result("find_tools", data=data)
    assert next_round(session, MANY, reply, result).tools.offer == session.tools.offer


def test_a_result_of_another_tool_that_lists_tools_adds_nothing() -> None:
    session = an_opened_session(MANY, offer=OfferBounds(subset=1)).session
    result = a_result("t00", data={"tools": [{"name": "zz_weather"}]})
    assert next_round(session, MANY, a_reply("", [a_call("t00")]), result).tools.offer == session.tools.offer


def test_the_tools_that_a_replys_words_fit_best_are_offered_from_then_on() -> None:
    session = an_opened_session(MANY, query="weather", offer=OfferBounds(subset=1)).session
    reply = a_reply("Now I write the customer a letter.", [a_call("zz_weather")])
    after = next_round(session, MANY, reply, a_result("zz_weather"))
    assert shown(after) == ("find_tools", "zy_mail", "zz_weather")


def test_a_reply_about_offered_tools_leaves_the_offer_unchanged() -> None:
    """Therefore the beginning of the prompt stays in the cache."""
    session = an_opened_session(MANY, query="weather", offer=OfferBounds(subset=1)).session
    reply = a_reply("I ask for the weather again.", [a_call("zz_weather")])
    assert shown(next_round(session, MANY, reply, a_result("zz_weather"))) == shown(session)


def test_read_result_is_offered_once_a_result_was_cut() -> None:
    catalogue = a_catalogue(*BUILT_INS, "search")
    session = an_opened_session(catalogue).session
    assert shown(session, catalogue) == ("search",)
    whole = next_round(session, catalogue, a_reply(calls=1), a_result("search", data=[1]))
    assert shown(whole, catalogue) == ("search",)
    cut = next_round(session, catalogue, a_reply(calls=1), a_result("search", data=[1], handle="r1"))
    assert shown(cut, catalogue) == ("read_result", "search")
    later = next_round(cut, catalogue, a_reply(calls=1, round=2), a_result("search"))
    assert shown(later, catalogue) == ("read_result", "search"), "and from then on"
    reasoning = answered(later, a_briefing(3), catalogue).session
    request = only(answered(reasoning, a_reply(calls=1, round=3), catalogue), ToolsRequested)
    assert request.allowed == ("read_result", "search")


@pytest.mark.parametrize("outline", [{"omitted": 1}, {"shortened": ("F2",)}])
def test_recall_is_offered_once_a_briefing_has_left_something_out(outline: dict[str, Any]) -> None:
    catalogue = a_catalogue(*BUILT_INS, "search")
    session = an_opened_session(catalogue).session
    assert shown(session, catalogue) == ("search",)
    briefed = answered(session, a_briefing(**outline), catalogue)
    assert only(briefed, ReasoningRequested).tools == ("recall", "search"), "in the same round"
    batch = answered(briefed.session, a_reply(calls=[a_call("recall")]), catalogue)
    assert only(batch, ToolsRequested).allowed == ("recall", "search")
    later = answered(batch.session, the_results(a_result("recall")), catalogue).session
    assert shown(later, catalogue) == ("recall", "search"), "and from then on"


def test_a_recall_counts_towards_the_call_limit() -> None:
    catalogue = a_catalogue(*BUILT_INS, "search")
    session = an_opened_session(catalogue, max_tool_calls=1).session
    briefed = answered(session, a_briefing(omitted=1), catalogue).session
    batch = answered(briefed, a_reply(calls=[a_call("recall"), a_call("search")]), catalogue)
    assert [call.refused is None for call in only(batch, ToolsRequested).calls] == [True, False]


def test_a_tool_for_certain_rounds_is_offered_and_allowed_in_those_alone() -> None:
    catalogue = a_catalogue(a_tool("first", rounds=[1]), a_tool("later", rounds=[2, 3]), "search")
    session = an_opened_session(catalogue).session
    for expected in (("first", "search"), ("later", "search"), ("later", "search")):
        assert shown(session, catalogue) == expected
        reasoning = answered(session, a_briefing(session.round), catalogue).session
        reply = a_reply(calls=1, round=session.round)
        batch = answered(reasoning, reply, catalogue)
        assert only(batch, ToolsRequested).allowed == expected
        session = answered(batch.session, the_results(a_result("search")), catalogue).session


def test_tools_limited_to_certain_rounds_compete_in_those_rounds_only() -> None:
    late = a_tool("late_weather", description="Weather forecast.", rounds=[2])
    catalogue = a_catalogue(*FILLER, WEATHER, late)
    session = an_opened_session(catalogue, query="Weather forecast?", offer=OfferBounds(subset=1)).session
    assert shown(session, catalogue) == ("zz_weather",)
    after = next_round(session, catalogue, a_reply("", [a_call("zz_weather")]), a_result("zz_weather"))
    assert shown(after, catalogue) == ("late_weather", "zz_weather")


def test_tools_are_counted_by_round() -> None:
    """Forty tools of which no round has more than thirty are all offered."""
    scoped = [a_tool(f"s{n:02}", rounds=[n % 2 + 1]) for n in range(40)]
    catalogue = a_catalogue(*scoped, "search")
    session = an_opened_session(catalogue).session
    assert session.tools.offer is None
    assert len(shown(session, catalogue)) == 21


def test_a_catalogue_that_is_not_kept_any_more_does_not_stop_the_session() -> None:
    """The engine notifies the model that the tools are unavailable."""
    session = an_opened_session(MANY, ("t03", "zz_weather")).session
    assert shown(session, Catalogue()) == ("t03", "zz_weather")
    reasoning = answered(session, a_briefing(), Catalogue()).session
    assert only(answered(reasoning, a_reply(calls=1), Catalogue()), ToolsRequested).calls


names = st.lists(st.integers(0, 60), unique=True, max_size=60)


def a_random_tool(n: int) -> ToolDefinition:
    contract: dict[str, Any] = {"pinned": n % 11 == 0}
    if n % 7 == 0:
        contract["rounds"] = [n % 3 + 1]
    return a_tool(f"tool_{n}", "write" if n % 5 == 0 else "read", f"word{n % 4}", **contract)


@given(
    names,
    st.text("word0123 ", max_size=30).map("Why? {}".format),
    st.integers(1, 40),
    st.integers(1, 10),
    st.integers(1, 6),
)
def test_an_offer_contains_only_usable_tools_within_its_bounds(
    numbers: list[int], query: str, all_max: int, subset: int, max_rounds: int
) -> None:
    catalogue = a_catalogue(*map(a_random_tool, numbers), default_scopes=["read"])
    bounds = OfferBounds(all_max, subset)
    session = an_opened_session(catalogue, query=query, offer=bounds, max_rounds=max_rounds).session
    again = a_catalogue(*map(a_random_tool, reversed(numbers)), default_scopes=["read"])
    assert (
        an_opened_session(again, query=query, offer=bounds, max_rounds=max_rounds).session.tools.offer
        == session.tools.offer
    )
    for round in range(1, max_rounds + 1):
        now = replace(session, round=round)
        offered, may = offer.offered_tools(now, catalogue), offer.allowed(now, catalogue)
        contracts = [catalogue.by_name[name].contract for name in may]
        assert set(offered) <= set(may) <= set(session.tools.usable)
        assert all(contract.is_for_round(round) and contract.effect == "read" for contract in contracts)
        pinned = {name for name, contract in zip(may, contracts, strict=True) if contract.pinned}
        assert pinned <= set(offered)
        if len(may) <= all_max:
            assert offered == may
        elif not any(catalogue.by_name[name].contract.rounds for name in session.tools.usable):
            assert len(offered) == len(pinned) + min(subset, len(may) - len(pinned))
        else:
            assert len(offered) >= min(subset, len(may))


def test_a_plan_can_be_asked_for_where_there_is_a_workflow_and_is_given_the_catalogue() -> None:
    workflow = a_tool("w_book").model_copy(update={"workflow": "abc"})
    plain, with_workflow = a_catalogue("book", "_plan"), a_catalogue("book", "_plan", workflow)
    assert shown(an_opened_session(plain).session, plain) == ("book",)
    session = an_opened_session(with_workflow).session
    assert shown(session, with_workflow) == ("_plan", "book", "w_book")
    reasoning = answered(session, a_briefing(1), with_workflow).session
    for tool, catalogue in (("_plan", "c0ffee"), ("book", "")):
        batch = only(answered(reasoning, a_reply("?", [a_call(tool)]), with_workflow), ToolsRequested)
        assert batch.catalogue == catalogue
    named = an_opened_session(with_workflow, named_tools=("book",)).session
    assert shown(named, with_workflow) == ("book",)


def test_a_tool_named_by_a_plan_is_offered_afterwards() -> None:
    workflow = a_tool("w_zz").model_copy(update={"workflow": "abc"})
    catalogue = a_catalogue(*FILLER, *BUILT_INS, "_plan", workflow)
    session = an_opened_session(catalogue, query="one thing").session
    assert "w_zz" not in shown(session, catalogue)
    found = a_result("_plan", data={"tools": [{"name": "w_zz"}]})
    later = next_round(session, catalogue, a_reply("?", [a_call("_plan")]), found)
    assert "w_zz" in shown(later, catalogue)
