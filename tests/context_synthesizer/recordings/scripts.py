"""The model's texts in the recorded sessions; `{words}` becomes the id of the fact that holds them."""

from typing import Any, NamedTuple

Use = tuple[str, dict[str, Any]]


class Step(NamedTuple):
    text: str
    uses: tuple[Use, ...] = ()


class Script(NamedTuple):
    question: str
    steps: tuple[Step, ...]


def _search(query: str) -> Use:
    return "search_course_content", {"query": query}


def _outline(course: str) -> Use:
    return "get_course_outline", {"course": course}


def _look_up(query: str, limit: int = 5) -> Use:
    return "search_documents", {"query": query, "limit": limit}


def _fetch(id: str) -> Use:
    return "fetch_document", {"id": id}


SCRIPTS = {
    "same_topic": Script(
        "Which lesson of another course covers the topic of lesson 4 of Designing Web APIs, and what does it advise?",
        (
            Step("The outline tells the topic.", (_outline("Designing Web APIs"),)),
            Step("Lesson 4 is about idempotency keys.", (_search("idempotency keys"),)),
            Step(
                "<note>\nconcluded: Payments Engineering teaches them too [{The cure is an idempotency key}]\n"
                "open: does another course cover them?\n</note>\nI compare with other courses.",
                (_search("retries backoff jitter"), _search("cache invalidation")),
            ),
            Step("One more look.", (_search("pagination cursors"), _search("double-entry"), _search("debits credits"))),
            Step("And the outline.", (_outline("Payments Engineering"), _search("forecast error"))),
            Step(
                "Payments Engineering covers it: charging a customer twice is cured by an idempotency key"
                " [{The cure is an idempotency key chosen when the customer presses the button}]."
            ),
        ),
    ),
    "compared_early": Script(
        "How do vector clocks and B-tree indexes each work, and in which courses are they taught?",
        (
            Step("Both at once.", (_search("vector clocks"), _search("B-tree index"))),
            Step(
                "<note>\nconcluded: vector clocks keep a counter per node [{Vector clocks keep one counter per node}]\n"
                "open: in which courses are they taught?\n</note>\nNow the courses.",
                (_outline("Operating Distributed Systems"), _outline("Databases from First Principles")),
            ),
            Step("Something beside it.", (_search("sourdough starter"), _search("cheese culture"))),
            Step("And this.", (_search("invoices due date"), _search("exponential smoothing"))),
            Step("And that.", (_search("overfitting"), _search("sampling error"), _search("web cache"))),
            Step(
                "A vector clock keeps one counter per node [{Vector clocks keep one counter per node}]; a B-tree is a"
                " sorted tree of pages [{A B-tree index is a sorted tree of pages}]."
            ),
        ),
    ),
    "numbers_kept": Script(
        "For how long does the battery of the radio hold, and for how long does the battery carry the lamp?",
        (
            Step("The radio first.", (_look_up("how long does the battery hold"),)),
            Step("The whole text.", (_fetch("radio"), _fetch("generator-notes"))),
            Step("Does the log say otherwise?", (_fetch("storm-log"), _look_up("storm battery lamp"))),
            Step("More on the watch.", (_fetch("night-watch"), _fetch("handover"), _fetch("lamp-care"))),
            Step("And supplies.", (_fetch("fuel"), _fetch("supplies"), _look_up("batteries list"))),
            Step(
                "The radio's holds nineteen hours [{The battery holds for nineteen hours}], the lamp's nine"
                " [{the battery carries the lamp for nine hours}]."
            ),
        ),
    ),
    "a_chain": Script(
        "The fog signal starts when a beacon can no longer be seen. How far off is it, and how long before the first"
        " blast must the machine that drives the signal be started?",
        (
            Step("The signal.", (_look_up("fog signal beacon"), _fetch("fog-signal"))),
            Step("The machine.", (_fetch("compressor"), _look_up("compressor start"))),
            Step("The marks.", (_fetch("visibility"), _fetch("tides"), _fetch("boat"))),
            Step("Who is woken?", (_fetch("night-watch"), _fetch("weather-report"), _fetch("distress"))),
            Step("Supplies.", (_fetch("spare-parts"), _fetch("relief"))),
            Step(
                "Cormorant Stack is two miles off [{two miles off, can no longer be seen}]; the compressor needs twelve"
                " minutes from a cold start [{the compressor needs twelve minutes}]."
            ),
        ),
    ),
    "with_failures": Script(
        "What does the course on baking bread say about sourdough, and does the one on microbiology agree?",
        (
            Step("The outline.", (_outline("Bread and Butter Baking of the World"), _search("sourdough starter"))),
            Step("The right name now.", (_outline("Bread from Scratch"), _outline("Kitchen Microbiology"))),
            Step("What lives in it.", (_search("wild yeast lactic acid bacteria"), _search("xylophone"))),
            Step("Aside.", (_search("pasteurisation"), _search("rennet curd"), _search("fermentation temperature"))),
            Step("Aside again.", (_search("ledger"), _search("neural network"), _search("consensus"))),
            Step("That is all there is: [{Bread from Scratch}]."),
        ),
    ),
    "held_conclusion": Script(
        "Who relieves the keepers, and how often?",
        (
            Step("The relief.", (_fetch("relief"), _look_up("relief keepers"))),
            Step(
                "Keepers are relieved every four weeks [{Keepers are relieved every four weeks}]. I check the rest.",
                (_fetch("boat"), _fetch("tides")),
            ),
            Step("Fuel, perhaps.", (_fetch("fuel"), _fetch("power"), _fetch("first-aid"))),
            Step("The storm.", (_fetch("storm-log"), _look_up("the tender and the weather"))),
            Step("Supplies.", (_fetch("supplies"), _fetch("spare-parts"), _look_up("Tuesdays"))),
            Step(
                "One at a time, every four weeks [{Keepers are relieved every four weeks}]; by helicopter when the sea"
                " is too high [{the relief is made by helicopter}]."
            ),
        ),
    ),
}  # fmt: skip  # one step, one line
