"""Step records as bytes."""

from uuid import uuid4

import pytest
from antiphon_shared.events.step_records import (
    AnyRecord,
    AssemblyRecord,
    BatchRecord,
    BriefingRecord,
    DecisionRecord,
    ExchangeRecord,
    LeftOut,
    ModelCall,
    decode_record,
    encode_record,
)
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import ToolError

ID = uuid4()
RECORDS: tuple[AnyRecord, ...] = (
    DecisionRecord(of=ID, changed={"round": 2, "reasoning": None}, closes=True),
    BriefingRecord(of=ID, briefing_tokens=8_000, memory_bytes_max=4_000_000),
    ExchangeRecord(
        of=ID,
        calls=(ModelCall(request={"model": "m", "system": {"$content": "ab"}}, reply={"id": None}),),
        contents=("ab",),
        max_output_tokens=10,
        default_model="m",
    ),
    BatchRecord(
        of=ID,
        batch_concurrency=4,
        collapse_above=3,
        refused={1: ToolError(error_type="cancelled", message="No.", suggested_action="Wait.")},
        units=(("search", (0, 2)), ("pay", (1,))),
        begins=((0,), ()),
        ends=((0,),),
    ),
    AssemblyRecord(of=ID, missing=("7-0",)),
    LeftOut(of=ID, component="reasoning_engine", bytes=5_000_000),
)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.kind)
def test_a_record_is_decoded_unchanged_with_the_number_of_its_outputs(record: AnyRecord) -> None:
    assert decode_record(encode_record(record, 3)) == record.model_copy(update={"outputs": 3})


@pytest.mark.parametrize(
    "raw", [b"", b"{}", b'{"kind":"dance"}', b'{"kind":"decision","of":"x","changed":{}}']
)
def test_an_invalid_step_record_is_unreadable(raw: bytes) -> None:
    with pytest.raises(UnreadableEvent, match="step record"):
        decode_record(raw)
