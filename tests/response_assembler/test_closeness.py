"""The choice of shown facts, and their order."""

from antiphon_shared.memory.note import Note
from antiphon_shared.memory.session_memory import Memory
from hypothesis import given, settings

from response_assembler.closeness import FACTS_MAX, Group, grouped, most_salient
from tests.memories import memories
from tests.response_assembler.builders import a_disagreement, a_document, a_memory


def ids(group: Group) -> list[tuple[str, ...]]:
    return [tuple(fact.id for fact in cluster) for cluster in group.clusters]


def test_the_facts_closest_to_the_question_are_chosen_in_their_order() -> None:
    documents = [
        a_document("", "the price of tea" if n % 10 == 0 else "rain", first=n) for n in range(1, 101)
    ]
    (group,) = grouped(a_memory(*documents, query="What is the price of tea?"), ())
    assert ids(group) == [(f"F{n}",) for n in range(10, 101, 10)]


def test_each_fact_is_listed_under_its_closest_question() -> None:
    memory = a_memory(
        a_document("Tea", "Tea costs 3 euros.", "Tea is grown in Assam."),
        Note(open=("What does tea cost in euros?", "Where is tea grown?", "Who drinks coffee?")),
    )
    cost, grown, coffee = grouped(memory, ())
    assert ids(cost) == [("F1",)]
    assert ids(grown) == [("F2",)]
    assert ids(coffee) == []


def test_a_fact_that_was_shown_is_not_repeated_and_marks_its_group_as_covered() -> None:
    memory = a_memory(a_document("Tea", "Tea costs 3 euros."), query="What does tea cost?")
    assert grouped(memory, ("F1",)) == (Group("What does tea cost?", (), is_covered=True, is_part=False),)


def test_contradictions_are_chosen_together_and_the_superseded_is_not() -> None:
    length, price = grouped(a_disagreement(), ())
    assert ids(length) == [("F1", "F3")]
    assert ids(price) == [("F5",)]


def test_a_superseded_fact_is_shown_if_there_is_no_other() -> None:
    memory = a_memory(
        a_document("", "Tea costs 3 euros.", superseded_by=("F7",)), query="What does tea cost?"
    )
    (group,) = grouped(memory, ())
    assert ids(group) == [("F1",)]


def test_facts_of_one_document_do_not_displace_all_others() -> None:
    long = a_document("Tea", *(f"Tea fact number {n} on the price of tea." for n in range(20)))
    memory = a_memory(
        long,
        a_document("Shop", "The price of tea is on the door.", first=21),
        query="What is the price of tea?",
    )
    (group,) = grouped(memory, ())
    assert len(ids(group)) == 5
    assert ("F21",) in ids(group)


def test_facts_that_are_salient_or_cited_by_a_conclusion_are_preferred() -> None:
    documents = [a_document("", "Tea costs money.", first=n) for n in range(1, 31)]
    salient = a_document("", "Tea costs money.", first=31, salience=0.9)
    concluded = Note(concluded=("It costs money [F30].",))
    (group,) = grouped(a_memory(*documents, salient, concluded, query="What does tea cost?"), ())
    assert {("F30",), ("F31",)} < set(ids(group))


def test_the_most_salient_facts_are_listed_if_none_is_close() -> None:
    memory = a_memory(
        a_document("", *(["Rain."] * 20), salience=0.1), a_document("", "Snow fell.", first=21, salience=0.9)
    )
    assert ("F21",) in [tuple(fact.id for fact in cluster) for cluster in most_salient(memory)]
    assert len(most_salient(memory)) == FACTS_MAX


@settings(max_examples=60, deadline=None)
@given(memories())
def test_each_fact_is_shown_at_most_once_within_the_limit(memory: Memory) -> None:
    groups = grouped(memory, ())
    shown = [fact.id for group in groups for cluster in group.clusters for fact in cluster]
    assert len(shown) == len(set(shown)) <= FACTS_MAX
    assert set(shown) <= set(memory.facts)
