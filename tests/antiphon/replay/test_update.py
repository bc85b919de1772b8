"""A recording as today's code would have written it."""

from pathlib import Path

import pytest
from antiphon_shared.events import EventData, ReasoningRequested, ResponseReady, ToolsCompleted
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording import hashes
from antiphon.recording.lines import ContentLine, EventLine, Header, Line, encode_line
from antiphon.replay.rewriting import rewritten
from antiphon.replay.update import DecidesDifferently, updated
from antiphon.replay.verify import verify, verify_lines
from coordinator import fallbacks, limits
from reasoning_engine import prompt
from tests.antiphon.recording.changed import with_event, with_words, written
from tests.antiphon.recording.recorded import end, events


def _first(lines: list[Line], kind: type[EventData]) -> EventLine:
    return next(line for line in events(lines) if isinstance(line.event.data, kind))


def test_a_recording_of_todays_code_stays_byte_for_byte(courses_lines: list[Line]) -> None:
    assert list(map(encode_line, updated(courses_lines))) == list(map(encode_line, courses_lines))


def test_changed_texts_of_the_coordinator_are_updated_in_events_and_prompts(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fallbacks, "notice", lambda *_: "Hurry, said the coordinator.")
    assert not verify_lines(courses_lines).is_same
    today = list(updated(courses_lines))
    report = verify_lines(today)
    assert report.is_same, report.first
    assert not report.unchecked
    asked = [line.event.data for line in events(today) if isinstance(line.event.data, ReasoningRequested)]
    assert {data.notice for data in asked} == {"Hurry, said the coordinator."}
    assert sum(b"Hurry, said" in encode_line(line) for line in today) == 2 * len(asked)


def test_another_system_prompt_is_in_requests_contents_and_header(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt, "_SYSTEM", [{"type": "text", "text": "Be brief."}])
    monkeypatch.setattr(hashes, "prompt_hashes", lambda: {"reason": "other"})
    monkeypatch.setattr("antiphon.replay.update.prompt_hashes", lambda: {"reason": "other"})
    assert not verify_lines(courses_lines).is_same
    today = list(updated(courses_lines))
    report = verify_lines(today)
    assert report.is_same, report.first
    assert isinstance(today[0], Header)
    assert today[0].prompts == {"reason": "other"}
    contents = [line.content for line in today if isinstance(line, ContentLine)]
    assert [{"type": "text", "text": "Be brief."}] in contents
    assert len(contents) == 2, "the old prompt is named no more"


@pytest.mark.parametrize("words", ["Payments Engineering", "idempotency key", "Designing Web APIs"])
def test_text_replaced_in_inputs_is_carried_through_to_the_answer(
    courses_lines: list[Line], words: str
) -> None:
    changed = with_words(courses_lines, words, "[redacted]")
    assert not verify_lines(changed).is_same, "the digests of briefings at least"
    today = list(updated(changed))
    report = verify_lines(today)
    assert report.is_same, report.first
    assert not report.unchecked
    assert report.answer == "same"


def test_a_word_replaced_in_one_result_alone_reaches_the_sources_of_the_answer(
    courses_lines: list[Line],
) -> None:
    def change(data: ToolsCompleted) -> ToolsCompleted:
        (result,) = data.results
        outline = result.data | {"description": "A description without an author."}
        return data.model_copy(update={"results": (result.model_copy(update={"data": outline}),)})

    today = list(updated(with_event(courses_lines, ToolsCompleted, change)))
    assert verify_lines(today).is_same
    requests = [line for line in today if b"without an author" in encode_line(line)]
    assert len(requests) == 3, "the result itself, and the prompts of two rounds"


def test_a_request_that_only_todays_code_sends_has_no_recorded_answer(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "last_round_reason", lambda *_: "max_rounds_reached")
    with pytest.raises(
        DecidesDifferently, match=r"at event 6: it sends antiphon\.assembly\.requested\.v1"
    ) as caught:
        list(updated(courses_lines))
    assert caught.value.event == 6
    assert "fork" in caught.value.hint


def test_a_call_by_another_name_has_no_recorded_result(courses_lines: list[Line]) -> None:
    asked = _first(courses_lines, ToolsCompleted).n - 2  # the reply that asks for it
    changed: list[Line] = []
    for line in courses_lines:
        is_asked_for = isinstance(line, EventLine) and line.n == asked + 1
        changed += with_words([line], '"name":"get_course_outline"', '"name":"x"') if is_asked_for else [line]
    with pytest.raises(DecidesDifferently, match=f"at event {asked}: .*makes another request"):
        list(updated(changed))


def test_a_recording_that_was_cut_off_is_not_updated(courses_lines: list[Line]) -> None:
    with pytest.raises(UnreadableEvent, match="is incomplete"):
        list(updated(line for line in courses_lines if line is not end(courses_lines)))


def test_a_file_is_rewritten_under_another_name_and_then_replaced_at_once(
    courses_lines: list[Line], tmp_path: Path
) -> None:
    path = written(with_words(courses_lines, '"notice":""', '"notice":"Hurry."'), tmp_path / "a.jsonl.gz")
    path.chmod(0o640)
    before = path.read_bytes()
    new = rewritten(path)
    assert new is not None
    assert new.report.is_same
    assert path.read_bytes() == before
    assert new.new.name.startswith(".")
    new.take()
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl.gz"]
    assert path.stat().st_mode & 0o777 == 0o640
    assert verify(path).is_same
    assert rewritten(path) is None


def test_a_failed_update_leaves_no_temporary_file(courses_lines: list[Line], tmp_path: Path) -> None:
    path = written(courses_lines[:-1], tmp_path / "a.jsonl")
    with pytest.raises(UnreadableEvent):
        rewritten(path)
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]


def test_the_answer_of_an_updated_recording_is_today_s(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shout(data: ResponseReady) -> ResponseReady:
        return data.model_copy(update={"answer": data.answer.upper()})

    other = with_event(courses_lines, ResponseReady, shout)
    assert verify_lines(other).answer == "different"
    assert _first(list(updated(other)), ResponseReady) == _first(courses_lines, ResponseReady)
