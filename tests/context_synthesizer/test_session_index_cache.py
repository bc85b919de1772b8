"""Cached indexes: extended with new items, checked before use, evicted when there are too many."""

from collections.abc import Sequence

from antiphon_shared.memory.layers import MemoryDelta

from context_synthesizer.session_index_cache import CachedIndex, SessionIndexCache
from tests.context_synthesizer.builders import Round, a_search, a_session

QUERY = "Which courses teach MCP?"


def some_items(rounds: int, word: str = "mcp") -> list[bytes]:
    entries = [
        Round([a_search(word, (f"T{n}", f"Course number {n} teaches {word} now."))]) for n in range(rounds)
    ]
    return [
        delta.model_dump_json(exclude_defaults=True).encode()
        for delta in a_session(*entries, query=QUERY).deltas
    ]


def text_of(kept: CachedIndex) -> str:
    return kept.session_index.briefing(9, 9).text


def read_on(kept: CachedIndex, items: Sequence[bytes]) -> Sequence[bytes]:
    return items[kept.since :]


def test_a_cached_index_reads_new_items() -> None:
    items = some_items(5)
    kept = CachedIndex(QUERY, 8_000, items[:3])
    assert len(read_on(kept, items)) == 3, "the last one known, and two that are new"
    assert kept.catches_up(QUERY, 8_000, read_on(kept, items))
    assert (kept.items, kept.bytes) == (5, sum(map(len, items)))
    assert text_of(kept) == text_of(CachedIndex(QUERY, 8_000, items))


def test_a_cached_index_is_used_when_nothing_is_new() -> None:
    items = some_items(3)
    kept = CachedIndex(QUERY, 8_000, items)
    assert kept.catches_up(QUERY, 8_000, read_on(kept, items))
    assert kept.items == 3


def test_an_index_without_items_reads_the_list_from_its_beginning() -> None:
    kept = CachedIndex(QUERY, 8_000)
    assert kept.since == 0
    assert kept.catches_up(QUERY, 8_000, some_items(2))
    assert kept.items == 2


def test_an_index_with_another_last_item_is_not_used_for_this_list() -> None:
    kept = CachedIndex(QUERY, 8_000, some_items(3))
    others = [*some_items(2), *some_items(3, "tides")[2:]]
    assert not kept.catches_up(QUERY, 8_000, read_on(kept, others))


def test_a_cached_index_longer_than_the_list_is_not_used() -> None:
    kept = CachedIndex(QUERY, 8_000, some_items(3))
    assert not kept.catches_up(QUERY, 8_000, read_on(kept, some_items(2)))
    assert not kept.catches_up(QUERY, 8_000, [])


def test_an_index_for_another_question_or_another_budget_is_not_used() -> None:
    items = some_items(2)
    kept = CachedIndex(QUERY, 8_000, items)
    assert not kept.catches_up("Who teaches them?", 8_000, read_on(kept, items))
    assert not kept.catches_up(QUERY, 7_000, read_on(kept, items))
    assert kept.catches_up(QUERY, 8_000, read_on(kept, items))


def test_an_item_added_with_its_parsed_delta_counts_like_one_read() -> None:
    (item,) = some_items(1)
    kept = CachedIndex(QUERY, 8_000)
    kept.add(item, MemoryDelta.model_validate_json(item))
    assert kept.catches_up(QUERY, 8_000, [item])
    assert text_of(kept) == text_of(CachedIndex(QUERY, 8_000, [item]))


def test_an_index_in_use_is_not_given_out_again() -> None:
    session_indexes = SessionIndexCache()
    kept = CachedIndex(QUERY, 8_000, some_items(1))
    session_indexes.store(("s1", "1-0"), kept)
    assert session_indexes.take(("s1", "1-0")) is kept
    assert session_indexes.take(("s1", "1-0")) is None


def test_each_session_has_its_own_index() -> None:
    session_indexes = SessionIndexCache()
    session_indexes.store(("s1", "1-0"), first := CachedIndex(QUERY, 8_000))
    session_indexes.store(("s2", "1-0"), second := CachedIndex(QUERY, 8_000))
    assert session_indexes.take(("s2", "1-0")) is second
    assert session_indexes.take(("s1", "1-0")) is first


def test_a_session_reopened_under_the_same_id_has_a_new_index() -> None:
    session_indexes = SessionIndexCache()
    session_indexes.store(("s1", "1-0"), CachedIndex(QUERY, 8_000))
    assert session_indexes.take(("s1", "2-0")) is None


def test_the_least_recently_used_index_is_evicted_first() -> None:
    session_indexes = SessionIndexCache(bytes_max=2 * len(b"".join(some_items(2))))
    for name in ("s1", "s2"):
        session_indexes.store((name, "1-0"), CachedIndex(QUERY, 8_000, some_items(2)))
    used = session_indexes.take(("s1", "1-0"))
    assert used is not None
    session_indexes.store(("s1", "1-0"), used)
    session_indexes.store(("s3", "1-0"), CachedIndex(QUERY, 8_000, some_items(2)))
    assert session_indexes.take(("s2", "1-0")) is None
    assert session_indexes.take(("s1", "1-0")) is used
    assert session_indexes.take(("s3", "1-0")) is not None


def test_an_index_larger_than_the_whole_cache_is_kept_alone() -> None:
    session_indexes = SessionIndexCache(bytes_max=1)
    session_indexes.store(("s1", "1-0"), CachedIndex(QUERY, 8_000, some_items(1)))
    session_indexes.store(("s2", "1-0"), large := CachedIndex(QUERY, 8_000, some_items(4)))
    assert session_indexes.take(("s1", "1-0")) is None
    assert session_indexes.take(("s2", "1-0")) is large


def test_the_size_of_cached_indexes_is_counted_when_they_are_stored() -> None:
    session_indexes = SessionIndexCache(bytes_max=3 * len(b"".join(some_items(2))))
    for _ in range(3):
        kept = session_indexes.take(("s1", "1-0")) or CachedIndex(QUERY, 8_000, some_items(2))
        session_indexes.store(("s1", "1-0"), kept)
    session_indexes.store(("s2", "1-0"), CachedIndex(QUERY, 8_000, some_items(2)))
    assert session_indexes.take(("s1", "1-0")) is not None
    assert session_indexes.take(("s2", "1-0")) is not None


def test_the_number_of_empty_indexes_is_bounded() -> None:
    session_indexes = SessionIndexCache(indexes_max=2)
    for name in ("s1", "s2", "s3"):
        session_indexes.store((name, "1-0"), CachedIndex(QUERY, 8_000))
    assert session_indexes.take(("s1", "1-0")) is None
    assert session_indexes.take(("s2", "1-0")) is not None
    assert session_indexes.take(("s3", "1-0")) is not None
