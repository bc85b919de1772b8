"""Scanning: found secrets are never quoted, and harmless text is not found."""

import base64
import gzip
import json
from dataclasses import asdict
from pathlib import Path
from uuid import uuid4

import pytest
from antiphon_shared.process.errors import ConfigurationError, UnreadableEvent

from antiphon.recording.files import write_lines
from antiphon.recording.lines import CatalogueLine, ContentLine, Line
from antiphon.recording.redaction.allowed import Allowed
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.redaction.scan import scan
from antiphon.recording.settings import RecordingSettings
from tests.antiphon.recording.recorded import recorded
from tests.grants import a_grant

RECORDINGS = Path(__file__).parents[3] / "recordings"
SECRETS = {
    "signed_token": a_grant(),
    "private_key": "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 3,
    "credential": "sk-ant-" + "a1B2" * 10,
    "url_password": "postgres://ada:hunter2xyz@db.example/x",
    "known_secret": "of-this-process-1",
}


def written(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_reported_by_position_without_its_text(tmp_path: Path, kind: str) -> None:
    secret = SECRETS[kind]
    line = {"line": "event", "event": {"data": {"results": [{"data": {"text": f"see {secret} there"}}]}}}
    [finding] = scan(written(tmp_path, {}, line), secrets=[SECRETS["known_secret"]])
    assert (finding.line, finding.path, finding.kind) == (2, "$.event.data.results[0].data.text", kind)
    assert not any(secret[at : at + 6] in str(asdict(finding)) for at in range(len(secret) - 6))


def test_a_value_under_a_secret_key_is_found_in_json_and_in_text(tmp_path: Path) -> None:
    text = json.dumps({"api_key": "x7Kd02lsmWq9"})
    found = scan(written(tmp_path, {"password": "x7Kd02lsmWq8", "t": text}, "no JSON: token=x7Kd02lsmWq7\n"))
    assert [(one.line, one.path, one.kind) for one in found] == [
        (1, "$.password", "secret_key"),
        (1, "$.t", "secret_key"),
        (2, "", "secret_key"),
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"secret": {"deep": [{"id": "x7Kd02lsmWq8"}]}},
        {"token": ["x7Kd02lsmWq8"]},
        {"note": json.dumps({"credentials": {"deep": ["x7Kd02lsmWq8"]}})},
        {"note": "X-Auth-Token: x7Kd02lsmWq8"},
        {"password": "swordfish"},
        {"password": "x7Kd02lsmWq8 is what I use"},
    ],
)
def test_a_scan_finds_a_value_that_an_export_would_replace(tmp_path: Path, value: object) -> None:
    found = scan(written(tmp_path, {"line": "event", "data": value}))
    assert [one.kind for one in found] == ["secret_key"]


def test_arguments_that_are_marked_secret_are_found(courses_lines: list[Line], tmp_path: Path) -> None:
    catalogue = next(line for line in courses_lines if isinstance(line, CatalogueLine))
    published = catalogue.model_dump(mode="json")
    tool = published["catalogue"]["tools"][0]
    tool["input_schema"]["properties"]["code"] = {"type": "string", "writeOnly": True}
    call = {"type": "tool_use", "name": tool["name"], "input": {"code": "Q7-mark", "q": "Q8-mark"}}
    content = ContentLine(hash="", content={"content": [call]})
    write_lines(tmp_path / "a.jsonl", [CatalogueLine.model_validate(published), content])
    assert [one.path for one in scan(tmp_path / "a.jsonl")] == ["$.content.content[0].input.code"]


def test_a_value_that_only_resembles_a_secret_is_not_reported(tmp_path: Path) -> None:
    line = {
        "id": str(uuid4()),
        "digest": "3cf12f43f077f933b061cfe8f3ffa98b",
        "image": base64.b64encode(bytes(range(256)) * 20).decode(),
        "max_tokens": 4096,
        "password": {"type": "string", "description": "At least 8 characters"},
        "token": "[redacted 12]",
        "secret": "none",
        "pin": [1234, "1234", True],
        "api_key": ["***", "<token>", "${TOKEN}", "xxx", "YOUR_API_KEY", "{{ token }}"],
        "tool": {
            "input_schema": {"properties": {"passwords": {"type": "array", "items": {"type": "string"}}}}
        },
        "call": "toolu_01A09q90qw90lq917835lq9",
    }
    assert scan(written(tmp_path, line)) == []


@pytest.mark.parametrize("text", ["\\[redacted 1\\]", "\\\\[redacted 12\\\\]", "\\[redacted\\]"])
def test_redacted_text_escaped_by_markdown_is_not_reported(tmp_path: Path, text: str) -> None:
    lines = [
        {"t": f"The password: {text}"},
        {"t": f"password={text}"},
        {"t": f"Say {text}."},
        {"password": text},
    ]
    assert scan(written(tmp_path, *lines)) == []


def test_personal_data_is_reported_only_on_request(tmp_path: Path) -> None:
    path = written(tmp_path, {"t": "ada@example.org paid with 4111111111111111, not 4111111111111112"})
    assert scan(path) == []
    assert [finding.kind for finding in scan(path, is_personal=True)] == ["email", "card"]


async def test_a_scan_finds_only_the_grant_of_a_recording_and_nothing_in_a_redacted_one(
    tmp_path: Path,
) -> None:
    lines = await recorded(grant=a_grant(["read"]))
    write_lines(tmp_path / "open.jsonl", lines)
    assert {finding.kind for finding in scan(tmp_path / "open.jsonl")} == {"signed_token"}
    redaction = Redaction.of(RecordingSettings().rules, ())
    write_lines(tmp_path / "clean.jsonl.gz", map(redaction.line, lines))
    assert scan(tmp_path / "clean.jsonl.gz") == []


def test_the_projects_own_recordings_are_clean() -> None:
    assert any(RECORDINGS.rglob("*.jsonl"))
    assert [one for path in RECORDINGS.rglob("*.jsonl*") for one in scan(path, is_personal=True)] == []


def test_a_compressed_file_that_was_cut_off_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n" * 1000)[:-9])
    with pytest.raises(UnreadableEvent, match="is damaged"):
        scan(path)


def test_a_finding_is_allowed_by_fingerprint_or_place_with_a_reason(tmp_path: Path) -> None:
    found = scan(written(tmp_path, {"password": "x7Kd02lsmWq8", "a": {"token": "x7Kd02lsmWq7"}}))
    by_hash = Allowed.of(f"# ours\n{found[0].fingerprint} an example\n")
    assert by_hash.remove_allowed(found) == found[1:]
    assert Allowed.of(r"/^secret_key\b.*\$\.a\./ examples").remove_allowed(found) == found[:1]


@pytest.mark.parametrize("text", ["0123456789abcdef", "hunter2 why not", "/(/ broken"])
def test_an_allow_list_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="line 1"):
        Allowed.of(text)
