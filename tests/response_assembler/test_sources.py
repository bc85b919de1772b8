"""Facts as sources."""

from antiphon_shared.memory.source import EXCERPT_CHARACTERS, source_of

from response_assembler.sources import UNCITED_MAX, cited_sources, newest_sources, sources_section
from tests.response_assembler.builders import a_document, a_memory, courses, some_facts


def test_a_source_names_the_fact_and_its_origin() -> None:
    source = source_of(courses(), "F5", 2)
    assert (source.id, source.number, source.tool, source.call_id) == (
        "F5",
        2,
        "search_course_content",
        "toolu_4",
    )
    assert source.title == "Agents in Practice"
    assert source.excerpt == "The chapter on MCP covers authentication by OAuth 2.1."


def test_an_excerpt_is_verbatim_and_ends_at_a_word() -> None:
    text = "line one\n" + "word " * 100
    excerpt = source_of(a_memory(a_document("T", text)), "F1").excerpt
    assert excerpt.endswith("word …")
    assert text.startswith(excerpt.removesuffix(" …"))
    assert len(excerpt) <= EXCERPT_CHARACTERS + 2


def test_a_source_without_a_title_is_named_by_its_statement() -> None:
    assert source_of(some_facts(1), "F1").title == "text 1 more"


def test_an_answer_that_cites_nothing_gets_the_newest_facts_without_a_number() -> None:
    sources = newest_sources(some_facts(50))
    assert [source.id for source in sources] == [f"F{n}" for n in range(51 - UNCITED_MAX, 51)]
    assert {source.number for source in sources} == {0}


def test_the_list_of_sources_escapes_markup_of_tool_results() -> None:
    memory = a_memory(a_document("A [link](x)", "It is *so* [F2].", {"n": 3}, tool="t`x"))
    sources = cited_sources(memory, {"F2": 1, "F1": 2})
    assert sources_section(memory, sources) == (
        "**Sources**\n\n"
        "1. **A \\[link\\](x)** — n: 3 (`tx`)\n"
        "2. **A \\[link\\](x)** — “It is \\*so\\* \\[F2\\].” (`tx`)"
    )
    assert sources_section(memory, ()) == ""


def test_a_source_quoted_above_is_listed_in_short() -> None:
    memory = a_memory(a_document("T", "word " * 50))
    sources = cited_sources(memory, {"F1": 1})
    assert len(sources_section(memory, sources, quoted=("F1",))) < 90 < len(sources_section(memory, sources))
