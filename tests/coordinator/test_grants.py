"""Grants at the coordinator: an invalid grant opens nothing, and without a key no grant does."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import BriefingRequested, QuerySubmitted, SessionOpened, encode
from antiphon_shared.process import logs
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.service import Service
from antiphon_shared.tools.grant_verifier import GrantRefused, GrantVerifier
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import coordinator.component
from antiphon.grants import issue
from coordinator.decision import GRANT_ACCEPTED, GRANT_IGNORED, GrantCheck, Opening
from coordinator.grants import Grants
from coordinator.opening import open_session, recorded_opening
from tests.bus.builders import entries, eventually, length
from tests.coordinator.builders import ENTRY
from tests.coordinator.test_conversations import LIMITS, TOOLS, Conversing, a_query
from tests.envelopes import an_event
from tests.grants import a_grant

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
KEY, OTHER_KEY = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
VERIFIED = Grants(GrantVerifier([KEY.public_key()]), lambda: NOON)
KEYLESS = Grants(GrantVerifier(), lambda: NOON)
FORGED = a_grant(["read", "write"], tenant="acme")


def genuine(tenant: str = "acme", key: Ed25519PrivateKey = KEY, **claims: object) -> str:
    return issue(key, ["read"], NOON, tenant=tenant, **claims)  # type: ignore[arg-type]  # of the right types


def asked(grant: str, session_id: str = "s1") -> GrantCheck:
    return VERIFIED.check(grant, session_id)


def test_a_query_comes_in_the_name_of_the_tenant_that_its_verified_grant_names() -> None:
    assert VERIFIED.tenant_of(an_event(QuerySubmitted(query="Why?", grant=genuine()))) == "acme"
    assert VERIFIED.tenant_of(an_event(QuerySubmitted(query="Why?"))) == "default"
    assert asked(genuine()) == asked("") == GRANT_ACCEPTED


REFUSED = [
    ("was not signed by a key", FORGED),
    ("was not signed by a key", genuine(key=OTHER_KEY)),
    ("ended at 2026-11-21 11:00:00 UTC", issue(KEY, ["read"], NOON - timedelta(hours=2), expires_s=3_600)),
    ("is for another session", genuine(session="s2")),
    ("is not a signed JSON Web Token", "nonsense"),
]


@pytest.mark.parametrize(("why", "grant"), REFUSED)
def test_an_invalid_grant_is_refused_on_admission(why: str, grant: str) -> None:
    with pytest.raises(GrantRefused, match=f"^grant: it {why}") as raised:
        VERIFIED.tenant_of(an_event(QuerySubmitted(query="Why?", grant=grant)))
    assert raised.value.code == "grant_invalid"
    assert grant not in str(raised.value)
    assert asked(grant).problem.startswith(f"it {why}"), "also of a query that came past the door"


def test_a_grant_is_ignored_without_a_key_and_this_is_reported_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure("warning", "coordinator")
    grants = Grants(GrantVerifier())
    assert grants.tenant_of(an_event(QuerySubmitted(query="Why?", grant=genuine()))) == "default"
    assert [grants.check(genuine(), f"s{n}") for n in range(3)] == [GRANT_IGNORED] * 3
    assert capsys.readouterr().err.count("ANTIPHON_COORDINATOR_GRANT_KEY_FILE") == 1


@pytest.mark.parametrize("check", [GRANT_IGNORED, GrantCheck(problem="it was not signed by a key.")])
def test_the_result_of_a_grant_check_is_recorded_and_replays_the_same_decision(check: GrantCheck) -> None:
    query = a_query(grant=FORGED)
    event = an_event(query, at_s=0)
    decision = open_session(event, ENTRY, query, Opening(LIMITS, "c0ffee", grant=check), TOOLS)
    noted, request = decision.commands
    assert isinstance(noted, SessionOpened)
    assert isinstance(request, BriefingRequested)
    assert open_session(event, ENTRY, query, recorded_opening(noted), TOOLS) == decision
    assert decision.session.query.tenant == "default"


def test_a_session_with_an_ignored_grant_has_the_default_rights_and_reports_it() -> None:
    query = a_query(grant=FORGED)
    opening = Opening(LIMITS, "c0ffee", grant=GRANT_IGNORED)
    session = open_session(an_event(query, at_s=0), ENTRY, query, opening, TOOLS).session
    assert (session.query.grant, session.query.tenant, session.tools.usable) == (
        "",
        "default",
        ("forum", "search"),
    )
    assert [uncertainty.kind for uncertainty in session.uncertainty] == ["grant_ignored"]


@pytest.mark.parametrize("grants", [VERIFIED, KEYLESS], ids=["forged", "without a key"])
async def test_an_unverified_grant_gives_no_access_to_a_tenants_conversation(
    bus: Bus, grants: Grants
) -> None:
    conversing = Conversing(bus, VERIFIED)
    await conversing.open("s1", a_query(grant=genuine()), 0)
    await conversing.end("s1")
    assert len((await conversing.open("s2", a_query(grant=genuine()), 60)).conversation) == 1
    other = Conversing(bus, grants)
    assert (await other.open("s3", a_query(grant=FORGED), 61)).conversation == ()
    kept = await conversing.turns.turns("acme", "c1")
    noted = [turn.session_id for turn in kept.turns] + [turn.session_id for turn in kept.open]
    assert noted == ["s1", "s2"], "nor is anything added to it"


def public_keys(folder: Path) -> str:
    pem = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (folder / "keys.pem").write_bytes(pem)
    return str(folder / "keys.pem")


def built(bus: Bus) -> Service:
    return coordinator.component.build(bus)


@pytest.mark.parametrize("variable", ["COORDINATOR", "TOOL_DISPATCHER"])
def test_the_keys_are_those_of_the_coordinator_or_of_a_dispatcher_in_the_same_process(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(f"ANTIPHON_{variable}_GRANT_KEY_FILE", public_keys(tmp_path))
    built(bus)
    monkeypatch.setenv(f"ANTIPHON_{variable}_GRANT_KEY_FILE", "missing.pem")
    with pytest.raises(ConfigurationError, match=f"ANTIPHON_{variable}_GRANT_KEY_FILE: missing.pem cannot"):
        built(bus)


async def test_forged_grants_are_rejected_on_admission_and_give_their_tenant_no_share(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTIPHON_COORDINATOR_GRANT_KEY_FILE", public_keys(tmp_path))
    bus.settings = bus.settings.model_copy(update={"max_open_sessions": 1})
    queue = bus.keys.queries()
    token = issue(KEY, ["read"], datetime.now(UTC), tenant="acme")
    for n, grant in enumerate(["", "", "", "", FORGED, token, FORGED, token, token, token]):
        event = an_event(QuerySubmitted(query="Why?", grant=grant), f"s{n}")
        await bus.batcher.submit("XADD", queue, "*", "event", encode(event))
    duties: list[asyncio.Future[None]] = [asyncio.ensure_future(duty()) for duty in built(bus).background]

    async def is_empty() -> bool:
        return await length(bus, queue) == 0

    try:
        await eventually(is_empty)
    finally:
        for duty in duties:
            duty.cancel()
        await asyncio.gather(*duties, return_exceptions=True)
    found = [fields for _, fields in await entries(bus, bus.keys.rejected())]
    assert [fields[b"code"] for fields in found] == [b"grant_invalid"] * 2
    assert all(b"was not signed by a key that is trusted here" in fields[b"reason"] for fields in found)
    waiting = {tenant: await in_line(bus, tenant) for tenant in ("acme", "default")}
    assert sum(waiting.values()) == await opened_or_waiting(bus) - await open_now(bus)
    assert waiting["acme"] > 0


async def in_line(bus: Bus, tenant: str) -> int:
    return sum(
        [await bus.batcher.submit("ZCARD", bus.keys.waiting(p, tenant)) for p in range(bus.keys.partitions)]
    )


async def open_now(bus: Bus) -> int:
    return sum(
        [await bus.batcher.submit("ZCARD", bus.keys.open_sessions(p)) for p in range(bus.keys.partitions)]
    )


async def opened_or_waiting(bus: Bus) -> int:
    return sum([await bus.query_of(f"s{n}") is not None for n in range(10)])
