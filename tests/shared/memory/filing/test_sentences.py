"""The statements of a text."""

from itertools import pairwise

import pytest
from antiphon_shared.memory.filing import sentences
from antiphon_shared.memory.filing.sentences import sections
from hypothesis import given, settings
from hypothesis import strategies as st

texts = st.one_of(
    st.text(max_size=400),
    st.lists(
        st.sampled_from(
            ["# A\n", "## B\n\n", "One sentence stands here. ", "Wow! ", "Ann: Yes. I do.\n", "- item\n", "1. item\r\n",
             "| a | b |\n", "```python\n", "x = 1\n", "```\n", "\r\n", "\n\n", "第一句话在这里说完了。",
             "هذه جملة أولى. ", "😀👍🏽 ",
             "e.g. Dr. Who ", "x" * 700, "word " * 90, "\u2028", "\x0b", "---\n", "“Really?” ", "\t", "é\u0301"]
        ),
        max_size=40,
    ).map("".join),
)  # fmt: skip  # the table reads better in few lines


def statements(text: str, grain: int = 1) -> list[str]:
    return [text[start:end] for section in sections(text, grain) for start, end in section.spans]


def headed(text: str) -> list[tuple[str, str]]:
    return [(one.heading, text[start:end]) for one in sections(text) for start, end in one.spans]


@settings(max_examples=300, deadline=None)
@given(texts, st.sampled_from([1, 1, 4, 16, 64]))
def test_statements_are_slices_in_order_without_gaps(text: str, grain: int) -> None:
    found = list(sections(text, grain))
    spans = [span for section in found for span in section.spans]
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    between = text
    for start, end in reversed(spans):
        between = between[:start] + between[end:]
    headings = " ".join(section.heading for section in found)
    lost = [
        word
        for word in between.split()
        if any(map(str.isalnum, word)) and word.strip("#*[]_ :") not in headings
    ]
    assert not lost


def test_a_paragraph_is_split_into_its_sentences() -> None:
    text = "Dr. Smith paid $3.50 for tea. She was born in Washington D.C. in 1950.\nThe line went on and on there."
    assert statements(text) == [
        "Dr. Smith paid $3.50 for tea.",
        "She was born in Washington D.C. in 1950.",
        "The line went on and on there.",
    ]


def test_a_very_short_sentence_is_joined_to_its_neighbour() -> None:
    assert statements("Wow! That is a very long way to go. Yes.") == [
        "Wow! That is a very long way to go. Yes."
    ]


def test_short_sentences_of_ideographs_are_separated() -> None:
    assert statements("北京是中国的首都城市。上海是最大的城市之一。") == [
        "北京是中国的首都城市。",
        "上海是最大的城市之一。",
    ]


def test_headings_are_titles_and_headings_without_content_are_statements() -> None:
    text = "# Guide\n\nHow to begin with it all.\n\n## Install\n\nRun the installer once.\n\n## Later\n\n## Last\n"
    assert headed(text) == [
        ("Guide", "How to begin with it all."),
        ("Guide: Install", "Run the installer once."),
        ("Guide", "Later"),
        ("Guide", "Last"),
    ]


@pytest.mark.parametrize("text", ["# Alone", "  # Alone ##\n\n"])
def test_a_heading_alone_is_a_statement(text: str) -> None:
    assert headed(text) == [("", "Alone")]


def test_a_short_first_line_becomes_the_title() -> None:
    text = "Photosynthesis\n\nPlants make sugar from light. They give off oxygen by day."
    assert {heading for heading, _ in headed(text)} == {"Photosynthesis"}
    assert {heading for heading, _ in headed("Plants make sugar from light,\nwater and air by day.")} == {""}


@pytest.mark.parametrize(
    "first",
    [
        "Refunds are never given for",
        "Refunds for students of",
        "Members must pay",
        "Refunds, discounts and vouchers " + "for members " * 5,
    ],
)
def test_the_first_line_of_a_wrapped_sentence_is_not_a_title(first: str) -> None:
    text = f"{first}\nCustomers who cancel after the first day of the course and before its very last one."
    assert {heading for heading, _ in headed(text)} == {""}
    assert statements(text)[0].startswith(first.strip())


def test_a_heading_that_is_a_sentence_is_a_statement_too() -> None:
    text = "# Refunds are never given.\n\nAsk the office for the rest of it."
    assert headed(text) == [
        ("Refunds are never given.", "Refunds are never given."),
        ("Refunds are never given.", "Ask the office for the rest of it."),
    ]


def test_a_line_of_dialogue_stays_whole_with_its_speaker() -> None:
    text = "Ann: Hello! I moved to Oslo. It rains.\nBob Miller: Really? Since when?\n[10:30] ann: May."
    assert statements(text) == text.split("\n")


def test_words_before_a_colon_are_not_always_a_speaker() -> None:
    text = "The result of all this: nothing changed at all. Everybody went home early."
    assert statements(text) == [
        "The result of all this: nothing changed at all.",
        "Everybody went home early.",
    ]


def test_list_items_and_table_rows_are_statements() -> None:
    text = "Tools are:\n- a hammer\n  with a long handle\n- a saw\n\n| city | people |\n|---|---|\n| Oslo | 700,000 |\n"
    assert statements(text) == [
        "Tools are:",
        "- a hammer\n  with a long handle",
        "- a saw",
        "| city | people |",
        "| Oslo | 700,000 |",
    ]


def test_code_is_cut_between_lines_only() -> None:
    lines = [f"value_{number} = compute({number})  # a. b. c." for number in range(30)]
    text = "```python\n" + "\n".join(lines) + "\n```\nThat was the code of the day."
    *code, rest = statements(text)
    assert rest == "That was the code of the day."
    assert len(code) > 2
    assert all(len(one) <= 400 + len("\n```") for one in code)
    assert [line for one in code for line in one.split("\n")] == ["```python", *lines, "```"]


def test_an_unclosed_fence_contains_the_rest_of_the_text() -> None:
    assert statements("```\nx. y. z.\n# no heading") == ["```\nx. y. z.\n# no heading"]


def test_an_endless_sentence_is_cut_between_words() -> None:
    pieces = statements("word " * 500)
    assert all(len(one) <= 600 for one in pieces)
    assert " ".join(pieces).split() == ["word"] * 500


def test_hostile_texts_are_split_into_statements() -> None:
    for seed in ("“a. ", '("', "a: ", "# a\n", "```\n", "- \n", "[", "\n\n", "| ", "A. ", "\ud800 x. "):
        text = seed * (60_000 // len(seed))
        assert sum(map(len, statements(text, 16))) <= len(text)


def test_coarser_statements_join_neighbouring_sentences() -> None:
    text = "The first sentence is here. The second sentence is here. The third one stands here."
    assert statements(text, 2) == [text[:56].strip(), text[56:].strip()]


def test_a_text_without_a_sentence_s_end_is_split_a_bounded_piece_at_a_time() -> None:
    """The splitter's time grows faster than the length of its input."""
    given: list[int] = []

    def unsplit(piece: str) -> list[str]:
        given.append(len(piece))
        return [piece]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "sentences", unsplit)
        assert "".join(statements("word " * 20_000)).count("word") == 20_000
    assert given
    assert max(given) <= 8_000
