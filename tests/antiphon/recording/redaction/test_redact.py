"""Secrets planted in a session are in no byte of its recording, and the recording is still valid."""

import asyncio
import base64
import json
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, quote_plus
from uuid import uuid4

import jwt
import pytest
from antiphon_shared.events import QuerySubmitted, ToolsCompleted, ToolsRequested
from antiphon_shared.events.step_records import DecisionRecord, ExchangeRecord, ModelCall
from antiphon_shared.tools.grants import UnreadableGrant, read_claims

from antiphon import Antiphon
from antiphon.grants import load_signing_key, make_key_pair
from antiphon.recording.lines import (
    CatalogueLine,
    ContentLine,
    EventLine,
    Header,
    Line,
    RecordLine,
    decode_line,
    encode_line,
)
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.session_lines import session_lines
from antiphon.recording.settings import HEADERS
from antiphon.replay.verify import verify_lines
from coordinator.opening import conversation_of
from reasoning_engine.exchange_record import safe_headers
from tests.antiphon.recording import leaky_tools
from tests.antiphon.recording.recorded import end, events, is_closed, recorded
from tests.antiphon.recording.redaction.redacted_lines import RULES, redacted
from tests.grants import a_payload
from tests.messages_server import Scripted, Use, serving

ANTHROPIC_KEY = "a-key-0f-anthropic-77"
IN_QUERY = "sk-ant-" + "a1B2" * 10
IN_ARGUMENTS = "hunter2xyz"
IN_MARKED = "Q7-mark"
IN_EARLIER_TURN = "turn-secret-5512"
IN_REPLY = "AKIA" + "ABCD1234EFGH5678"
IN_ERROR = "error-body-99812"
IN_HEADER = "cookie-value-3391"
PLANTED = (
    ANTHROPIC_KEY,
    IN_QUERY,
    IN_ARGUMENTS,
    IN_MARKED,
    IN_EARLIER_TURN,
    IN_REPLY,
    IN_ERROR,
    IN_HEADER,
    leaky_tools.IN_RESULT,
    leaky_tools.IN_JSON_TEXT,
    leaky_tools.IN_BASE64,
    leaky_tools.IN_URL,
)


def forms(secret: str) -> set[str]:
    """Return the forms of a secret in a file."""
    once = json.dumps(secret)[1:-1]
    inside = {
        base64.b64encode(b"x" * n + secret.encode()).decode()[4 * (n > 0) + n :][1:-4] for n in range(3)
    }
    return {secret, once, json.dumps(once)[1:-1], quote(secret, safe=""), quote_plus(secret), *inside}


def leaks(lines: Iterable[Line], secrets: Iterable[str]) -> list[str]:
    """Return the secrets that are in the written lines."""
    written = b"\n".join(map(encode_line, lines)).decode()
    return [secret for secret in secrets for form in forms(secret) if len(form) >= 6 and form in written]


async def planted_session() -> list[Line]:
    """Record a session that continues a conversation, is refused once by its model, and calls two tools."""
    arguments = {"name": "ada", "password": IN_ARGUMENTS, "code": IN_MARKED}
    script = [
        Scripted(when="Remember", text=f"I shall remember password={IN_EARLIER_TURN}."),
        Scripted(
            status=529,
            body=json.dumps(
                {"type": "error", "error": {"type": "overloaded_error", "message": "no"}, "secret": IN_ERROR}
            ),
            headers={"set-cookie": IN_HEADER, "anthropic-ratelimit-requests-limit": "50"},
        ),
        Scripted(
            text="I open it.",
            uses=(
                Use(name="open_account", input=arguments),
                Use(name="fail_with_key", input={"q": ANTHROPIC_KEY}),
            ),
        ),
        Scripted(text=f"Done with {IN_ARGUMENTS}, {IN_REPLY} and {leaky_tools.IN_RESULT}."),
    ]
    async with serving(*script) as server:
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("ANTHROPIC_BASE_URL", server.url)
            environment.setenv("ANTHROPIC_API_KEY", ANTHROPIC_KEY)
            async with Antiphon.embedded([leaky_tools], model="anthropic") as antiphon:
                await antiphon.ask("Remember what I said.", conversation_id="c1")
                query = f"Open an account with {IN_QUERY}, my api_key={IN_ARGUMENTS}"
                response = await antiphon.ask(query, conversation_id="c1")
                return await closed_lines(antiphon, response.session_id)


async def closed_lines(antiphon: Antiphon, session_id: str) -> list[Line]:
    bus = antiphon.open_bus()
    async with asyncio.timeout(60):
        while True:
            lines = [line async for line in session_lines(session_id, bus)]
            if is_closed(lines):
                return lines
            await asyncio.sleep(0.01)


@pytest.fixture(scope="module")
def planted() -> list[Line]:
    return asyncio.run(planted_session())


def test_no_planted_secret_remains_in_the_recording(planted: list[Line]) -> None:
    found = set(leaks(planted, PLANTED))
    # The pipeline itself keeps two of them out.
    assert found >= set(PLANTED) - {ANTHROPIC_KEY, IN_QUERY, IN_HEADER, IN_REPLY}
    assert leaks(redacted(planted, secrets=[ANTHROPIC_KEY]), PLANTED) == []


def test_a_line_with_duplicate_json_keys_is_not_passed_unread(courses_lines: list[Line]) -> None:
    line = events(courses_lines)[0]
    raw = encode_line(line).replace(b'"data":{', b'"data":{"password":"hunter2-hunter2"},"data":{', 1)

    assert decode_line(raw) == line
    assert not Redaction.of(RULES, ()).passes([(line, raw)])


def test_no_line_passes_unread_of_which_something_is_replaced(planted: list[Line]) -> None:
    replaced = 0
    for line in planted[1:-1]:
        changed = redacted([line], secrets=[ANTHROPIC_KEY]) != [line]
        replaced += changed
        # As exports do it: among many, and with what was taken in of the catalogue before.
        fresh = Redaction.of(RULES, [ANTHROPIC_KEY])
        assert not (changed and fresh.passes([(line, encode_line(line))]))
    assert replaced > 5


def test_the_last_line_counts_replacements_and_the_header_names_the_rules(planted: list[Line]) -> None:
    lines = redacted(planted)
    assert end(lines).redactions > 20
    assert isinstance(lines[0], Header)
    assert lines[0].redaction == RULES
    assert redacted(lines)[1:-1] == lines[1:-1], "redacted values are not changed again"


def test_the_same_value_is_the_same_placeholder_everywhere(planted: list[Line]) -> None:
    lines = redacted(planted)
    call = next(
        line.event.data.calls[0] for line in events(lines) if isinstance(line.event.data, ToolsRequested)
    )
    result = next(
        line.event.data.results[0].data
        for line in events(lines)
        if isinstance(line.event.data, ToolsCompleted)
    )
    password, code = call.arguments["password"], call.arguments["code"]
    assert password != code
    assert result["echo"] == f"ada gave {password} and [redacted]", "the dispatcher knew of the mark"
    assert result["account"]["other"][0]["note"] == f"again: {result['account']['client_secret']}"
    assert result["account"]["pin"] == 0
    exchanges = [line.record for line in lines if isinstance(line, RecordLine)]
    reply = [one.calls[-1].reply for one in exchanges if isinstance(one, ExchangeRecord)][-1]
    assert reply is not None
    assert reply["content"][0]["text"].startswith(f"Done with {password}, [redacted] and [redacted ")


def test_a_recording_without_secrets_is_unchanged(courses_lines: list[Line]) -> None:
    redaction = Redaction.of(RULES, ["a-secret-of-this-process"])
    for line in courses_lines:
        redaction.learn(line)
    safe_headers = [redaction.line(line) for line in courses_lines]
    assert all(new is old for new, old in zip(safe_headers[1:-1], courses_lines[1:-1], strict=True))
    assert redaction.count == 0


async def test_a_grant_keeps_its_claims_and_loses_its_signature_so_that_decisions_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = make_key_pair(tmp_path / "keys")
    monkeypatch.setenv("ANTIPHON_TOOL_DISPATCHER_GRANT_KEY_FILE", str(pair.public))
    claims = a_payload(["read"], tenant="acme", email="ada@example.org")
    grant = jwt.encode(claims, load_signing_key(pair.private), algorithm="EdDSA")
    async with Antiphon.embedded(["examples.courses"], model="offline") as antiphon:
        query = 'What is lesson 4 of course "Designing Web APIs"?'
        response = await antiphon.ask(query, grant=grant, conversation_id="c9")
        lines = await closed_lines(antiphon, response.session_id)
    signature = grant.rpartition(".")[2]
    assert leaks(lines, [signature])
    clean = redacted(lines)
    assert leaks(clean, [signature, "ada@example.org"]) == []
    submitted = next(line.event for line in events(clean) if isinstance(line.event.data, QuerySubmitted))
    assert isinstance(submitted.data, QuerySubmitted)
    assert read_claims(submitted.data.grant) == read_claims(grant)
    assert conversation_of(submitted.data, submitted.subject, submitted.time) == ("acme", "c9")
    state = next(
        line.record
        for line in clean
        if isinstance(line, RecordLine) and isinstance(line.record, DecisionRecord)
    )
    assert state.changed["query"]["grant"] == submitted.data.grant
    assert verify_lines(clean).is_same


@pytest.mark.parametrize(
    "path",
    ["$.data.query", "$..password", "$.calls[*].arguments", "$.data.calls[0].arguments.name", "$..name"],
)
def test_configured_paths_are_redacted_and_lines_stay_readable(planted: list[Line], path: str) -> None:
    lines = redacted(planted, RULES.model_copy(update={"paths": (path,)}))
    assert [type(line) for line in lines] == [type(line) for line in planted]
    queries = [line.event.data.query for line in events(lines) if isinstance(line.event.data, QuerySubmitted)]
    assert (queries[0] == "[redacted 1]") == (path == "$.data.query")
    arguments = [
        line.event.data.calls[0].arguments
        for line in events(lines)
        if isinstance(line.event.data, ToolsRequested)
    ]
    assert (arguments[0]["name"] == "ada") == (path not in ("$.data.calls[0].arguments.name", "$..name"))
    catalogue = next(line.catalogue for line in lines if isinstance(line, CatalogueLine))
    assert "open_account" in catalogue.by_name, "keys of ours are not looked for"


@pytest.mark.parametrize("grant", ["opaque-grant", "a.b.c", "e30.W10.c2ln", "e30.eyJhdWQiOjF9.c2ln"])
async def test_a_grant_that_cannot_be_read_still_cannot_for_the_same_reason(
    courses_lines: list[Line], grant: str
) -> None:
    asked = events(courses_lines)[0]
    assert isinstance(asked.event.data, QuerySubmitted)
    submitted = asked.event.data.model_copy(update={"grant": grant})
    [clean] = redacted([EventLine(1, "1-0", asked.event.model_copy(update={"data": submitted}))])
    assert isinstance(clean, EventLine)
    assert isinstance(clean.event.data, QuerySubmitted)
    assert clean.event.data.grant != grant
    with pytest.raises(UnreadableGrant) as before:
        read_claims(grant)
    with pytest.raises(UnreadableGrant) as after:
        read_claims(clean.event.data.grant)
    assert after.value.message == before.value.message


def test_a_pattern_match_is_replaced_and_the_pattern_is_not_disclosed(planted: list[Line]) -> None:
    lines = redacted(planted, RULES.model_copy(update={"patterns": (r"\bada\b", r"\d{3,}")}))
    text = b"\n".join(map(encode_line, lines)).decode()
    assert '"name":"ada"' not in text
    assert "ada gave" not in text
    assert r"\\bada" not in text
    assert isinstance(lines[0], Header)
    assert lines[0].redaction.patterns == ("[redacted]", "[redacted]")


def test_a_secret_in_a_session_id_is_replaced_by_another_name(courses_lines: list[Line]) -> None:
    header = courses_lines[0]
    assert isinstance(header, Header)
    safe_headers = redacted(courses_lines, secrets=[header.session_id])
    assert leaks(safe_headers, [header.session_id]) == [header.session_id], (
        "an event's own id is the same UUID"
    )
    assert isinstance(safe_headers[0], Header)
    assert safe_headers[0].session_id == "redacted"
    assert {line.event.subject for line in events(safe_headers)} == {"redacted"}


def test_headers_are_kept_by_list(planted: list[Line]) -> None:
    def names(lines: list[Line]) -> set[str]:
        records = [line.record for line in lines if isinstance(line, RecordLine)]
        calls = [call for one in records if isinstance(one, ExchangeRecord) for call in one.calls]
        errors = [call.error.headers for call in calls if call.error]
        return {name for headers in (*errors, *(call.headers for call in calls)) for name in headers}

    assert "anthropic-ratelimit-requests-limit" in names(redacted(planted))
    assert names(redacted(planted, RULES.model_copy(update={"headers": ("content-*",)}))) == {"content-type"}
    assert safe_headers(dict.fromkeys((*HEADERS, "anthropic-ratelimit-x", "set-cookie"), "1")).keys() == {
        *HEADERS[:-1],
        "anthropic-ratelimit-x",
        *HEADERS[-1:],
    }


def test_a_header_alone_is_reason_enough_to_look_at_a_line() -> None:
    call = ModelCall(request={}, headers={"x-account": "1", "date": "today"})
    line = RecordLine(
        record=ExchangeRecord(of=uuid4(), calls=(call,), max_output_tokens=1, default_model="m")
    )
    assert not Redaction.of(RULES, ()).passes([(line, encode_line(line))])
    [clean] = redacted([line])
    assert isinstance(clean, RecordLine)
    assert isinstance(clean.record, ExchangeRecord)
    assert clean.record.calls[0].headers == {"date": "today"}


def test_secrets_of_a_catalogue_are_replaced_and_its_schemas_stay_schemas(courses_lines: list[Line]) -> None:
    catalogue = next(line for line in courses_lines if isinstance(line, CatalogueLine))
    published = catalogue.model_dump(mode="json")
    published["catalogue"]["tools"][0]["input_schema"]["properties"]["password"] = {
        "type": "string",
        "default": "hunter2xyz",
        "examples": ["hunter3xyz"],
    }
    [clean] = redacted([CatalogueLine.model_validate(published)])
    assert isinstance(clean, CatalogueLine)
    schema = clean.catalogue.tools[0].input_schema["properties"]["password"]
    assert schema == {"type": "string", "default": "[redacted 1]", "examples": ["[redacted 2]"]}


def test_shared_content_is_checked_again_when_other_arguments_are_marked(
    courses_lines: list[Line],
) -> None:
    catalogue = next(line for line in courses_lines if isinstance(line, CatalogueLine))
    published = catalogue.model_dump(mode="json") | {"hash": "other"}
    schema = published["catalogue"]["tools"][0]["input_schema"]
    name = published["catalogue"]["tools"][0]["name"]
    schema["properties"]["code"] = {"type": "string", "writeOnly": True}
    marked = CatalogueLine.model_validate(published)
    shared = ContentLine(hash="c", content=[{"name": name, "input": {"code": "7788"}}])
    redaction = Redaction.of(RULES, ())

    def passes(*lines: Line) -> bool:
        return redaction.anew().passes([(line, encode_line(line)) for line in lines])

    assert passes(catalogue, shared)
    assert passes(catalogue, shared)
    assert not passes(marked, shared)
    assert passes(marked)
    assert not passes(marked, shared), "although both have passed, each with other company"


async def test_a_schema_with_secret_property_names_is_kept() -> None:
    schema = {"type": "object", "properties": {"password": {"type": "string"}, "api_key": {"type": "string"}}}
    lines = redacted(await recorded("Which harbour?", tools=(), output=schema, max_rounds=1))
    query = next(line.event.data for line in events(lines) if isinstance(line.event.data, QuerySubmitted))
    assert query.options.output_schema == schema
    assert verify_lines(lines).is_same


async def test_a_redacted_schema_of_a_steps_output_stays_valid() -> None:
    schema = {"type": "object", "properties": {"password": {"type": "string"}}, "required": ["password"]}
    step = {"name": "first", "instructions": "Look.", "tools": ["look_up"], "output": schema}
    lines = redacted(await recorded("Which harbour?", steps=[step], max_rounds=1))
    query = next(line.event.data for line in events(lines) if isinstance(line.event.data, QuerySubmitted))
    assert query.options.step_list[0].output == schema
    assert verify_lines(lines).is_same
