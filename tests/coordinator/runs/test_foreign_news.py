"""News of sessions that are not those that a run has begun."""

from antiphon_shared.events import ChildEnded

from tests.coordinator.runs.live import Live, a_pinned
from tests.coordinator.workflows.world import a_plan


def test_the_end_of_another_session_is_not_an_answer_to_a_question_of_a_run() -> None:
    live = Live(a_pinned(a_plan({"ask": {"type": "reason", "question": "Which?"}}))).begin()
    ended = live.answer_to(1)
    assert isinstance(ended, ChildEnded)
    foreign = ended.response.model_copy(update={"session_id": "s2"})
    assert live.happens(ended.model_copy(update={"response": foreign})) is None
    assert live.happens(ended) is not None
