"""Secret values are found in any encoding."""

import base64
import json
from urllib.parse import quote

import pytest
from antiphon_shared.redaction.known_values import KnownValues
from hypothesis import given
from hypothesis import strategies as st

VALUE = 'hun"ter\\2 xyz/ä'
FORMS = {
    "plain": VALUE,
    "in a URL": quote(VALUE),
    "in JSON": json.dumps(VALUE, ensure_ascii=False)[1:-1],
    "in JSON, in ASCII": json.dumps(VALUE)[1:-1],
    "in JSON within JSON": json.dumps(json.dumps(VALUE))[1:-1],
    "in JSON within JSON within JSON": json.dumps(json.dumps(json.dumps(VALUE)))[1:-1],
    "in base64": base64.b64encode(VALUE.encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_value_is_found_in_every_form(form: str) -> None:
    values = KnownValues({VALUE: "[redacted 1]"}, as_words=True)
    assert values.suspects(f"so {form} it is")
    assert "[redacted 1]" in values.replaced(f"so {form} it is", str)


@given(before=st.binary(max_size=7), after=st.binary(max_size=7))
def test_a_value_is_found_within_base64_at_any_offset(before: bytes, after: bytes) -> None:
    values = KnownValues({"hunter2xyz": "[redacted]"}, as_words=True)
    assert values.suspects(base64.b64encode(before + b"hunter2xyz" + after).decode())
    assert values.suspects(base64.urlsafe_b64encode(before + b"hunter2xyz" + after).decode())


def test_a_short_word_does_not_match_inside_an_id_and_a_short_value_is_not_searched_for() -> None:
    values = KnownValues({"123456": "[redacted 1]", "4711": "[redacted 2]"}, as_words=True)
    assert not values.suspects("a1234567 4711")
    assert values.replaced("is 123456.", str) == "is [redacted 1]."


@given(st.lists(st.text("abcAB1/+-_", min_size=6, max_size=12), min_size=1, max_size=80, unique=True))
def test_each_of_many_values_is_found(secrets: list[str]) -> None:
    values = KnownValues(dict.fromkeys(secrets, "*"), as_words=False)
    assert all("*" in values.replaced(f"({secret})", str) for secret in secrets)
    assert all(secret not in values.replaced(f"({secret})", str) for secret in secrets)
