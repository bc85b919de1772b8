"""The record of a round is stored as a difference from the round before, if every reader can restore it."""

from uuid import UUID, uuid4

from antiphon_shared.bus.handling import RECORDS
from antiphon_shared.events import AnyEvent
from antiphon_shared.events.record_differences import RECORD_BYTES_MIN, RecordReader
from antiphon_shared.events.step_records import BriefingRecord, ExchangeRecord, StepRecord, encode_record
from redis.exceptions import ConnectionError

from reasoning_engine.exchange_differences import ExchangeDifferences
from tests.fakes import FakeSession
from tests.reasoning_engine.builders import a_request
from tests.shared.events.examples import an_event
from tests.shared.events.test_record_differences import an_exchange

LIMIT = 100_000
CORRELATION = uuid4()


class Store(FakeSession):
    """A session that counts the reads of its records."""

    reads = 0

    async def items(self, name: str, start: int = 0) -> list[bytes]:
        self.reads += 1
        return await super().items(name, start)

    def commit(self, record: StepRecord) -> None:
        self.lists.setdefault(RECORDS, []).append(encode_record(record, 1))

    def read(self) -> list[bytes]:
        """Return the records, whole."""
        reader = RecordReader()
        return [reader.read(one)[1] for one in self.lists[RECORDS]]


def a_prompt(round: int, topic: str = "lamps") -> str:
    lines = [
        f"- round {n}: search {topic} {n} -> ok: F{n} and some more of {topic}" for n in range(40 + round)
    ]
    return "\n".join(["# Question", *lines, f"Round {round}."])


def the_event(
    round: int, format: int = 6, session_id: str = "s1", correlation: UUID = CORRELATION
) -> AnyEvent:
    event = an_event(a_request(round=round))
    return event.model_copy(
        update={"format": format, "subject": session_id, "correlationid": correlation, "id": uuid4()}
    )


async def run(
    engine: ExchangeDifferences,
    session: Store,
    round: int,
    *,
    is_committed: bool = True,
    record: ExchangeRecord | None = None,
    **event: object,
) -> tuple[str, bytes]:
    """Handle a round; return the kind of its stored record, and the record as it is whole."""
    asked = the_event(round, **event)  # type: ignore[arg-type]  # format, session and correlation
    record = record or an_exchange(a_prompt(round), asked.id)
    stored, remember = await engine.stored(record, asked, round, session)
    if is_committed:
        session.commit(stored)
        if remember is not None:
            remember()
    kind: str = stored.kind  # type: ignore[attr-defined]  # every record but the base class has one
    return kind, encode_record(record, 1)


async def test_each_round_after_the_first_is_a_difference_and_reads_nothing() -> None:
    engine, session = ExchangeDifferences(LIMIT), Store()
    found = [await run(engine, session, n) for n in (1, 2, 3)]
    assert [kind for kind, _ in found] == ["exchange", "difference", "difference"]
    assert session.read() == [raw for _, raw in found]
    assert session.reads == 0


async def test_sessions_of_an_earlier_format_keep_whole_records() -> None:
    engine, session = ExchangeDifferences(LIMIT), Store()
    assert [(await run(engine, session, n, format=5))[0] for n in (1, 2)] == ["exchange", "exchange"]


async def test_another_process_continues_from_the_stored_records() -> None:
    """A process can also resume after rounds of another process."""
    first, second, session = ExchangeDifferences(LIMIT), ExchangeDifferences(LIMIT), Store()
    engines = (first, second, second, first, second)
    found = [await run(engine, session, n) for n, engine in enumerate(engines, start=1)]
    assert [kind for kind, _ in found] == ["exchange", *["difference"] * 4]
    assert session.read() == [raw for _, raw in found]
    assert session.reads == 3


async def test_a_record_that_was_not_committed_is_not_a_base() -> None:
    engine, session = ExchangeDifferences(LIMIT), Store()
    found = [await run(engine, session, 1)]
    await run(engine, session, 2, is_committed=False)
    found.append(await run(ExchangeDifferences(LIMIT), session, 2))
    found.append(await run(engine, session, 3))
    assert [kind for kind, _ in found] == ["exchange", "difference", "difference"]
    assert session.read() == [raw for _, raw in found]


async def test_a_round_that_is_repeated_refers_to_its_first_attempt() -> None:
    engine, session = ExchangeDifferences(LIMIT), Store()
    found = [await run(engine, session, n) for n in (1, 2, 2, 3)]
    assert [kind for kind, _ in found] == ["exchange", "difference", "difference", "difference"]
    assert session.read() == [raw for _, raw in found]


async def test_without_the_records_of_the_rounds_before_a_record_is_whole() -> None:
    session = Store()
    assert (await run(ExchangeDifferences(LIMIT), session, 5))[0] == "exchange"
    assert session.reads == 1


async def test_a_record_that_the_bus_leaves_out_is_not_a_base() -> None:
    engine, session = ExchangeDifferences(record_bytes_max=8_000), Store()
    found = [await run(engine, session, 1)]
    huge = an_exchange(a_prompt(2) + "x" * 8_000)
    stored, remember = await engine.stored(huge, the_event(2), 2, session)
    assert (stored, remember) == (huge, None)
    found.append(await run(engine, session, 3))
    assert [kind for kind, _ in found] == ["exchange", "difference"]
    assert session.read() == [raw for _, raw in found]


async def test_a_summary_is_not_a_base() -> None:
    session = Store()
    found = [await run(ExchangeDifferences(LIMIT), session, 1)]
    summary = an_exchange("To summarize: " + a_prompt(1, "other")).model_copy(update={"contents": ("cd",)})
    session.commit(summary)
    session.commit(BriefingRecord(of=uuid4(), briefing_tokens=1, memory_bytes_max=1))
    kind, raw = await run(ExchangeDifferences(LIMIT), session, 2)
    assert kind == "difference"
    assert session.read()[-1] == raw
    assert found[0][1] == session.read()[0]


async def test_an_exchange_without_a_call_is_stored_whole() -> None:
    engine, session = ExchangeDifferences(LIMIT), Store()
    record = an_exchange("").model_copy(update={"calls": ()})
    assert await engine.stored(record, the_event(1), 1, session) == (record, None)


async def test_sessions_that_came_of_one_query_have_each_their_own_bases() -> None:
    """The sessions of a run share the id of its query, and run at the same time."""
    engine, one, other = ExchangeDifferences(LIMIT), Store(), Store("s2")
    found = []
    for n in (1, 2):
        for session in (one, other):
            record = an_exchange(a_prompt(n, topic=session.session_id), uuid4())
            found.append(await run(engine, session, n, record=record, session_id=session.session_id))
    assert one.read() + other.read() == [found[n][1] for n in (0, 2, 1, 3)]


async def test_a_later_session_of_the_same_id_starts_a_new_chain() -> None:
    engine, session = ExchangeDifferences(LIMIT), Store()
    await run(engine, session, 1)
    kind, raw = await run(engine, later := Store(), 2, correlation=uuid4())
    assert (kind, later.read()) == ("exchange", [raw])


async def test_the_memory_for_earlier_exchanges_is_bounded() -> None:
    engine = ExchangeDifferences(10_000_000)
    for n in range(12):
        session = Store(f"s{n}")
        record = an_exchange("x" * 1_000_000, uuid4())
        await run(engine, session, 1, record=record, session_id=session.session_id)
    assert len(engine._newest) < 4
    assert engine._bytes == sum(len(base.raw) for _, base in engine._newest.values())


async def test_a_record_is_written_whole_while_redis_is_away() -> None:
    """The model has replied: a retry of the round would ask it again."""

    class Away(Store):
        async def items(self, name: str, start: int = 0) -> list[bytes]:
            raise ConnectionError("away")

    assert (await run(ExchangeDifferences(LIMIT), Away(), 2))[0] == "exchange"


async def test_after_an_interruption_the_base_is_the_record_still_in_redis() -> None:
    """A restarted Redis may have lost the commit of the previous round, which another engine then repeated."""
    interruptions = 0
    engine, session = ExchangeDifferences(LIMIT, lambda: interruptions), Store()
    found = [await run(engine, session, 1)]
    await run(engine, session, 2)
    del session.lists[RECORDS][1:]
    interruptions = 1
    found.append(await run(ExchangeDifferences(LIMIT), session, 2))
    found.append(await run(engine, session, 3))
    assert [kind for kind, _ in found] == ["exchange", "difference", "difference"]
    assert session.read() == [raw for _, raw in found]


async def test_a_small_record_is_whole_and_reads_nothing() -> None:
    session, asked = Store(), the_event(2)
    record = an_exchange("Round 2.", asked.id)
    assert len(encode_record(record, 1)) < RECORD_BYTES_MIN
    assert (await run(ExchangeDifferences(LIMIT), session, 2, record=record))[0] == "exchange"
    assert session.reads == 0


async def test_a_prompt_of_very_many_pieces_is_whole() -> None:
    engine, session = ExchangeDifferences(LIMIT), Store()
    for round in (1, 2):
        record = an_exchange("d," * 25_000 + f"Round {round}.", uuid4())
        assert (await run(engine, session, round, record=record))[0] == "exchange"
