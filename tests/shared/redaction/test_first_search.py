"""A first search misses nothing that a search without it finds, in a text and in its JSON."""

import json

import pytest
from antiphon_shared.redaction.first_search import A_PASSWORD, loosened
from antiphon_shared.redaction.secret_keys import ALWAYS, secret_keys
from antiphon_shared.text.native_search import NativeSearch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.shared.redaction.forms import Form, halves, halves_of
from tests.shared.redaction.planted_forms import FORMS

KEYS = secret_keys(ALWAYS)
PLANTED = tuple(Form(name, "planted", text.format("«Zq12abXY9k»")) for name, text in FORMS.items())
NEAR_WORDS = tuple(
    Form(text, "near words", text.replace("x", "«<pw>»", 1))
    for text in (
        "x is the login for ada",
        "use x as the pass",
        "“x” was my pw.",
        "creds: (x)",
        "user ada; x!",
    )
)
KNOWN = (
    *halves()[0],
    *halves_of("first_seen.txt")[0],
    *halves_of("later_seen.txt")[0],
    *PLANTED,
    *NEAR_WORDS,
)
AROUND = st.lists(
    st.sampled_from(("user", "é", "\u201c", '"', "(", "a1", "key:", "-p", "\n", "\t", "\\", "=", "x=y")),
    max_size=4,
)
SPACES = st.sampled_from((" ", "\t", "  ", "\u00a0", "\r\n", "\n  "))


def found(text: str) -> list[str]:
    """Return the values that are found in a text."""
    values: list[str] = []
    KEYS.in_text(text, lambda value: values.append(value) or "")  # type: ignore[func-returns-value]  # that is why
    return values


def found_without_first_search(text: str) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NativeSearch, "may_match", lambda self, text: True)
        return found(text)


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(KNOWN), st.integers(0, 99), AROUND, AROUND, SPACES, st.integers(0, 2))
def test_the_fast_and_the_slow_search_find_the_same(
    form: Form, seed: int, before: list[str], behind: list[str], space: str, levels: int
) -> None:
    text = " ".join((*before, form.filled(seed)[0].replace(" ", space), *behind))
    for _ in range(levels):
        text = json.dumps({"a": text}, ensure_ascii=False)
    secrets = found_without_first_search(text)
    assert found(text) == secrets
    assert not secrets or KEYS.suspects(json.dumps(text, ensure_ascii=False).encode())


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"(?<![\w-])p{1,9}[ \t]x", ("p x", "a pp\\tx")),
        (r"(?<![^\r\n])a(?!b)c{0,3}", ("a", "\\nacc")),
        (r"k=(?P<value>\S{3,9})(?=[;\s]|\Z)", ("k=kWes4190;", "k=kWes4190\\n")),
    ],
)
def test_an_expression_is_loosened_for_the_engine_and_for_json(pattern: str, texts: tuple[str, ...]) -> None:
    search = NativeSearch(loosened(pattern, A_PASSWORD))
    assert [search.may_match(text) for text in texts] == [True] * len(texts)
    assert not search.may_match("b")


def test_a_value_that_is_looked_for_has_a_digit_and_eight_characters() -> None:
    search = NativeSearch(loosened(r"k=(?P<value>.{1,9})", A_PASSWORD))
    texts = ("k=kWes4190", "k=4kWesdcx", "k=kWesdcx4", "k=kWes419", "k=kWesdcxy")
    assert [search.may_match(text) for text in texts] == [True, True, True, False, False]


def test_no_expression_is_refused_by_the_engine() -> None:
    assert not KEYS.suspects("an ordinary text")
