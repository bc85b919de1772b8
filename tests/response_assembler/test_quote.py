"""Facts as words for people."""

from antiphon_shared.memory.session_memory import Memory
from hypothesis import given, settings

from response_assembler.quote import code, plain, plain_but_cited, quoted_fact
from tests.memories import hostile_text
from tests.response_assembler.builders import Statement, a_document, a_memory


def quoted(statement: Statement, title: str = "T") -> str:
    memory = a_memory(a_document(title, statement, tool="t"))
    return quoted_fact(memory.facts["F1"], memory.document_of(memory.facts["F1"]))


def test_text_is_quoted_and_a_record_is_put_into_words() -> None:
    assert quoted("It is so.") == "“It is so.”"
    assert quoted(
        {"name": "T", "teacher_of": {"id": 7, "name": "Ada"}, "n": 3, "is_open": True, "x": None}
    ) == ("teacher of: Ada; n: 3; is open: yes")
    assert quoted({"price": {"amount": 3.5, "currency": "EUR"}}) == "price: (amount: 3.5, currency: EUR)"
    assert quoted([1, 2], title="") == "`t` returned 1, 2"


def test_a_long_text_in_a_record_does_not_hide_short_fields() -> None:
    assert quoted({"text": "long " * 100, "price": 70}).startswith("price: 70; text: long long")


def test_deep_and_wide_values_are_quoted_in_bounded_length() -> None:
    deep: Statement = [1]
    for _ in range(150):
        deep = [deep]
    assert quoted(deep) == "1 entry"
    assert quoted({"x": list(range(1000))}) == "x: 0, 1, 2, 3, 4, 5, 6, 7, and 992 more"


def test_quoted_text_contains_no_markup_or_control_characters() -> None:
    assert plain(r"a \[x](y) *b* <i> ~c~ `d` _e_ f_g") == r"a \\\[x\](y) \*b\* &lt;i> \~c\~ 'd' \_e\_ f_g"
    assert plain("a\x1b[2Jb\u202ec") == "a \\[2Jb c"
    assert code("a`b\\[c") == "`abc`"


def test_a_note_keeps_its_citations_and_loses_other_markup() -> None:
    assert plain_but_cited("So [it](x) is [F1, F2] *now*") == r"So \[it\](x) is [F1, F2] \*now\*"


def test_a_fact_whose_document_is_missing_is_quoted() -> None:
    memory = Memory(facts=a_memory(a_document("T", "It is so.")).facts)
    assert quoted_fact(memory.facts["F1"], memory.document_of(memory.facts["F1"])) == "“It is so.”"


@settings(max_examples=60, deadline=None)
@given(hostile_text)
def test_no_markup_remains_unescaped_in_any_text(text: str) -> None:
    shown = plain(text)
    bare = (
        shown.replace("\\\\", "").replace("\\[", "").replace("\\]", "").replace("\\*", "").replace("\\~", "")
    )
    assert not set(bare) & set("[]<*~`\x1b")
