"""Ids become numbers."""

from response_assembler.markdown import parse_markdown
from response_assembler.numbering import SOURCES_MAX, Numbered, bare_numbers, number, number_own
from tests.rows import each_row

KNOWN = {f"F{n}" for n in range(1, 10)}


def numbered(text: str, known: set[str] = KNOWN) -> Numbered:
    reading = parse_markdown(text)
    return number(text, reading.citations, known, bare_numbers(reading.blocks))


@each_row(
    ("text", "shown"),
    [
        ("It is so [F7].", "It is so [1]."),
        ("First [F3], then [F1], again [F3].", "First [1], then [2], again [1]."),
        ("Both [F7, F3].", "Both [1][2]."),
        ("Both [F7] and [F3;F7].", "Both [1] and [1][2]."),
        ("A run [F4-F6].", "A run [1][2][3]."),
        ("A long run [F2-F9].", "A long run [1]–[8]."),
        ("Unknown [F99], partly [F1, F98].", "Unknown [F99?], partly [1][F98?]."),
        ("A long unknown run [F50-F60].", "A long unknown run [F50-F60?]."),
        ("A link [F3](http://x.y)!", "A link [1] (http://x.y)!"),
        ("[F3]: http://x.y", "\\[1]: http://x.y"),
        ("So it is: [F3]: yes.", "So it is: [1]: yes."),
        ("In code `[F3]`, `x[F3]`.", "In code [1], `x[F3]`."),
        ("```\n[F3]\n```", "```\n[F3]\n```"),
        ("Its own [2] and [12](x), `[3]`.", "Its own (2) and [12](x), `[3]`."),
        ("No citation: [F], (F1), F1, [f1].", "No citation: [F], (F1), F1, [f1]."),
    ],
)
def test_citations_are_shown_as_numbers(text: str, shown: str) -> None:
    assert numbered(text).text == shown


def test_numbers_follow_the_order_of_first_citation() -> None:
    result = numbered("So [F3], so [F1, F99], so [F3].")
    assert (result.numbers, result.unknown) == ({"F3": 1, "F1": 2}, ("F99",))


def test_an_answer_with_too_many_citations_is_marked_as_cut_off() -> None:
    known = {f"F{n}" for n in range(1, 1000)}
    result = numbered(" ".join(f"a [F{n}]" for n in range(1, 500)), known)
    assert len(result.numbers) == SOURCES_MAX
    assert result.text.endswith("a […]")


def test_composed_text_is_numbered_despite_brackets_in_quotations() -> None:
    result = number_own(r"“in ` code” [F2] “and \[F3\]” [F1]", KNOWN)
    assert result.text == r"“in ` code” [1] “and \[F3\]” [2]"
