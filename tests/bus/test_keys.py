"""Every key of one commit lives in one slot."""

import pytest
from antiphon_shared.bus.keys import Keys
from antiphon_shared.events import COMPONENTS
from redis.crc import key_slot


@pytest.mark.parametrize("session_id", ["s1", "a:b.c-d_e", "x" * 128, "7"])
def test_all_keys_of_a_partition_and_of_its_sessions_share_a_slot(session_id: str) -> None:
    keys = Keys("antiphon", partitions=7)
    partition = keys.partition(session_id)
    together = [
        *(keys.inbox(partition, component) for component in COMPONENTS),
        keys.timers(partition),
        keys.timer_messages(partition),
        keys.dead(partition),
        keys.responses(partition),
        keys.feed(partition),
        keys.open_sessions(partition),
        keys.queries_waiting(partition),
        keys.tenants_waiting(partition),
        keys.waiting(partition, "acme"),
        keys.waiting_deadlines(partition),
        keys.turns(partition),
        keys.sessions(partition),
        keys.log(session_id),
        keys.deltas(session_id),
        *(keys.of_session(session_id, name) for name in ("state", "memory", "response", "batch/1")),
    ]
    assert {key_slot(key.encode()) for key in together} == {key_slot(str(partition).encode())}
    assert len(set(together)) == len(together)


def test_the_marker_of_a_rejection_is_in_the_slot_of_the_rejections() -> None:
    keys = Keys("antiphon", partitions=1)
    assert key_slot(keys.rejection("1-1").encode()) == key_slot(keys.rejected().encode())


def test_the_public_keys_match_the_contract() -> None:
    keys = Keys("antiphon", partitions=1)
    assert keys.queries() == "antiphon:queries"
    assert keys.rejected() == "antiphon:queries:rejected"
    assert keys.responses(0) == "antiphon:{0}:responses"
    assert keys.feed(0) == "antiphon:{0}:events"
    assert keys.inbox(0, "coordinator") == "antiphon:{0}:inbox:coordinator"
    assert keys.log("s1") == "antiphon:{0}:session:s1:events"
