"""The page shows answers as text and has no active content."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from antiphon.replay.compare.cells import Judgement, Run
from antiphon.replay.compare.page import page
from antiphon.replay.compare.table import HEADINGS, rows
from tests.antiphon.replay.compare.builders import a_comparison, a_response, a_run

HOSTILE = '</pre><script>alert(1)</script><img src="http://evil.invalid/x" onerror=alert(1)>&lt;b&gt;'
_VOID = {"meta", "br", "img", "link", "input"}


class Read(HTMLParser):
    """The tags, attributes and text of a page; elements must be closed in the order they were opened in."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_has_a_row_for_each_cell_and_the_answers_side_by_side() -> None:
    comparison = a_comparison(
        ("a", "linear", (a_run(1.0),)), ("a", "rounds", (a_run(0.0, a_response("No idea.")),))
    )
    read = Read(page(comparison))
    assert read.tags.count("tr") == 1 + 2 + 4
    assert read.tags.count("section") == 2
    for text in (*HEADINGS, "It takes 42 minutes [1].", "No idea.", "contains: 1.00", "1 of 1 complete"):
        assert text in read.text
    assert "color-scheme: light dark" in page(comparison)


def test_hostile_text_stays_text_everywhere_on_the_page() -> None:
    judgement = Judgement(HOSTILE, None, HOSTILE)
    runs = (Run(a_response(HOSTILE), judgements=(judgement,)),)
    failed = (Run(None, HOSTILE),)
    comparison = a_comparison((HOSTILE, "linear", runs), (HOSTILE, "rounds", failed), query=HOSTILE)
    read = Read(page(comparison))
    assert not {"script", "img", "b"} & set(read.tags)
    assert not [name for name, _ in read.attributes if name.startswith("on") or name in ("src", "href")]
    assert read.text.count(HOSTILE) == 7


def test_the_page_loads_no_external_resource_and_its_policy_forbids_it() -> None:
    text = page(a_comparison(("a", "linear", (a_run(),))))
    (policy,) = (value for name, value in Read(text).attributes if name == "content" and "src" in str(value))
    assert str(policy).startswith("default-src 'none'; style-src 'unsafe-inline';")
    assert "http" not in text.replace("http-equiv", "")


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_answer_breaks_the_page(answer: str, query: str) -> None:
    Read(page(a_comparison((query, "linear", (a_run(response=a_response(answer)),)), query=query)))


def test_the_table_has_sums_and_medians_where_there_is_more_than_one_question() -> None:
    one = a_comparison(("a", "linear", (a_run(),)))
    two = a_comparison(("a", "linear", (a_run(),)), ("b", "linear", (a_run(misses=1),)))
    assert [row[0] for row in rows(one)] == ["a"]
    assert [row[0] for row in rows(two)] == ["a", "b", "sum", "median"]
    assert rows(two)[1][5] == "1 (1 not recorded)"
    assert rows(one)[0][3:] == ("—", "2", "1", "100", "$0.0100", "1,000 ms")
