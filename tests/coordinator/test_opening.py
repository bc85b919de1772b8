"""A session's rights are fixed when it opens: by its grant, its options, and the catalogue."""

import pytest
from antiphon_shared.events import QuerySubmitted, ReasoningRequested, SessionOpened, ToolsRequested
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.process.settings import BusSettings

from coordinator.decision import OfferBounds
from coordinator.document import SESSION
from coordinator.limits import resolve_limits
from coordinator.opening import open_session, recorded_opening
from coordinator.session import Session
from coordinator.session_parts import replace
from coordinator.settings import CoordinatorSettings
from tests.coordinator.builders import (
    ENTRY,
    a_briefing,
    a_call,
    a_catalogue,
    a_reply,
    a_tool,
    an_opened_session,
    answered,
    only,
)
from tests.envelopes import an_event
from tests.grants import a_grant

TOOLS = a_catalogue(
    a_tool("book", "write"),
    a_tool("search"),
    a_tool("secrets", scopes=["vault"]),
    default_scopes=["read"],
)


def uncertainties_of(session: Session) -> list[tuple[str, str]]:
    return [(uncertainty.kind, uncertainty.about) for uncertainty in session.uncertainty]


def test_without_a_grant_the_operators_default_scopes_hold() -> None:
    decision = an_opened_session(TOOLS)
    assert isinstance(decision.commands[0], SessionOpened)
    assert decision.commands[0].tools == decision.session.tools.usable == ("search",)
    assert (decision.session.query.tenant, decision.session.query.grant) == ("default", "")
    assert decision.session.uncertainty == (), "no more was requested"


def test_a_grant_determines_the_tenant_and_the_usable_tools() -> None:
    grant = a_grant(["read", "write", "vault"], tenant="acme")
    session = an_opened_session(TOOLS, grant=grant).session
    assert session.tools.usable == ("book", "search", "secrets")
    assert (session.query.tenant, session.query.grant) == ("acme", grant)
    assert an_opened_session(TOOLS, grant=a_grant(["write"])).session.tools.usable == ("book",)
    assert an_opened_session(TOOLS, grant=a_grant([])).session.tools.usable == ()


@pytest.mark.parametrize(
    ("grant", "why"),
    [
        ("nonsense", "it is not a signed JSON Web Token."),
        (a_grant(["read"], aud="others"), "its claim `aud` is not 'antiphon'; it was issued for something else."),
        (a_grant(["read"], exp=1_795_262_400), "it expired at 2026-11-21 12:00:00 UTC."),
        (a_grant(["read"], session="other"), "it is for session other alone."),
    ],
)  # fmt: skip  # one case a line
def test_an_unusable_grant_offers_no_tools_and_reports_the_reason(grant: str, why: str) -> None:
    session = an_opened_session(TOOLS, ("search",), grant=grant).session
    assert session.tools.usable == session.tools.built_ins == ()
    (uncertainty,) = session.uncertainty
    assert (uncertainty.kind, uncertainty.about) == ("grant_invalid", "grant")
    assert uncertainty.message == f"The session's grant could not be used, so no tools were offered: {why}"
    assert only(answered(session, a_briefing(), TOOLS), ReasoningRequested).tools == ()


def test_a_grant_for_this_session_is_as_good_as_one_for_any() -> None:
    assert an_opened_session(TOOLS, grant=a_grant(["read"], session="s1")).session.tools.usable == ("search",)


def test_options_choose_among_the_tools_of_the_scopes_and_widen_nothing() -> None:
    """A session may use only tools within its scopes, regardless of the query's options."""
    session = an_opened_session(TOOLS, ("book", "search", "fly", "secrets")).session
    assert session.tools.usable == ("search",)
    assert uncertainties_of(session) == [
        ("tools_unavailable", "book"),
        ("tools_unavailable", "fly"),
        ("tools_unavailable", "secrets"),
    ]
    assert [uncertainty.message for uncertainty in session.uncertainty] == [
        "The session's scopes lack write, which 'book' needs; it was not used.",
        "There is no tool 'fly'; it was not used.",
        "The session's scopes lack vault, which 'secrets' needs; it was not used.",
    ]
    reasoning = answered(session, a_briefing(), TOOLS)
    assert only(reasoning, ReasoningRequested).tools == ("search",)
    batch = answered(reasoning.session, a_reply(calls=[a_call("book")]), TOOLS)
    assert only(batch, ToolsRequested).allowed == ("search",)
    assert not {"scopes", "grant", "tenant"} & set(QueryOptions.model_fields)
    assert "grant" in QuerySubmitted.model_fields


def test_a_tool_whose_contract_cannot_be_read_is_not_used() -> None:
    catalogue = a_catalogue("search", a_tool("newer", mode="telepathic"))
    assert an_opened_session(catalogue).session.tools.usable == ("search",)
    session = an_opened_session(catalogue, ("newer",)).session
    assert (session.tools.usable, uncertainties_of(session)) == ((), [("tools_unavailable", "newer")])
    assert session.uncertainty[0].message == "The contract of 'newer' cannot be read; it was not used."


def test_a_session_without_usable_tools_gets_no_built_in_ones() -> None:
    catalogue = a_catalogue("find_tools", "read_result", a_tool("book", "write"), default_scopes=["read"])
    assert an_opened_session(catalogue).session.tools.built_ins == ()
    session = an_opened_session(catalogue, grant=a_grant(["read", "write"])).session
    assert (session.tools.usable, session.tools.built_ins) == (("book",), ("find_tools", "read_result"))
    assert an_opened_session(catalogue, grant=a_grant(["write"])).session.tools.built_ins == ()


def test_a_document_of_before_there_were_grants_still_loads() -> None:
    document = """{"id": "s1", "question": "1-0", "catalogue": "c0ffee", "tools": ["search"], "model": "",
        "limits": {"max_rounds": 4, "max_tool_calls": 20, "max_tokens": 200000, "deadline_s": 300.0,
        "assembly_s": 60.0}, "opened": "2026-11-21T12:00:00Z", "deadline": "2026-11-21T12:05:00Z",
        "phase": "reasoning", "awaiting": "01938c3e-0000-7000-8000-000000000001"}"""
    session = SESSION.read(document)
    request = only(answered(session, a_reply(calls=1)), ToolsRequested)
    assert (request.allowed, request.tenant, request.grant) == (("search",), "default", "")
    assert SESSION.read(SESSION.write(session, session.format)) == session


def test_a_session_with_every_field_set_survives_its_document() -> None:
    catalogue = a_catalogue(*(f"t{n:02}" for n in range(40)), a_tool("book", approval="always"))
    grant = a_grant(["read"], tenant="acme")
    session = an_opened_session(catalogue, grant=grant, query="book", offer=OfferBounds(5, 2)).session
    session = answered(session, a_briefing(), catalogue).session
    session = answered(session, a_reply(calls=[a_call("book", arguments={"x": [1]})]), catalogue).session
    assert session.phase == "approval"
    assert SESSION.read(SESSION.write(session, session.format)) == session


def test_a_session_is_opened_the_same_from_its_log() -> None:
    """Independent of the settings at that time: they reach it as data."""
    catalogue = a_catalogue(*(a_tool(f"t{n}", description="finds books") for n in range(9)))
    first = an_opened_session(catalogue, offer=OfferBounds(5, 2), models=("own", "other"), max_rounds=7)
    opened = first.commands[0]
    assert isinstance(opened, SessionOpened)
    assert len(first.session.tools.offer or ()) == 2
    submitted = QuerySubmitted(query="Why?", options=opened.options)
    event = an_event(submitted, at_s=0)
    again = open_session(event, ENTRY, submitted, recorded_opening(opened), catalogue)
    assert replace(again.session, awaiting=first.session.awaiting) == first.session
    assert again.commands == first.commands


def test_only_the_first_of_very_many_missing_tools_are_named() -> None:
    decision = an_opened_session(named_tools=tuple(f"none_{n}" for n in range(1_000)))
    uncertainties = decision.session.uncertainty
    assert len(uncertainties) == 21
    assert uncertainties[-1].message == "980 more requested tools were not used."


def test_no_session_outlives_half_of_its_retention() -> None:
    """Its documents expire; the deadline must find them."""
    limits = CoordinatorSettings(deadline_s=300).limits(5, BusSettings(retention_s=400).deadline_max_s)
    assert resolve_limits(QueryOptions(), limits).deadline_s == 200
    assert resolve_limits(QueryOptions(deadline_s=10_000), limits).deadline_s == 200
    assert resolve_limits(QueryOptions(deadline_s=20), limits).deadline_s == 20
