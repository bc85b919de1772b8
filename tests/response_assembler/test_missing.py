"""The gaps of an answer, the reasons, and the next steps."""

from collections.abc import Sequence

from antiphon_shared.events.session import TerminationReason, Uncertainty
from antiphon_shared.memory.note import Note
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.tools.relevance import FIND_TOOLS

from response_assembler.closeness import grouped
from response_assembler.missing import Gaps, missing_section, next_section
from tests.response_assembler.builders import a_document, a_memory, a_use


def gaps(memory: Memory, uncertainties: Sequence[Uncertainty] = (), reported: Sequence[str] = ()) -> Gaps:
    return Gaps(memory, grouped(memory, reported), (), uncertainties)


def missing(memory: Memory, *uncertainties: Uncertainty, reported: Sequence[str] = ()) -> list[str]:
    return [line[2:] for line in missing_section(gaps(memory, uncertainties, reported)).split("\n")[2:]]


def steps(
    memory: Memory, reason: TerminationReason = "natural_completion", *uncertainties: Uncertainty
) -> list[str]:
    return [
        line.removeprefix("- ") for line in next_section(gaps(memory, uncertainties), reason).split("\n")[2:]
    ]


def test_an_open_question_lists_the_searches_made_for_it() -> None:
    memory = a_memory(
        a_use(query="tea price in May"),
        a_use(query="tea price", call_id="u2"),
        a_use("lookup", arguments={"word": "coffee"}),
        Note(open=("What is the price of tea?", "Who drinks it?")),
    )
    assert missing(memory) == [
        "“What is the price of tea?”: nothing was found. Already searched: “tea price in May” with `search`, "
        "“tea price” with `search`.",
        "“Who drinks it?” had not been looked up yet.",
        "`lookup` found nothing for “word: coffee”.",
    ]
    assert steps(memory)[1:] == [
        "Ask “What is the price of tea?” in other words, or name where it can be found.",
        "Ask “Who drinks it?” by itself.",
    ]


def test_questions_with_a_note_are_reported_together() -> None:
    memory = a_memory(
        a_document("Tea", "Tea has a price.", "Tea is grown."),
        Note(open=("What is its price?", "Where is it grown?")),
    )
    notes = [
        "An answer to “What is its price?” and “Where is it grown?” that I could stand by; what is said above may "
        "not settle it."
    ]
    assert missing(memory) == notes
    assert missing(memory, reported=("F1", "F2")) == notes
    assert steps(memory) == ["Ask again, in other words if you can."]


def test_the_query_itself_is_not_reported_as_missing() -> None:
    assert missing_section(gaps(a_memory(query="Why?"))) == ""


def test_searches_without_results_are_reported_together_and_built_in_tools_never() -> None:
    uses = [a_use(query=f"tea {n}", call_id=f"u{n}") for n in range(6)]
    memory = a_memory(*uses, a_use(FIND_TOOLS, query="tools"), query="What?")
    assert missing(memory) == ["`search` found nothing for “tea 0”, “tea 1”, “tea 2”, “tea 3” and 2 more."]
    assert steps(memory)[1].startswith("Name what you look for in other words")


def test_a_write_of_unknown_outcome_is_to_be_checked_before_anything_else() -> None:
    memory = a_memory(a_use("book", "outcome_unknown", arguments={"room": "A *1*"}))
    assert missing(memory) == [
        "Whether `book` (room: A \\*1\\*) took effect is unknown; check before doing it again."
    ]
    assert steps(memory, "deadline_exceeded")[0] == "Check first whether `book` took effect."


def test_each_failure_has_its_own_next_step() -> None:
    memory = a_memory(
        a_use("a", "permission_denied", message="No. Do not try again.", what_happened="No."),
        a_use("b", "rate_limit"),
        a_use("c", "timeout"),
        a_use("d", "validation_error"),
    )
    assert missing(memory) == [
        "`a` failed: No.", "`b` failed: rate_limit", "`c` failed: timeout", "`d` failed: validation_error"
    ]  # fmt: skip  # one line reads better
    assert [step.split(" ", 1)[0] for step in steps(memory, "all_tools_failed")] == [
        "Correct",
        "`a`",
        "`b`",
        "`c`",
    ]


def test_lost_facts_and_gaps_known_to_the_coordinator_are_reported() -> None:
    memory = a_memory(a_document("Why", "Why not."), a_use(facts=("F1",), facts_lost=7))
    waiting = Uncertainty(kind="approval_missing", message="`book` waited for [a] person.")
    failed = Uncertainty(kind="model_failed", message="Told elsewhere.")
    assert missing(memory, waiting, failed) == [
        "7 facts were found but not kept, because the session's memory was full.",
        "'book' waited for \\[a\\] person.",
    ]
    assert [step.split(" ", 1)[0] for step in steps(memory, "deadline_exceeded", waiting)] == [
        "Ask", "Approve", "Ask"
    ]  # fmt: skip  # one line reads better


def test_a_long_list_is_cut_and_counted() -> None:
    memory = a_memory(*(a_use(f"t{n}", "timeout") for n in range(20)))
    assert missing(memory)[-1] == "10 more of the kind."


def test_the_next_step_without_a_dispatcher_is_to_start_one() -> None:
    lacking = Uncertainty(kind="tools_unavailable", message="None was running.", about="tool_dispatcher")
    assert steps(a_memory(), "deadline_exceeded", lacking)[0].startswith("Start a tool dispatcher")
    failed = Uncertainty(kind="component_failed", message="It failed.", about="tool_dispatcher")
    assert steps(a_memory(), "deadline_exceeded", failed)[0].startswith("Ask again with more time")
