"""The step's text in a briefing, and the room left for the rest."""

import pytest
from antiphon_shared.events import StepToBrief
from antiphon_shared.memory.briefing import Level
from antiphon_shared.output.steps import Step

from context_synthesizer.session_index import SessionIndex
from context_synthesizer.step import StepText, step_text
from tests.context_synthesizer.builders import Round, a_search, a_session
from tests.coordinator.builders import a_reply

STEPS = (
    Step(name="discovery", instructions="Find the harbour.", tools=("search",)),
    Step(name="booking", instructions="Book the berths.", tools=("book",)),
)
BERTHS = a_search("berths", ("Skagen", "Skagen has 14 berths."))


def a_step(input: str = "", instructions: str = "Book the berths.", begun: int = 2) -> StepText:
    """Return the second step, in its second round, whose input is the reply of the first."""
    asked = StepToBrief(number=2, attempt=1, begun=begun, input="1-1" if input else None)
    steps = (STEPS[0], STEPS[1].model_copy(update={"instructions": instructions}))
    return step_text(asked, begun + 1, steps, a_reply(input) if input else None)


def test_a_step_is_shown_the_facts_that_are_close_to_its_instructions_and_its_input() -> None:
    courses = [a_search(f"look {n}", ("", f"Ann teaches MCP in course {n}.")) for n in range(60)]
    berths = [a_search(f"find {n}", ("", f"The ferry has a berth at quay {n}.")) for n in range(15)]
    session = a_session(*(Round([one]) for one in (*berths, *courses)))
    asked, by_instructions, by_input = (
        session.session_index(700).briefing(99, 100, step=step)
        for step in (
            None,
            a_step(instructions="Book a ferry's berth.", begun=77),
            a_step("The ferry wants a berth.", instructions="Go on.", begun=77),
        )
    )
    assert asked.text.count("has a berth at quay") < 5
    for briefing in (by_instructions, by_input):
        assert briefing.text.count("has a berth at quay") == 15
        assert briefing.outline.omitted


def an_index(tokens_max: int = 8_000) -> SessionIndex:
    session = a_session(Round([BERTHS]), Round([a_search("depth", ("Depth", "Skagen is 7 metres deep."))]))
    return session.session_index(tokens_max)


@pytest.mark.parametrize("level", ["full", "simplified", "minimal"])
@pytest.mark.parametrize("tokens_max", [900, 8_000])
@pytest.mark.parametrize("share", [0.5, 0.99, 2])
def test_tool_results_are_shown_with_a_step_of_any_length(
    level: Level, tokens_max: int, share: float
) -> None:
    long = "berth " * int(tokens_max * share)
    briefing = an_index(tokens_max).briefing(3, 10, level, a_step(long))
    assert long.strip() in briefing.text
    assert "Skagen is 7 metres deep." in briefing.text
    assert "Step 2 of 2, attempt 1 of 3: round 2 of at most 10." in briefing.text
