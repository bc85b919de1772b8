"""The reading of every form of an answer, an address, a fault and a placeholder: every_form.json.

After an intended change, run `python -m tests.shared.test_every_form`, and review the output.
"""

from pathlib import Path

from antiphon_shared.breakers import table
from antiphon_shared.bus import address
from antiphon_shared.faults import plan
from antiphon_shared.output import reading, step_file
from antiphon_shared.tools import placeholders

from tests.kept_forms import Reader, differences, readers_of, write
from tests.rows import each_row

KEPT = Path(__file__).with_name("every_form.json")
_ADDRESSES = (
    "redis://host",
    "redis://host:6380/3",
    "rediss://user:word@host:1",
    "redis://[::1]:7",
    "unix:///tmp/redis",
    "redis+sentinel://a:1,b/main",
    "rediss+sentinel://a/main/2",
    "redis://host/x",
    "redis://host:0",
    "redis://host:65536",
    "http://host",
    "host",
    "redis://",
    "redis://host?db=2",
    "redis://host/2?x=1",
    "redis-cluster://a,b:2",
)
_ANSWERS = (
    '{"a": 1}',
    '```json\n{"a": 1}\n```',
    "```\n[1]\n```",
    "Here it is: {} and more",
    "[1, 2",
    "nothing",
    "12",
    '"text"',
    "~~~json\n{}\n~~~",
    '{"a": NaN}',
    '```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```',
)
_FAULTS = (
    "a.b:raise@1",
    "a.b:raise@1-3",
    "a.b:hang@2",
    "a.b:kill",
    "a.b:kill@0",
    "a.b:what@1",
    "a.b",
    "a.b:raise@3-1",
    ",",
    "a.b:raise@x",
)

READERS = (
    Reader("parse", address.parse, (address,), _ADDRESSES),
    Reader("read_answer", reading.read_answer, (reading,), _ANSWERS),
    Reader("value_of", reading.value_of, (reading,), _ANSWERS),
    Reader("read_faults", plan.read_faults, (plan,), _FAULTS),
    *readers_of(step_file, "read_steps"),
    *readers_of(placeholders, "parse_placeholder"),
    *readers_of(table, "is_name", "tool_breaker", "model_breaker"),
)


@each_row("reader", READERS, ids=str)
def test_the_reading_of_every_form_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
