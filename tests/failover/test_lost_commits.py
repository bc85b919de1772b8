"""A replica that is behind becomes the master: acknowledged steps are lost, and repeated without harm."""

from pathlib import Path

import pytest
from antiphon_shared.events import ToolsCompleted

from tests.failover.pipeline import ANSWER, BOTH, Writing, writing
from tests.failover.servers import ask, cluster, hold_back, is_following, until
from tests.messages_server import Scripted, Use

pytestmark = pytest.mark.chaos


def test_identical_calls_stay_single_after_a_lagging_replica_is_promoted(tmp_path: Path) -> None:
    """The model is asked again and names the same calls: one tool honours keys, the other can be reconciled."""
    replied, lost = tmp_path / "replied", tmp_path / "lost"
    again = tuple(Use(name=use.name, input=use.input, id=f"again_{n}") for n, use in enumerate(BOTH))
    script = [
        Scripted(when="Round 1 of", uses=BOTH, waits_for=str(replied)),
        Scripted(when="Round 1 of", uses=again, repeat=True, waits_for=str(lost)),
        Scripted(text=ANSWER, repeat=True),
    ]
    with cluster() as servers, writing(servers, {}, script) as five:
        session_id = "s1"
        master, replica = servers.pair_of(five.keys.log(session_id))
        five.submit("Do it.", session_id=session_id)
        five.until(lambda: five.model.under_way() == 1, "the model to be asked")
        until(lambda: _offset(replica) >= _offset(master), "the replica to know that")
        hold_back(replica, master)
        until(lambda: not is_following(replica), "the replica to be held back")
        replied.touch()
        five.until(lambda: len(five.effects()) == len(BOTH), "the writes to take effect")
        five.until(lambda: _has_settled(five, session_id), "the results to be committed")
        master.kill()
        ask(replica, "CLUSTER", "FAILOVER", "TAKEOVER")
        servers.until_promoted(replica)
        assert not _has_settled(five, session_id), "the replica was not behind"
        lost.touch()
        response = five.response_to(session_id)
        assert (response.status, response.termination_reason) == ("complete", "natural_completion")
        assert sorted(key.split()[0] for key in five.effects().elements()) == ["book", "post"], five.effects()


def _offset(server: object) -> int:
    return int(ask(server, "INFO", "replication")["master_repl_offset"])  # type: ignore[arg-type]  # a server or a node: both are asked alike


def _has_settled(five: Writing, session_id: str) -> bool:
    return bool(five.events(session_id, ToolsCompleted))
