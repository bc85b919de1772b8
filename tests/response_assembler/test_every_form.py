"""The assembler's reading and quotation of every form of Markdown: every_form.json.

After an intended change, run `python -m tests.response_assembler.test_every_form`, and review the output.
"""

from pathlib import Path
from typing import Any

import pytest

from response_assembler import claims, markdown, numbering, quote
from tests.kept_forms import Reader, differences, readers_of, write

KEPT = Path(__file__).with_name("every_form.json")
_LINES = (
    "# Title",
    "####### no title",
    "- item",
    "* item [F1]",
    "1. item",
    "1) item",
    "> quoted",
    "```\ncode [F1]\n```",
    "~~~\ncode\n~~~",
    "| a | b |\n| --- | --- |\n| 1 | 2 [F2] |",
    "A sentence [F1]. Another one [F2, F3]; and a third [1].",
    "A [link](http://x) and ![picture](y).",
    "    indented",
    "***",
    "a\n\nb",
    "Is it so? It is! [F9]",
    "e.g. one, i.e. two. Dr. Who.",
    "[^1]: a note",
    "<b>html</b>",
    "`code [F1]` and text",
)


def _uncited(text: str) -> Any:
    return list(claims.uncited(markdown.parse_markdown(text).blocks, ("F1", "F2")))


def _numbered(text: str) -> Any:
    return numbering.number_own(text, ("F1", "F2"))


_ALL = (markdown, claims, numbering, quote)
READERS = (
    Reader("read", markdown.parse_markdown, _ALL, _LINES),
    Reader("uncited", _uncited, _ALL, _LINES),
    Reader("number_own", _numbered, _ALL, _LINES),
    *readers_of(quote, "plain", "plain_but_cited", "code", others=(markdown,)),
)


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_the_reading_of_every_form_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
