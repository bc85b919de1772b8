"""Forms of answers and of questions: Markdown with citations, quotations, statements without a source; many asks."""

from tests.recordings.asked import asked
from tests.recordings.scenario import Scenario, calls, says, use

_PAGES = (
    use("open_page", name="claims of 2021"),
    use("open_page", name="denials"),
    use("open_page", name="boat 2021"),
    use("open_page", name="large list"),
    use("open_page", name="nested"),
)
_ANSWERS = {
    "headings_and_rules": "# The ferry [F1]\n\nThe ferry has 40 seats in all [F1].\nSecond line [F1]\n===\n\nTitle\n---\n\n***\n"
    "Here it ends, with nothing behind it to rest on.",
    "tables": "| what | how many |\n|---|---|\n| seats of the ferry in all | 40 [F1] |\n| berths of the boat here | 14 |\n\n"
    "a | b\n--|--\nseats of the ferry that sails | 40 [F1]\n\nThe rest is not known.",
    "code": "Take `[F1]` and `x [F2] y` with ``a ` b [F3]`` and one ` alone.\n\n```python\nprint('[F1]')\n```\n\n~~~\nopen",
    "quotations": 'The page says "the ferry has 40 seats in all" [F1], and "the ferry sails under water on Sundays" [F1].\n\n'
    "It is put so [F1]:\n\n> As of March 2021 the ferry has 40 seats in all.\n> It goes on for a while here.\n\n"
    "These are the rules [F4]:\n- boats leave the basin with a light\n- guests enter by the old gate\n\n"
    "I could not find the following things:\n- the colour of the old ferry\n",
    "numbers": "It has 1,200 seats and 14 berths [F1] [1]. See [2](http://a.b) and [3]: x\n[F1]: the ferry\n[F2](x) and [F3][F4]\n"
    "[F1, F2-F5] and [F2-F90] stand here, [F1][F2][F3][F4][F5][F6] too, [F77]. It has 4711 lamps [F3].",
    "long": ("The ferry carries all those who wait at the quay in the morning and the evening " * 30) + "[F1].\n\n"
    + "「" + "灯台は高い。" * 20 + "」 [F1]",
    "remarks": "*A remark about all of this that cites nothing.*\n\nIs the ferry large enough for everybody on board?\n\n"
    "However, I could not find how many lamps there are. The colour of the mole is unknown.\n\nAs follows:\n\n1. one two three "
    "four five six\n2. seven eight nine ten eleven twelve [F2]\n\n灯台はとても高いです、そして古いです。",
    "nothing_cited": "The ferry is a fine ship that everybody likes.",
    "empty_note": "<note>\nconcluded: it is so [F1]\n</note>",
}  # fmt: skip  # a table
_QUERIES = (
    "Compare the ferry and the boat on seats. Compare the mole with the quay. Compare lamps and the large bell.",
    "Who built the mole and when was it built? And why? Could you please help me? List the towns; then find the lamp, "
    "and compare them. What is the oldest boat, and who owns it? Do you know?",
    "Which towns have a mole and which have a quay? Tell me who keeps the lamp and what it costs to keep it and how.",
    "1. How old is Holm?\n2. How old is Nes?\n3. How old is Vik?\n- Where is Sund?\n- Where is Ostra?\n- Who knows Aker?\n"
    "- What is a mole?\n- What is a quay?\n- What is a pier?\n(a) What is a jetty?",
    "Τι είναι ο φάρος; Πού είναι ο μόλος; Is “the old; mole” (see above?) at http://a.b/c?d=e known? Explain step by step.",
    "What is the name of the man who owns the mole and who built it, and how long did it take him? or not?",
    "Which lamp is brighter, how bright is it, and what does it cost? Use a table. I need to know what to do and explain it.",
    "word " * 900 + "?",
)


def _answered(name: str, text: str, citations: str) -> Scenario:
    return Scenario(
        f"answers_of_every_form_{name}_{citations}",
        f"How is it with the ferry ({name}, {citations})?",
        (calls(*_PAGES), says(text)),
        options={"citations": citations},
        deployment="pages",
    )


SCENARIOS = (
    *(_answered(*row, citations) for row in _ANSWERS.items() for citations in ("normal", "strict")),
    *(asked(f"questions_of_every_form_{n}", query) for n, query in enumerate(_QUERIES, 1)),
)
