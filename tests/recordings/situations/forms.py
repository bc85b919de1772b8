"""Texts of every form that the patterns of the pure modules distinguish, in pages, notes and answers."""

from tests.messages_server import Scripted
from tests.recordings.form_pages import ANSWERED_FORMS, FILED, NOTED_FORMS
from tests.recordings.scenario import Scenario, calls, says, use

_OF_A_NOTE = 110
_NOTES = tuple("\n".join(NOTED_FORMS[at : at + _OF_A_NOTE]) for at in range(0, len(NOTED_FORMS), _OF_A_NOTE))
_PAGE = use("open_page", name="claims of 2021")
_ANSWER = "The ferry has 40 seats in all [F1].\n\n" + "\n".join(
    f"{form} The ferry of kind {n} is {form} fast {form}" for n, form in enumerate(ANSWERED_FORMS)
)

SCENARIOS = (
    Scenario(
        "forms_of_what_is_filed",
        "What does the survey say of moles?",
        (
            Scripted(
                when="You shorten notes", text="Nothing.", repeat=True
            ),  # never takes a reply of a round
            calls(*(use("open_page", name=name) for name in FILED)),
            calls(_PAGE),
            says("That is all [F1]."),
        ),
        deployment="small_pages",
    ),
    Scenario(
        "forms_of_what_is_shown",
        "What does the survey say of lamps?",
        (
            calls(use("open_page", name="shown forms"), use("open_letter", name="shown forms")),
            says("Lamps [F1]."),
        ),
        deployment="pages",
    ),
    Scenario(
        "forms_of_notes",
        "What is noted of moles?",
        (
            *(says(text, use("find", query=f"mole {n}")) for n, text in enumerate(_NOTES)),
            *(
                says(f"<note>\n{text}\n</note>", use("find", query=f"lamp {n}"))
                for n, text in enumerate(_NOTES)
            ),
            says("That is all."),
        ),
        options={"max_rounds": 20},
        deployment="small_pages",
    ),
    *(
        Scenario(
            f"forms_of_answers_{citations}",
            f"How is the ferry ({citations})?",
            (calls(_PAGE), says(_ANSWER)),
            options={"citations": citations},
            deployment="pages",
        )
        for citations in ("normal", "strict")
    ),
)
NAMES = frozenset(one.name for one in SCENARIOS)
"""Coverage does not distinguish the parts of a pattern."""
