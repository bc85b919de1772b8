"""Five processes of an earlier release are replaced one by one by ours, in the middle of sessions with writes."""

from collections import Counter
from pathlib import Path

from antiphon_shared.events.base import COMPONENTS
from antiphon_shared.formats import FORMAT

from tests.flows.promises import assert_each_answered_once, assert_whole
from tests.releases.mixed_pipeline import MixedPipeline, mixed_pipeline
from tests.releases.trees import earlier_tree

SESSIONS = 50
GRACE_S = 60.0


def test_sessions_survive_a_rolling_restart_from_an_earlier_release(tmp_path: Path) -> None:
    """At each component a worker of either release is killed at work, so that either takes over from the other."""
    (tmp_path / "earlier").mkdir()
    earlier = earlier_tree(tmp_path / "earlier")
    with mixed_pipeline(tmp_path) as five:
        five.start_from(earlier)
        five.ask(SESSIONS)
        five.until(lambda: bool(five.charges()), "the first writes")
        for n, component in enumerate(COMPONENTS):
            ours = f"{component}-2"
            five.start_ours(ours)
            five.kill_at_work(ours)
            five.start_ours(ours)
            if n % 2:
                five.kill_at_work(component)
            else:
                assert five.terminate(component, GRACE_S) == 0
        five.wait_for_responses(len(five.sessions))
        assert_promises_kept(five)
        assert {format for session in five.sessions for format in five.formats(session)} == {FORMAT - 1}

        five.forget_the_dead()
        five.until(lambda: opens_in_today_s_format(five), "a session of today's format")
        assert_promises_kept(five)


def opens_in_today_s_format(five: MixedPipeline) -> bool:
    five.ask(1)
    newest = five.sessions[-1]
    five.response_to(newest)
    return five.formats(newest) == {FORMAT}


def assert_promises_kept(five: MixedPipeline) -> None:
    """Check for one answer to each query, without failures; each write once; nothing left over, no dead letter."""
    five.wait_until_idle()
    assert_each_answered_once(five.responses(), five.sessions)
    statuses = Counter((response.status, response.termination_reason) for response in five.responses())
    assert set(statuses) == {("complete", "natural_completion")}, statuses
    for session in five.sessions:
        assert_whole(five.log(session))
    assert five.charges() == {(session, amount): 1 for session in five.sessions for amount in (1, 2)}
