"""Control characters do not reach a terminal."""

import json

from antiphon_shared.text.control import harmless, harmless_json, visible
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row

STEERING = [*map(chr, range(0x09)), *map(chr, range(0x0B, 0x20)), *map(chr, range(0x7F, 0xA0))]
STEERING += ["\u061c", "\u200e", "\u202e", "\u2066", "\u2069", "\ud800"]


@each_row(
    ("hostile", "shown"),
    [
        ("a\x1b]52;c;cm0gLXJmIC8=\x07b", "ab"),
        ("a\x1b]52;c;cm0gLXJmIC8=\x1b\\b", "ab"),
        ("a\x1b[2J\x1b[Hb", "ab"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]0;never closed", "a]0;never closed"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x9b2Jb\x9d0;title\x9cc", "abc"),
        ("a\x1bPq#0\x1b\\b\x1bcd", "abd"),
        ("safe\rover", "safeover"),
        ("one\r\ntwo\ttabbed\n", "one\ntwo\ttabbed\n"),
        ("\u202egnp.exe\u2066", "gnp.exe"),
        ("a\u2028b", "a\nb"),
        ("👩\u200d👧 näïve — 漢字", "👩\u200d👧 näïve — 漢字"),
        ("lone \ud800 surrogate", "lone  surrogate"),
    ],
)
def test_exactly_the_escape_sequences_are_removed(hostile: str, shown: str) -> None:
    assert harmless(hostile) == shown


@given(st.lists(st.sampled_from([*STEERING, "\x1b[", "\x1b]", "a", "7", ";", "\n", "\t", "m"])).map("".join))
def test_no_control_character_remains(text: str) -> None:
    assert not set(harmless(text)) & set(STEERING)
    assert not set(visible(text)) & set(STEERING)


@given(st.lists(st.sampled_from([*STEERING[:-1], "\\", '"', "a", "\n"])).map("".join))
def test_json_keeps_its_meaning_and_has_no_control_characters(text: str) -> None:
    written = harmless_json(json.dumps([text], ensure_ascii=False))
    assert json.loads(written) == [text]
    assert not set(written) & set(STEERING)


def test_a_long_hostile_text_is_cleaned_in_linear_time() -> None:
    for sign in ("\x1b]", "\x9d", "\x1b[1", "\x1b"):
        assert "\x1b" not in harmless(sign * 200_000)
