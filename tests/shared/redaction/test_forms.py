"""The number of everyday forms of secrets that are found, and the content of the token rules."""

import json
import re
from importlib.resources import files

import pytest
from antiphon_shared.redaction.redactor import WELL_KNOWN, Redactor
from antiphon_shared.redaction.secret_keys import ALWAYS
from antiphon_shared.redaction.token_rules import entropy, token_rules
from antiphon_shared.text.native_search import NativeSearch

from tests.rows import each_row
from tests.shared.redaction.forms import Form, forms, halves, halves_of

REDACTOR = Redactor(keys=ALWAYS)
WORK, REPORT = halves()
SEEDS = range(3)
FILLED = [form.filled(seed) for form in forms() for seed in SEEDS]
DATA = json.loads(files("antiphon_shared.redaction").joinpath("token_rules.json").read_text())


def is_found(form: Form) -> bool:
    """Return whether all of its secrets are replaced."""
    for text, secrets in map(form.filled, SEEDS):
        clean = REDACTOR.text(text)
        if any(secret in clean for secret in secrets):
            return False
    return True


def test_the_forms_are_numerous_and_each_names_its_source() -> None:
    assert len(forms()) >= 150
    assert len({form.name for form in forms()}) == len(forms())
    assert all(form.source and form.filled(0)[1] for form in forms())
    assert abs(len(WORK) - len(REPORT)) <= 1


@each_row("form", [*WORK, *forms("own_forms.txt")], ids=lambda form: form.name)
def test_a_form_that_rules_were_made_for_is_found(form: Form) -> None:
    assert is_found(form)


def test_nine_of_ten_held_out_forms_are_found() -> None:
    missed = [form.name for form in REPORT if not is_found(form)]
    assert len(missed) <= len(REPORT) // 10, missed


@pytest.mark.parametrize(
    ("file", "of_work", "of_report"),
    [
        ("first_seen.txt", 170, 130),
        ("later_seen.txt", 71, 76),
        ("last_seen.txt", 28, 34),
        ("fresh_seen.txt", 55, 50),
    ],
)
def test_no_fewer_of_the_later_forms_are_found_than_before(file: str, of_work: int, of_report: int) -> None:
    """Rules were made for the first half of three files, but not for their second half or last_seen.txt."""
    work, report = halves_of(file)
    assert sum(map(is_found, work)) >= of_work
    assert sum(map(is_found, report)) >= of_report


def test_nine_of_ten_forms_without_a_rule_are_found() -> None:
    for unseen in (forms("last_seen.txt"), halves_of("fresh_seen.txt")[1]):
        assert sum(map(is_found, unseen)) >= 0.9 * len(unseen)


@each_row(
    "text",
    [
        "Base64Encoder, OAuth2Client and X509Certificate of the user, login with SHA256withRSA",
        'connect("db.example", 5432, "utf8mb4", "us-east-1"); Client("gpt-4o-mini", "2026-01-01")',
        "mkdir -p src/v2/Api3 && cp -p Report2024.md build/ && psql -p 5433",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 of image:v1.2.3-rc1",
        '"idempotency_key": "9f86d081884c7d659a2feaa0c55ad015", "cache_key": "a3bf4f1b2b0b822cd15d6c15b0f00a08"',
        "see https://a.example/blog/reset-your-password-in-10-steps and /login?next=/start",
        "the video https://a.example/watch?v=dQw4w9WgXcQ, id dQw4w9WgXcQ, of toolu_01AbCdEfGhIj2KlMnOpQrS",
        '{"video": "dQw4w9WgXcQ", "next": ["xR7pQ2mK9vLs", "dQw4w9WgXcQ"], "n": 2}',
        "on XFree86-1.1, Gnu95FCompiler and an iPhone15Pro with PBKDF2WithHmacSHA256, status 0xC000003A",
        "the RTX4090Ti with 24 GB and DDR5-6000MHz",
        "order 4111 1111 1111 1112 of 2024-11-25, zip code is 94107, the exit code is 1370",
        "one-time codes were sent to 1200 users in 2024 and 2025",
    ],
)
def test_names_and_numbers_in_the_position_of_a_password_stay(text: str) -> None:
    assert REDACTOR.text(text) == text


def test_a_secret_is_found_in_json_within_text() -> None:
    for form in WORK:
        text, secrets = form.filled(0)
        if "\\" not in text:
            clean = REDACTOR.json({"a": [text]})
            assert not any(secret in clean["a"][0] for secret in secrets), form.name


@each_row("rule", DATA["rules"], ids=lambda rule: rule["id"])
def test_a_rule_of_tokens_can_be_used(rule: dict[str, str]) -> None:
    assert re.compile(rule["pattern"], re.ASCII).match("") is None
    assert rule["keywords"]
    assert all(keyword == keyword.lower() for keyword in rule["keywords"])


@each_row("rule", DATA["rules"], ids=lambda rule: rule["id"])
def test_the_first_look_sees_the_tokens_of_a_rule(rule: dict[str, str]) -> None:
    look, pattern = NativeSearch(token_rules().look), re.compile(rule["pattern"], re.ASCII)
    assert all(look.may_match(text) for text, _ in FILLED if pattern.search(text))


def test_the_first_look_passes_over_the_parts_of_a_uuid() -> None:
    look = NativeSearch(token_rules().look)
    assert not look.may_match(
        '{"id":"01a206d5-2f11-7f33-88fc-18d3f58e94db","of":"fbbdd9cf-c2ec-547f-96db-9a814c8d9e31"}'
    )
    assert look.may_match("key: fc-18d3f58e94db18d3f58e94db18d3f58e")


def test_every_rule_that_is_left_out_has_a_reason_and_the_licence_is_kept() -> None:
    assert all(DATA["left_out"].values())
    assert not {rule["id"] for rule in DATA["rules"]} & DATA["left_out"].keys()
    assert "MIT License" in files("antiphon_shared.redaction").joinpath("LICENSE.betterleaks").read_text()


def test_a_token_without_randomness_is_not_redacted() -> None:
    assert REDACTOR.text("glpat-" + "x" * 20) == "glpat-" + "x" * 20
    assert entropy("xxxx") == 0
    assert entropy("ab") == 1


def test_tokens_that_overlap_are_removed_to_the_end_of_the_last() -> None:
    drawn = "aB3dE6gH9jK2mN5pQ8rS"
    text = f"see BSA{drawn}-dnkey-{drawn}tU1vW4-{drawn}{drawn[::-1]}!"
    assert WELL_KNOWN.text(text) == "see [redacted]!"


def test_a_truncated_or_overlong_token_is_found() -> None:
    shown = "glpat-aB3dE6gH9jK2mN5pQ8"
    assert REDACTOR.text(f"see {shown}!") == "see [redacted]!"
    assert REDACTOR.text(f"see {shown}rS1tU4vW7!") == "see [redacted]!"
