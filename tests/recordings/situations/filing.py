"""The filed facts of results, and whole or partial answers with facts that do not agree."""

from typing import Any

from tests.recordings.filed_pages import PAIRED, TABLES
from tests.recordings.pages import PAGES
from tests.recordings.scenario import Scenario, calls, fails, says, use

_FAILS = (fails(401, "authentication_error"),) * 2
_ROUNDS = {"max_rounds": 9}
_DISAGREE = (
    # name, pages of each round, the answer
    ("boats", (("boat 2021", "boat again"), ("boat 2023", "boat in words", "boat elsewhere")), "14 [F1], 18 [F3]."),
    ("boats_backwards", (("boat 2023",), ("boat 2021", "boat of another shape", "boats twice")), "18 berths [F2]."),
    ("mates", (("mate", "number by digits"), ("mate later", "mate otherwise", "number by digits later")), "41 [F1]."),
    ("claims", (("claims of 2021", "claims of nobody"), ("claims of 2023",)), "40 seats [F1] and a lamp [F3]."),
    ("claims_by_turns", (("claims of 2021",), ("claims of 2023",), ("claims of 2022",)), "40 seats [F1], 60 [F4]."),
    ("claims_of_none", (("claims of nobody", "claims elsewhere"), ("claims of somebody",)), "30 guests [F1] [F6]."),
    ("denials", (("denials",), ("affirmations",)), "The keeper does not [F1], or does [F7]; boats leave [F2]."),
    ("affirmations", (("affirmations",), ("denials",)), "The keeper works [F1]; the bell rings [F5]."),
    ("same_dates", (("no figures", "mate"), ("no figures again", "mate of another")), "40 seats [F1]."),
    ("renamed", (("boat renamed",), ("boat renamed later", "claims of nobody"), ("claims of somebody",)), "3 [F1]."),
    ("states", (("states", "relative dates"), ("unnamed", "claims elsewhere")), "44 cars [F1]."),
)  # fmt: skip  # a table
_SHAPES = {
    "structures": ("nested", "beside records", "whole record", "titled text", "title said twice", "texts"),
    "values": ("only prose", "odd numbers", "other titles", "scalar", "empty", "nothing", "blank", "deep"),
    "headings": (
        "headings",
        "a title above",
        "no title",
        "a ruled title",
        "a title in question",
        "a title alone",
    ),
    "prose": ("code", "dialogue", "wide prose", "no words", "lone"),
    "long_prose": ("long prose",),
    "large_structures": ("large object", "large list", "large text"),
    "very_many": ("very many",),
    "very_long": ("very long",),
    "furniture": ("page furniture", "ranking", "false fences", "parts"),
    "sparse": ("sparse records", "not finite"),
    "spoken": ("spoken", "nested", "unnamed"),
    "twice": ("claims of 2021", "claims of 2021", "long prose", "code"),
}


def _opened(names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(use("open_page", name=name) for name in names)


def _of_disagreeing(name: str, rounds: tuple[tuple[str, ...], ...], answer: str) -> list[Scenario]:
    asks = tuple(calls(*_opened(pages)) for pages in rounds)
    question = "How many seats, berths and guests are there, and what may the keeper of the boat-17 do"
    letters = tuple(
        calls(*(use("open_page" if n else "open_letter", name=page) for page in pages))
        for n, pages in enumerate(rounds[::-1])
    )
    return [
        Scenario(
            f"facts_that_disagree_{name}",
            f"{question} ({name})?",
            (*asks, says(answer)),
            options=_ROUNDS,
            deployment="pages",
        ),
        Scenario(
            f"facts_that_disagree_{name}_and_no_answer",
            f"{question}, if anybody says ({name})?",
            (*asks, *_FAILS),
            ends="model_unavailable",
            options=_ROUNDS,
            deployment="pages",
        ),
        Scenario(
            f"letters_that_disagree_{name}",
            f"{question}, by whatever letter ({name})?",
            (*letters, says(answer)),
            options=_ROUNDS,
            deployment="pages",
        ),
    ]


_BULKY = ("large_structures", "very_many", "very_long", "long_prose")
"""Situations whose briefings show little, because long ones would make the recordings large."""


def _of_shapes(name: str, pages: tuple[str, ...]) -> list[Scenario]:
    assert set(pages) <= PAGES.keys()
    deployment = "small_pages" if name in _BULKY else "pages"
    asked = (calls(*_opened(pages)), calls(*_opened(pages[:2])))
    return [
        Scenario(
            f"results_of_every_shape_{name}",
            f"What is there to be read of {name}?",
            (*asked, says("That is what there is [F1] [F2].")),
            deployment=deployment,
        ),
        Scenario(
            f"results_of_every_shape_{name}_and_no_answer",
            f"What stands in those pages ({name})? And is there a mole, or a lamp on the mole?",
            (*asked, *_FAILS),
            ends="model_unavailable",
            options=_ROUNDS,
            deployment=deployment,
        ),
    ]


SCENARIOS = (
    *(one for row in _DISAGREE for one in _of_disagreeing(*row)),
    *(
        Scenario(
            f"pairs_that_contradict_or_seem_to_{n}",
            f"Which numbers, names, dates and states are told in two ways ({n})?",
            (*(calls(*_opened((page,))) for page in pages), says("Some are [F1].")),
            deployment="unsummarized_pages",
        )
        for n, pages in enumerate(PAIRED)
    ),
    Scenario(
        "tables_of_every_form",
        "Who is the mayor of Vardby 3?",
        (calls(*_opened(TABLES)), says("Ada Holm [F1].")),
        options={"max_tool_calls": 50},
        deployment="unsummarized_pages",
    ),
    *(one for row in _SHAPES.items() for one in _of_shapes(*row)),
    Scenario(
        "memory_that_is_nearly_full",
        "What is to be kept of the quay and the mole?",
        (
            calls(use("open_page", name="dialogue"), use("open_page", name="large list")),
            calls(use("open_page", name="log book"), use("open_page", name="dialogue")),
            calls(use("open_page", name="log book"), use("open_page", name="claims of 2021")),
            *_FAILS,
        ),
        ends="model_unavailable",
        deployment="small_memory",
    ),
    Scenario(
        "memory_that_is_full_and_an_answer",
        "What is to be kept of the quay?",
        (
            calls(use("open_page", name="log book"), use("open_page", name="ranking")),
            calls(use("open_page", name="claims of 2021"), use("open_page", name="large list")),
            says("Something is kept [F1]."),
        ),
        deployment="small_memory",
    ),
    Scenario(
        "the_latest_of_dated_reports",
        "What does the latest report of the harbour say?",
        (
            calls(*_opened(("dated reports",))),
            calls(*_opened(("dialogue",))),
            says("A pier was painted [F1]."),
        ),
        deployment="unsummarized_pages",
    ),
    Scenario(
        "a_plan_that_is_made_anew",
        "Where is the mole, and which boats, berths and keys does it keep?",
        (
            calls(*_opened(("very many texts", "large object", "long prose"))),
            calls(*_opened(("large list", "wide prose", "claims of 2021", "boat 2021"))),
            calls(*_opened(("claims of 2023", "denials", "boat 2023"))),
            says("There [F1]."),
        ),
        options=_ROUNDS,
        deployment="middling_briefings",
    ),
)
