"""Sessions that find more than a briefing holds; each apart, as a request for a summary does not tell whose it is."""

from tests.flows.archive_tools import statement
from tests.messages_server import Scripted
from tests.recordings.scenario import Scenario, calls, fails, says, use

_ARCHIVE = use("read_archive", topic="lighthouses")
_SHORTENS = "You shorten notes"
_SUMMARY = "\n".join(f"F{n}: {statement(n)}" for n in (101, 103))


def _asked(*replies: Scripted) -> tuple[Scripted, ...]:
    """Return the replies to the rounds, without those to requests for summaries."""
    return tuple(reply.model_copy(update={"when": f"Round {n} of"}) for n, reply in enumerate(replies, 1))


_NOTE = "<note>\nconcluded: Holm 4 has one [F4]\nopen: What is said of Holm 146?\n</note>"
_ROUNDS = _asked(
    calls(_ARCHIVE),
    says(f"The first may do.\n{_NOTE}", use("recall", id="F146"), wait_s=0.3),
    says("Holm 4 has one [F4], and Holm 146 a chapel [F146]."),
)


def _long_round(n: int) -> Scripted:
    """Return enough words to compete for room, and calls of which some have no results."""
    words = f"Round {n}: " + "what the harbours have, and since when, is told in many places. " * n
    note = f"<note>\nconcluded: Holm {n} has one [F{n}]\ndoubt: is Holm {n + 40} older?\nplan: ask for more\n</note>"
    asks = [use("recall", id=f"F{40 * n + one}") for one in range(n % 4)]
    return says(f"{words}\n{note}", *asks, use("read_archive", topic=f"harbours of year {1800 + n}"))


SCENARIOS = (
    Scenario(
        "much_is_said_and_tried_with_little_room",
        "Which harbour has a lighthouse, a school, a chapel and 5 berths, and since when?",
        (
            fails(500).model_copy(update={"when": _SHORTENS, "repeat": True}),
            *_asked(*map(_long_round, range(1, 5)), says("Holm 4 has one [F4], and more [F1].")),
        ),
        options={"max_rounds": 6, "max_tool_calls": 60},
        deployment="small_briefings",
        apart="little room",
    ),
    Scenario(
        "what_has_no_place_is_summarized_and_recalled",
        "Which harbour has a lighthouse of its own, and since when?",
        (Scripted(when=_SHORTENS, text=_SUMMARY, repeat=True), *_ROUNDS),
        deployment="small_briefings",
        apart="used summaries",
    ),
    Scenario(
        "a_summary_that_is_invented_is_refused",
        "Which harbour has a lighthouse of its own, and how many berths?",
        (
            Scripted(when=_SHORTENS, text="F101: The harbour of Holm 101 has 999 berths.", repeat=True),
            *_ROUNDS,
        ),
        deployment="small_briefings",
        apart="invented summaries",
    ),
    Scenario(
        "summaries_that_fail_are_gone_without",
        "Which harbour has a lighthouse, and which a school?",
        (
            fails(500).model_copy(update={"when": _SHORTENS, "repeat": True}),
            *_asked(
                calls(_ARCHIVE),
                says("Once more.", use("recall", id="F999"), use("recall", id="F3-F5"), wait_s=0.3),
                says("Holm 4 has one [F4]."),
            ),
        ),
        deployment="small_briefings",
        apart="failing summaries",
    ),
)
