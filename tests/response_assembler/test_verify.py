"""Quotations and numbers are checked against their cited facts."""

import pytest
from antiphon_shared.events.session import Uncertainty
from antiphon_shared.memory.session_memory import Memory

from response_assembler.markdown import parse_markdown
from response_assembler.verify import UNCERTAINTIES_MAX, unsupported
from tests.response_assembler.builders import a_document, a_memory, some_facts
from tests.rows import each_row

FACTS = a_memory(
    a_document(
        "The Gotthard Base Tunnel",
        "It’s 57.09 km long and opened on 2016-06-01.",
        "Some 28.2 million tonnes of rock, worth 1,250 francs a load, came out.",
        {"text": 'He said "it runs\nunder the Alps" to all', "cost_chf": 9560000000, "share": 0.5},
        "(Of old) it stood < there alone.",
    ),
    query="Is the “longest tunnel of all times” older than 42 years?",
)


def uncertainties(text: str, memory: Memory = FACTS) -> list[Uncertainty]:
    numbers = {id: n for n, id in enumerate(memory.facts, 1)}
    return list(
        unsupported(
            (one for block in parse_markdown(text).blocks for one in block.sentences), memory, numbers
        )
    )


def kinds(text: str) -> list[str]:
    return [uncertainty.kind for uncertainty in uncertainties(text)]


@each_row(
    "text",
    [
        "It is “it's 57.09 KM  long and opened” then [F1].",
        'It is "57.09 km long, and opened" then [F1].',
        "It is “57.09 km long … on 2016-06-01” [F1].",
        "It is “*57.09 km* long [...] opened” [F1].",
        "„It’s 57.09 km long and opened on 2016-06-01. Some 28.2 million tonnes of rock“ [F1, F2].",
        "«it runs under the Alps to all» he said [F3].",
        "“The Gotthard Base Tunnel” is meant [F2].",
        "Called the “longest tunnel of all times” [F2].",
        "“Not at all so” is short of nothing cited.",
        "“too short here” [F1].",
        "> He wrote “it runs\n> under the Alps” [F3].",
        "He noted “&#40;Of old) it stood &lt; there” [F4].",
    ],
)
def test_a_quotation_found_in_the_cited_fact_is_accepted(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "It is “57.09 km long and closed” [F1].",
        "“It’s 57.09 km long and opened” [F2].",
        'So "it never opened at all" [F1, F2].',
        "It is “opened on 2016-06-01 … some other words” [F1].",
        "“It’s 57.09 km long and opene” [F1].",
    ],
)
def test_a_quotation_that_is_not_in_its_source_is_uncertain(text: str) -> None:
    (uncertainty,) = uncertainties(text)
    assert (uncertainty.kind, uncertainty.severity) == ("quote_not_found", "serious")


def test_an_uncertain_quotation_is_named_with_the_source_that_lacks_it() -> None:
    (uncertainty,) = uncertainties("It “never was opened at all”, say both [F3, F2].")
    assert uncertainty.message == (
        "The answer quotes “never was opened at all”, which does not stand in [3][2], cited for it."
    )
    assert uncertainty.about == "F3, F2"


@each_row(
    "text",
    [
        "It is 57.09 km long [F1].",
        "It is 57.090 or 57,09 km long [F1].",
        "It opened in 2016, on June 01 [F1].",
        "1,250 or 1250 or 1.250 francs [F2].",
        "It cost 9,560,000,000 francs, 9.560.000.000 in all [F3].",
        "About 0.50, so .5 of it [F3].",
        "It is older than 42 years [F2].",
        "There are 3 of them [F2].",
        "12 of them, and 99, without a source.",
        "Version v12 of mp3 x99 [F2].",
        "It is (so &#40;they say) [F2].",
    ],
)
def test_a_number_found_in_the_cited_fact_is_accepted(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize("number", ["58.09", "17", "1251", "57,1", "9,560", "5.7"])
def test_a_number_missing_from_the_cited_facts_is_noted_as_perhaps_computed(number: str) -> None:
    (uncertainty,) = uncertainties(f"It is {number} [F1, F2, F3].")
    assert (uncertainty.kind, uncertainty.severity) == ("number_not_found", "note")
    assert (
        uncertainty.message
        == f"The number {number} does not stand in [1][2][3], cited for it; it may be computed."
    )


def test_a_nonexistent_citation_is_reported_only_once() -> None:
    assert kinds("It is “never was opened at all” in 1999 [F9].") == []


def test_a_sentence_with_very_many_citations_is_not_verified() -> None:
    def claims(last: int) -> list[str]:
        memory = some_facts(last)
        numbers = {id: n for n, id in enumerate(memory.facts, 1)}
        (block,) = parse_markdown(f"There were 987 of them [F1-F{last}].").blocks
        return [uncertainty.kind for uncertainty in unsupported(block.sentences, memory, numbers)]

    assert claims(40) == ["number_not_found"]
    assert claims(41) == []


def test_uncertainties_of_each_kind_are_limited() -> None:
    found = kinds(" ".join(f"“this was never said {n}” nor {n} [F1]." for n in range(100, 150)))
    assert found == ["quote_not_found"] * UNCERTAINTIES_MAX + ["number_not_found"] * UNCERTAINTIES_MAX


def test_an_unreadable_structure_is_searched_as_text() -> None:
    fact = FACTS.facts["F3"].model_copy(update={"statement": "[" * 5000 + "77"})
    memory = Memory(facts={"F3": fact})
    assert uncertainties("It is 77 [F3].", memory) == []
