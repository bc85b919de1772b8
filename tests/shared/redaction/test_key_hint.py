"""The quick search for secret keys, which must miss none."""

import json

import pytest
from antiphon_shared.redaction.key_hint import key_hint
from antiphon_shared.redaction.secret_keys import ALWAYS, SecretKeys
from hypothesis import given, settings
from hypothesis import strategies as st

PATTERNS = (*ALWAYS, "*phone*", "birth_day", "mid*dle", "api*", "!next_page_token")
KEYS, HINT = SecretKeys(PATTERNS), key_hint(PATTERNS)
SIGNS = st.sampled_from(["_", "-", " ", "x", "İ", "é", "\n", '"', "\\", ".", "1"])
WAYS = st.sampled_from(['"{}":"v4lue"', "'{}': 12", "{}=v4lue", '\\"{}\\": [', "\n{}=v4lue", "the {}='v4lue"])


@st.composite
def keys(draw: st.DrawFn) -> str:
    """Return keys that match a pattern, sometimes with other signs, in lower or upper case."""
    letters = list(draw(st.sampled_from(PATTERNS)).strip("!"))
    for place in draw(st.lists(st.integers(0, len(letters)), max_size=2)):
        letters.insert(place, draw(SIGNS))
    key = "".join(letters).replace("*", draw(SIGNS | st.just("")))
    return draw(st.sampled_from([key, key.upper(), key.title()]))


@settings(max_examples=300, deadline=None)
@given(keys(), WAYS, st.integers(0, 2))
def test_no_secret_key_is_missed_in_any_spelling(key: str, way: str, levels: int) -> None:
    assert HINT.may_match(json.dumps({key: 1}, ensure_ascii=False)) or not KEYS.matches(key)
    text, found = way.format(key), list[str]()
    KEYS.in_text(text, lambda value: found.append(value) or "")  # type: ignore[func-returns-value]  # that is why
    for _ in range(levels):
        text = json.dumps(text, ensure_ascii=False)
    assert not found or HINT.may_match(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        '"input_tokens":12,"max_tokens":1,"cache_read_tokens":3',
        "shipping, mapping and a pinned page: keep in mind what is opted for",
        '"type":"antiphon.briefing.requested.v1","source":"coordinator"',
    ],
)
def test_ordinary_words_do_not_look_like_keys(text: str) -> None:
    assert not key_hint(ALWAYS).may_match(text)


@pytest.mark.parametrize(
    "text", ["a PİN: 12", r"an API\tkey", "%22pin%22", "%2522pin%2522", "a %70in=12", r"\npin=12"]
)
def test_punctuation_around_or_in_a_key_does_not_hide_it(text: str) -> None:
    assert key_hint(ALWAYS).may_match(text)


def test_letters_that_json_may_write_otherwise_are_suspicious() -> None:
    assert HINT.may_match(r'{"text":"{\"p\\u0069n\": 1}"}')


def test_an_excluded_key_is_not_searched_for() -> None:
    assert not key_hint(("!birthday",)).may_match('"birthday":1')


def test_a_pattern_of_nothing_but_stars_names_every_key() -> None:
    assert key_hint(("*",)).may_match('"a":1')
