"""Summaries that differ from their facts, each in one way; each session has its own pipeline, as in memory.py."""

from tests.messages_server import Scripted
from tests.recordings.scenario import Scenario, calls, says, use

_USAGE = {"input_tokens": 1_800, "output_tokens": 20}
"""Approximately the estimated number, so that a briefing keeps its size."""
_SHORTENS = "You shorten notes"
_FIND = use("find", query="the lighthouse of Holm")
_PAIRS = {
    "order_and_denial_left_out": ("F1: The harbour fee rose from 9 to 5 crowns in 1990.", "F2: The harbour has a crane."),
    "denial_and_direction": ("F3: The harbour has no bell of bronze.", "F4: The harbour trade rose in 1931."),
    "bound_and_quotation": (
        "F5: The harbour holds at most 40 boats.",
        'F6: The pilot of the harbour says "keep to the south side of the mole" to all.',
    ),
    "ids": ("Here is what the notes say.", "F900: The harbour is unknown."),
    "name_and_silence": ("F3: The harbour has a bell of bronze by Olaf.", "\n \n"),
    "sign_and_length": ("F7: It is 12 °C at the harbour in winter.", "F3: The harbour has a bell of bronze.\n" * 90),
    "words_for_numbers": (
        "F8: Twenty-one boats and thirty-dollar nets lie at the harbour.\nF9, F3: The mole of the harbour is 5 to 9 metres "
        "high and 2x4 wide, it has a bell of bronze.\nF7: It is -12 °C at the harbour in winter.",
        "F4: The harbour trade fell in 1931.\nF1: The harbour fee rose from 5 to 9 crowns in 1990.",
    ),
}  # fmt: skip  # a table


def _asked(n: int, reply: Scripted) -> Scripted:
    return reply.model_copy(update={"when": f"Round {n} of", "usage": _USAGE})


SCENARIOS = tuple(
    Scenario(
        f"a_summary_that_changes_{name}",
        "Which harbour has a lighthouse of its own?",
        (
            *(Scripted(when=_SHORTENS, text=text) for text in texts),
            _asked(1, calls(use("open_page", name="log book"))),
            _asked(2, says("More.", _FIND, wait_s=0.3)),
            _asked(3, says("Still more.", _FIND, wait_s=0.3)),
            _asked(4, says("One more.", use("recall", id="F1-F3"))),
            _asked(5, says("Many have one [F12].")),
        ),
        options={"max_rounds": 6},
        deployment="small_pages",
        apart=name,
    )
    for name, texts in _PAIRS.items()
)
