"""Ids are drawn once, and derived ever after."""

import time

import pytest
from antiphon_shared.process.ids import (
    child_id,
    id_of_entry,
    idempotency_key,
    new_id,
    partition_of,
    random_fraction,
)
from antiphon_shared.values import SessionId
from hypothesis import given
from hypothesis import strategies as st

MILLISECONDS = st.integers(min_value=0, max_value=2**48 - 1)
session_ids = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\Z")


@given(MILLISECONDS, st.integers(min_value=0, max_value=2**64 - 1))
def test_the_id_of_an_entry_is_a_uuid_of_version_7_with_its_time(milliseconds: int, sequence: int) -> None:
    entry = f"{milliseconds}-{sequence}"
    found = id_of_entry("antiphon:queries", entry)
    assert found.version == 7
    assert found.variant == "specified in RFC 4122"
    assert found.int >> 80 == milliseconds
    assert found == id_of_entry("antiphon:queries", entry)


def test_entries_differ_by_stream_and_by_sequence() -> None:
    ids = {id_of_entry(stream, f"1732190400000-{n}") for stream in ("a", "b") for n in range(1000)}
    assert len(ids) == 2000


@given(MILLISECONDS, MILLISECONDS)
def test_ids_of_entries_are_ordered_by_time(one: int, other: int) -> None:
    if one != other:
        early, late = sorted((one, other))
        assert id_of_entry("q", f"{early}-9") < id_of_entry("q", f"{late}-0")


def test_a_new_id_is_a_uuid_of_version_7_and_never_comes_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [1_732_190_400_000 + n // 10 for n in range(1000)]
    clock = iter(times)
    monkeypatch.setattr(time, "time_ns", lambda: next(clock, 0) * 1_000_000 + 999_999)
    ids = [new_id() for _ in times]
    assert len(set(ids)) == 1000
    assert {one.version for one in ids} == {7}
    assert [one.int >> 80 for one in ids] == times


def test_a_child_has_the_same_id_in_every_run() -> None:
    parent = id_of_entry("q", "1-1")
    assert [child_id(parent, n) for n in range(5)] == [child_id(parent, n) for n in range(5)]
    assert len({child_id(parent, n) for n in range(1000)} | {parent}) == 1001
    assert child_id(parent, 1) != child_id(child_id(parent, 1), 1)


def test_a_childs_id_is_written_down() -> None:
    """Recordings hold these: another derivation would make them unreadable to replay."""
    assert str(child_id(id_of_entry("q", "1-1"), 0)) == "7f717d7d-4eb4-55da-8874-4360cd1072d1"
    assert str(id_of_entry("q", "1-1")) == "00000000-0001-71f2-b8f2-fe557b688f7b"


def test_an_idempotency_key_names_one_effect() -> None:
    assert idempotency_key("acme", "s1", 2, "t1") == "acme/s1/2/t1"


@given(session_ids, session_ids, st.integers(1, 20), st.integers(1, 20), st.text(), st.text())
def test_no_two_calls_share_an_idempotency_key(
    session: SessionId, other_session: SessionId, round: int, other_round: int, call: str, other_call: str
) -> None:
    one, other = ("acme", session, round, call), ("acme", other_session, other_round, other_call)
    assert (idempotency_key(*one) == idempotency_key(*other)) is (one == other)


@given(session_ids, st.integers(1, 1024))
def test_a_session_keeps_its_partition(session: SessionId, partitions: int) -> None:
    assert 0 <= partition_of(session, partitions) < partitions
    assert partition_of(session, partitions) == partition_of(session, partitions)


@pytest.mark.parametrize(("session", "partition"), [("s1", 240), ("course-question-1", 211)])
def test_the_partition_is_the_crc_32_that_foreign_clients_compute(session: str, partition: int) -> None:
    assert partition_of(session, 1024) == partition


def test_sessions_spread_over_the_partitions() -> None:
    counts = [0] * 8
    for n in range(8000):
        counts[partition_of(f"session-{n}", 8)] += 1
    assert min(counts) > 700


def test_numbers_are_drawn_between_0_and_1() -> None:
    numbers = [random_fraction() for _ in range(1_000)]
    assert 0 <= min(numbers) < 0.1
    assert 0.9 < max(numbers) < 1
    assert len(set(numbers)) > 900
