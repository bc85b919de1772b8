"""Exchange records as differences, which restore exactly the same record or raise an error."""

from uuid import UUID, uuid4

import pytest
from antiphon_shared.events.record_differences import Base, RecordReader, bases_in, difference
from antiphon_shared.events.step_records import (
    AnyRecord,
    BriefingRecord,
    ExchangeRecord,
    ModelCall,
    decode_record,
    encode_record,
)
from antiphon_shared.process.errors import UnreadableEvent
from hypothesis import given
from hypothesis import strategies as st

A_LINE = st.text(max_size=40) | st.sampled_from(
    ["", "F1 It is, as it was.", 'a "b", \\n c', "é\\ud", "\0,\n,"]
)
REPEATED = "\n".join(f"F{n} It stands in every prompt, for the {n}th time." for n in range(50))
"""A text that makes a record large enough for a difference."""
PROMPTS = st.lists(st.lists(A_LINE, max_size=12).map("\n".join), min_size=1, max_size=8)


def an_exchange(prompt: str, of: UUID | None = None, reply: str = "Yes.") -> ExchangeRecord:
    request = {
        "model": "m",
        "system": {"$content": "ab"},
        "messages": [{"role": "user", "content": prompt}],
    }
    return ExchangeRecord(
        of=of or uuid4(),
        calls=(ModelCall(request=request, reply={"content": [{"type": "text", "text": reply}]}),),
        contents=("ab",),
        max_output_tokens=4_096,
        default_model="m",
    )


def whole(record: AnyRecord) -> bytes:
    return encode_record(record, 1)


def stored(records: list[ExchangeRecord]) -> list[bytes]:
    """Return the records as a session stores them, one after the other."""
    found: list[bytes] = []
    base: Base | None = None
    for record in records:
        raw = whole(record)
        shorter = None if base is None else difference(record.of, raw, base)
        if base is None or shorter is None:
            found.append(raw)
            base = Base.of_record(record, raw)
        else:
            found.append(encode_record(shorter[0], 1))
            base = base.following(record, raw, shorter[1])
    return found


def growing(rounds: int) -> list[ExchangeRecord]:
    """Return records whose prompts have a line more in each round."""
    lines = [f"- round {n}: The search number {n} found nothing, so try the next." for n in range(rounds)]
    return [
        an_exchange("\n".join(["# Question", REPEATED, *lines[:n], "# Now", f"Round {n}."]))
        for n in range(rounds)
    ]


@given(PROMPTS)
def test_any_sequence_of_prompts_comes_back_exactly(prompts: list[str]) -> None:
    records = [an_exchange(f"{REPEATED}\n{prompt}\n{REPEATED}") for prompt in prompts]
    reader = RecordReader()
    read = [reader.read(one) for one in stored(records)]
    assert [raw for _, raw in read] == list(map(whole, records))
    assert [record for record, _ in read] == [decode_record(whole(record)) for record in records]


@given(st.lists(A_LINE, max_size=30), st.lists(A_LINE, max_size=30))
def test_a_difference_from_any_prompt_comes_back_exactly(first: list[str], second: list[str]) -> None:
    """A second prompt with most of the first in another order is covered too."""
    kept = ["F7 It stands in both, at length, so that it is worth a reference."] * 3 + [REPEATED]
    records = [
        an_exchange("\n".join([*first, *kept])),
        an_exchange("\n".join([*kept, *second, *first, *kept])),
    ]
    reader = RecordReader()
    assert [reader.read(one)[1] for one in stored(records)] == list(map(whole, records))


def test_the_storage_of_growing_prompts_is_linear_in_their_number() -> None:
    """A difference is as large late as early, and the whole records take at most a third of the differences' room."""
    found = stored(growing(600))
    is_whole = [one.startswith(b'{"kind":"exchange"') for one in found]
    differences = [len(one) for one, whole in zip(found, is_whole, strict=True) if not whole]
    assert sum(differences[-100:]) < 1.1 * sum(differences[:100])
    _, *later = [len(one) for one, whole in zip(found, is_whole, strict=True) if whole]
    assert later
    assert sum(later) <= sum(differences) / 3


def test_a_record_with_another_prompt_is_stored_whole() -> None:
    records = [an_exchange("\n".join(f"{name} {n}" for n in range(400))) for name in ("one", "two")]
    assert stored(records) == list(map(whole, records))


def test_a_small_record_is_stored_whole() -> None:
    records = [an_exchange("# Question\nWhy?" + "\nThe same." * 50) for _ in range(3)]
    assert stored(records) == list(map(whole, records))


def test_records_of_other_kinds_and_earlier_formats_are_read_unchanged() -> None:
    briefing = BriefingRecord(of=uuid4(), briefing_tokens=8_000, memory_bytes_max=4_000_000)
    reader = RecordReader()
    for raw in (whole(briefing), *map(whole, growing(20))):
        assert reader.read(raw) == (decode_record(raw), raw)


def test_a_difference_whose_base_is_missing_is_unreadable() -> None:
    found = stored(growing(4))
    reader = RecordReader()
    reader.read(found[0])
    with pytest.raises(UnreadableEvent, match=r"is a difference from that of .*, which is missing"):
        reader.read(found[3])


def test_a_difference_from_another_record_of_the_same_event_is_unreadable() -> None:
    first, second, *_ = growing(9)[7:]
    shorter = stored([first, second])[1]
    reader = RecordReader()
    reader.read(whole(an_exchange("Another prompt, of the same event.", of=first.of)))
    with pytest.raises(UnreadableEvent, match="does not fit"):
        reader.read(shorter)


def test_a_difference_that_has_been_changed_is_unreadable() -> None:
    found = stored(growing(9))
    reader = RecordReader()
    for one in found[:-1]:
        reader.read(one)
    assert b"Round 8" in found[-1]
    with pytest.raises(UnreadableEvent, match="does not fit"):
        reader.read(found[-1].replace(b"Round 8", b"Round 9"))


def test_the_newest_records_have_bases_if_a_whole_one_is_among_them() -> None:
    records = growing(9)
    found = stored(records)
    last_whole = max(n for n, one in enumerate(found) if one.startswith(b'{"kind":"exchange"'))
    assert bases_in(found[last_whole:])[-1].raw == whole(records[-1])
    assert bases_in(found[last_whole + 1 :]) == []
    assert bases_in([b'{"kind":"exchange","of":1}', b"no record"]) == []
