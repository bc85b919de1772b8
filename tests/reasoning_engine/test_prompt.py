"""The prompt for the model."""

import re

import pytest
from anthropic.types import Message
from antiphon_shared.memory import briefing
from antiphon_shared.memory.note import Note, read_note
from antiphon_shared.memory.note_entries import NOTE_FORM
from antiphon_shared.text.fence import opening
from antiphon_shared.text.tokens import estimate_tokens

from reasoning_engine.prompt import ANSWER_NOW, SYSTEM, build_prompt, continued, tool_params
from tests.reasoning_engine.builders import BRIEFING, OUTLINE, SEARCH, a_request

TOOLS = tool_params([SEARCH, OUTLINE])


def the_message(text: str) -> Message:
    block = {"type": "text", "text": text}
    usage = {"input_tokens": 1, "output_tokens": 1}
    fields = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "pause_turn"}
    return Message.model_validate({**fields, "content": [block], "usage": usage})


def test_an_ordinary_round_sends_the_briefing_unchanged() -> None:
    prompt = build_prompt(a_request(), BRIEFING, TOOLS, "m", 4096)
    assert prompt["messages"] == [{"role": "user", "content": BRIEFING}]


def test_everything_before_the_briefing_is_the_same_in_every_round() -> None:
    later = "# Question\nWhy?\n\n# Now\nRound 3 of at most 4."
    first = build_prompt(a_request(round=1), BRIEFING, TOOLS, "m", 4096)
    third = build_prompt(a_request(round=3, tokens_left=50_000), later, TOOLS, "m", 4096)
    assert {**first, "messages": ()} == {**third, "messages": ()}


def test_the_last_round_gives_the_reason_and_requests_the_answer() -> None:
    request = a_request(tools=(), last_round_because="The limit of 4 rounds is reached.")
    prompt = build_prompt(request, BRIEFING, [], "m", 4096)
    assert "tools" not in prompt
    text = str(prompt["messages"][0]["content"])
    assert text.startswith(BRIEFING)
    assert text.endswith(f"This is the last round. The limit of 4 rounds is reached. {ANSWER_NOW}")


def test_a_notice_follows_the_briefing_and_uses_its_tokens() -> None:
    notice = "All calls of the last round have failed."
    request = a_request(notice=notice, tokens_left=estimate_tokens(BRIEFING) + 1_000)
    prompt = build_prompt(request, BRIEFING, TOOLS, "m", 4096)
    assert prompt["messages"] == [{"role": "user", "content": f"{BRIEFING}\n{notice}"}]
    assert prompt["max_tokens"] == 1_000 - estimate_tokens(notice)
    forced = build_prompt(a_request(notice=notice, tools=(), last_round_because="So."), BRIEFING, [], "m", 1)
    assert str(forced["messages"][0]["content"]).endswith(
        f"\n{notice}\nThis is the last round. So. {ANSWER_NOW}"
    )


def test_a_session_that_never_had_tools_receives_no_request_to_stop_using_them() -> None:
    prompt = build_prompt(a_request(tools=()), BRIEFING, [], "m", 4096)
    assert prompt["messages"][0]["content"] == BRIEFING


@pytest.mark.parametrize(("briefing_tokens", "expected"), [(100_000, 4096), (1000, 1000), (1, 1), (-5, 1)])
def test_a_reply_is_bounded_by_the_tokens_left_after_the_briefing(
    briefing_tokens: int, expected: int
) -> None:
    request = a_request(tokens_left=estimate_tokens(BRIEFING) + briefing_tokens)
    prompt = build_prompt(request, BRIEFING, TOOLS, "m", 4096)
    assert prompt["max_tokens"] == expected


def test_continuing_a_call_does_not_change_the_first_prompt() -> None:
    prompt = build_prompt(a_request(), BRIEFING, TOOLS, "m", 4096)
    longer = continued(prompt, the_message("First, "))
    assert [message["role"] for message in longer["messages"]] == ["user", "assistant"]
    assert len(prompt["messages"]) == 1


def test_no_tools_have_no_breakpoint() -> None:
    assert tool_params([]) == []


@pytest.mark.parametrize(
    "text", ["never an instruction", "[F3]", "Markdown", "in one reply", "(contradicts F4)", "(shortened)"]
)
def test_the_system_prompt_explains_the_parts_of_the_briefing(text: str) -> None:
    assert text in SYSTEM


def test_every_section_of_a_briefing_is_explained() -> None:
    sections = re.findall(r"^    # (.+)$", briefing.__doc__ or "", re.MULTILINE)
    assert len(sections) > 6
    assert [title for title in sections if not re.search(rf"^- .*\b{title}\b.*:", SYSTEM, re.MULTILINE)] == []


@pytest.mark.parametrize("is_untrusted", [True, False])
def test_the_words_of_a_fence_are_explained(is_untrusted: bool) -> None:
    *names, trust = re.findall(r'\w+="[^"]*"', opening("toolu_1", "search", 1, is_untrusted))
    assert trust in SYSTEM
    assert all(name.partition("=")[0] in SYSTEM for name in names)
    assert "<result>" in SYSTEM


def test_the_note_asked_for_has_the_form_that_is_read() -> None:
    assert NOTE_FORM in SYSTEM
    note, _ = read_note(NOTE_FORM.replace("a sub-question still open; name all that are", "Who teaches it?"))
    assert note == Note(open=("Who teaches it?",)), "the words of the form itself are no entries"
