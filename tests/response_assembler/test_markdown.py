"""Markdown as blocks and sentences."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from response_assembler.markdown import IDS_MAX, parse_markdown

PAGE = """\
# What MCP is [F9]

MCP is a protocol. [F1] It came in 2024, says
the page [F2].

1. First item [F3]
   goes on here.
- [ ] Second item

> A quotation
> over two lines. [F4]

| Course | Hours |
|--------|-------|
| MCP    | 6 [F5] |

~~~python
x[F6]
~~~
Set on a line
---
The last `y[F7]`.
"""


def test_a_page_is_split_into_its_blocks() -> None:
    assert [(block.kind, " ".join(block.text.split())) for block in parse_markdown(PAGE).blocks] == [
        ("heading", "# What MCP is [F9]"),
        ("prose", "MCP is a protocol. [F1] It came in 2024, says the page [F2]."),
        ("item", "First item [F3] goes on here."),
        ("item", "Second item"),
        ("quotation", "A quotation over two lines. [F4]"),
        ("heading", "| Course | Hours |"),
        ("row", "| MCP | 6 [F5] |"),
        ("code", "~~~python x[F6] ~~~"),
        ("heading", "Set on a line"),
        ("prose", "The last `y[F7]`."),
    ]


def test_citations_are_found_at_their_positions_and_never_in_code() -> None:
    citations = parse_markdown(PAGE).citations
    assert [PAGE[citation.start : citation.end] for citation in citations] == [
        "[F9]", "[F1]", "[F2]", "[F3]", "[F4]", "[F5]"
    ]  # fmt: skip  # one line reads better


def test_code_that_holds_only_a_citation_is_a_citation() -> None:
    (citation,) = parse_markdown("So it is `[F3]`, not ``a `[F4]` b``.").citations
    assert (citation.start, citation.end, citation.ids) == (9, 15, ("F3",))


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("One is here. [F1] Two is there.", [("F1",), ()]),
        ("One is here.[F1] Two is there [F2, F3].", [("F1",), ("F2", "F3")]),
        ("[F1] One is here. Two is there.", [("F1",), ()]),
        ("See Dr. Smith, p. 3.5 [F1], e.g. now. Two is there.", [("F1",), ()]),
        ("He said “it is. Or so.” [F1] Then he left.", [("F1",), ()]),
        ("Call `a.b. C` first [F1]. Then stop.", [("F1",), ()]),
    ],
)
def test_a_citation_belongs_to_the_sentence_around_or_before_it(
    text: str, cited: list[tuple[str, ...]]
) -> None:
    (block,) = parse_markdown(text).blocks
    assert [sentence.cited for sentence in block.sentences] == cited


def test_a_row_is_one_sentence_up_to_its_last_bar() -> None:
    text = "|a. b|c|\n"
    (sentence,) = parse_markdown(text).blocks[0].sentences
    assert text[: sentence.end] == "|a. b|c"


def test_an_unclosed_fence_is_recognized() -> None:
    assert parse_markdown("So:\n````\n```\ncode [F1]").open_fence == "````"
    assert parse_markdown("So:\n```\ncode\n```\nmore").open_fence == ""


def test_a_citation_names_a_bounded_number_of_facts() -> None:
    assert len(parse_markdown("[F1-F999999999]").citations[0].ids) == IDS_MAX


markdown = st.lists(
    st.sampled_from(
        ["[F1]", "[F2, F3]", "`", "```", "\n", "\n\n", "> ", "- ", "# ", "|", "---", "|-|", " ", "One is. ", "“a. ",
         "”", "é", "\r\n", "\u2028", "\x85", "~~~", "1. ", "x" * 900]
    ),
    max_size=60,
).map("".join)  # fmt: skip  # the table reads better in three lines


@settings(max_examples=200, deadline=None)
@given(st.one_of(markdown, st.text(max_size=200)))
def test_every_parsed_piece_has_its_correct_position_in_any_text(text: str) -> None:
    reading = parse_markdown(text)
    ends = [0]
    for block in reading.blocks:
        assert len(block.without_code) == len(block.text)
        for sentence in block.sentences:
            assert ends[-1] <= sentence.start < sentence.end == sentence.start + len(sentence.text)
            ends.append(sentence.end)
            assert sentence.text.strip() == sentence.text
            assert sentence.text[-1] == text[sentence.end - 1]
    assert all(text[one.start : one.end].strip("`").strip()[0] == "[" for one in reading.citations)
    cited = [id for block in reading.blocks for sentence in block.sentences for id in sentence.cited]
    assert set(cited) <= {"F1", "F2", "F3"}
