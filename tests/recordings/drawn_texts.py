"""Random texts of a small language: pages, notes, answers and questions, the same for the same seed.

They speak of the same few things in every form that the pure modules distinguish, and in unusual combinations: thus
the interplay of rules is recorded too. tables.py and pages.py have each form by itself.
"""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

# fmt: off
_SUBJECTS = (
    *("The mole", "The mole of Holm", "The Aker", "Ada Holm", "House of Nes", "the keeper", "He", "This boat"),
    *("Lamp 7", "The ferry", "Both boats", "The US ferry", "We", "Rule 4 of Holm", "The lamp", "Boeing 737"),
)
_VERBS = (
    *("has", "has", "holds", "holds", "had", "carried", "costs", "now has", "currently holds", "measures", "rose to"),
    *("does not hold", "never has", "cannot hold", "did not carry", "doesn't hold", "don’t hold", "holds no"),
    *("won't have", "can't hold", "is", "was", "can hold", "and its crew have"),
)
_NUMBERS = (
    *("7", "7", "8", "seven", "forty", "1,250", "1.250", "1,250.50", "$7", "€1,200", "15%", "+3", "-5", "(5)", "–5"),
    *("2x4", "3-4", "40", "41", "12", "2021", "1.5", "007", "*9*", "“11”", "~20", "3 to 5", "1999", "no", ""),
)
_THINGS = (
    *("lamps", "lamps", "seats in all", "seats in all", "lamps of glass", "metres of chain", "guests on its decks"),
    *("crowns a year", "boats", "km of mole", "percent of it"),
)
_MOMENTS = (
    *("", "", "", "", "In 1999, ", "As of March 2021, ", "Since 5 May 2022, ", "By 2024-02-01 ", "Since 2023 "),
    *("On 31st of December 1998 ", "In 2019 and 2021, ", "Yesterday ", "In early 1999, ", "Also, ", "However "),
    *("As of March 2023, ", "Since May 5, 2021 ", "March 2020: ", "In the year 2022 "),
)
_TAILS = (
    *("", "", "", "", "", " since 2021", " in June 2021", " as of 2023-05", " today", " (as was told)", "; who knows"),
    *(" – at dusk", ", never more", ' "at least"', " [at night]", " *there*", " until 5 Sept 2020", " | more"),
    *(" only", " without a light", " by www.holm.example", " - or not", " e.g. at Nes", " no. 5"),
)
_ENDS = (".", ".", ".", ".", ".", "!", "?", "…", " .", ":", "。", ";", "", ".)", ".”", "...")
_SPEAKERS = ("Ada", "Olaf Holm", "[Pilot] Bert", "**Ada**", "- Bert", "The pilot of the Aker", "Bert 2")
_TITLES = (
    *("Survey of Holm", "Overview", "Lamps:", "Boats of the", "What is lit?", "Lamps and moles. ", "Notes"),
    *("Tides are",),
)
_KEYS = (
    *("title", "name", "id", "text", "content", "score", "url", "date", "as_of", "lamps", "owner", "is_open", "notes"),
    *("updated_at", "rank", "boat_id", "description", "year", "items", "label"),
)
_NOTE_KEYS = (
    *("concluded", "open", "answered", "doubt", "plan", "constraint", "goal", "Open questions", "- known"),
    *("next steps",),
    *("**Doubts**", "still-open", "sub_question", "## Plan", "other", "uncertainties", "missing"),
)
_CITATIONS = (
    *("[F1]", "[F2]", "[F3]", "[F{n}]", "[F{n}]", "[F{n}]", "[F{n}, F{m}]", "[F{n}-F{m}]"),
    *("[F{n} and F{m}]", "[F{n}; {m}]"),
    *("[F4–F9]", "[F9999]", "[7]", "`[F{n}]`", "[F{n}](x)", "[F{n}][F{m}]", "[ F{n} ]", "[F{n}]: y", "", "", "", ""),
)
_ASKS = (
    *("who keeps the mole", "what does the lamp cost", "how old is the Aker", "compare Holm and Nes on price"),
    *("compare the mole with the quay", "list the boats", "is it lit", "tell me which lamp is brighter", "and why"),
    *("find the oldest boat", "explain it step by step", "where's the bell of Holm", "when did it ring there"),
    *("which of the boats that lie at Holm has a lamp", "do they stand"),
    *('what is "Holm? Nes?" about', "describe the quay"),
    *("who built the mole and how long did it take", "compare lamps, moles, and boats of Holm", "could you help me"),
    *("what does the lamp that is lit at night cost", "show me all lamps", "the mole is old", "at most 5 of May"),
)
_JOINTS = (
    *("? ", "? ", " and ", ", and ", "; ", ", then ", " and then ", "? And ", ". ", "\n- "),
    *("\n2. ", ", ", " or ", ", but "),
)
_NOT_KNOWN = (
    "I could not find how many lamps there are.",
    "However, we have no data on moles at all.",
    "Nothing of it was found in the facts.",
    "The colour of the mole is not known so far.",
    "These facts do not tell who keeps it.",
)

# fmt: on


def sentence(random: Random) -> str:
    """Return a statement on one of the things, true or false."""
    parts = (random.choice(_SUBJECTS), random.choice(_VERBS), random.choice(_NUMBERS), random.choice(_THINGS))
    return (
        random.choice(_MOMENTS) + " ".join(filter(None, parts)) + random.choice(_TAILS) + random.choice(_ENDS)
    )


def _paragraph(random: Random) -> str:
    joint = random.choice((" ", " ", " ", "\n", "  "))
    return joint.join(sentence(random) for _ in range(random.randint(1, 6)))


def _heading(random: Random) -> str:
    title = random.choice(_TITLES)
    marked = f"{'#' * random.randint(1, 7)} {title}{random.choice(('', ' #', ' ##'))}"
    return random.choice((marked, marked, title, f"{title}\n=====", f"{title}\n---", f"**{title}**"))


def _items(random: Random) -> str:
    mark = random.choice(("-", "*", "1.", "2)", "•", "+", "- [x]"))
    return "\n".join(f"{mark} {sentence(random)}" for _ in range(random.randint(1, 4)))


def _rows(random: Random) -> str:
    rows = [
        f"| {random.choice(_THINGS)} | {random.choice(_NUMBERS)} {random.choice(_THINGS)} |" for _ in range(3)
    ]
    return "\n".join([rows[0], random.choice(("|---|---|", "| :-- | --: |", "-|-")), *rows[1:]])


def _dialogue(random: Random) -> str:
    colon = random.choice((": ", ": ", "：", ":"))
    return "\n".join(
        f"{random.choice(_SPEAKERS)}{colon}{sentence(random)}" for _ in range(random.randint(1, 4))
    )


def _code(random: Random) -> str:
    fence = random.choice(("```", "```python", "~~~"))
    return f"{fence}\n{sentence(random)}\n{'turn(7)' * random.randint(1, 70)}\n{fence[:3]}"


def _long(random: Random) -> str:
    return f"{random.choice(('word ', 'It is lit, ', '灯台は高い', 'x', 'a. '))}" * random.randint(40, 260)


def _quotation(random: Random) -> str:
    return "\n".join(f"> {sentence(random)}" for _ in range(random.randint(1, 3)))


_BLOCKS: tuple[Callable[[Random], str], ...] = (
    *(_paragraph, _paragraph, _paragraph, _heading, _heading, _items, _items, _rows, _dialogue, _code),
    *(_long, _quotation),
    *(lambda random: random.choice(("---", "***", "* * *", "====", "Short.", "No.")),),
)  # fmt: skip  # a table


def _text(random: Random, blocks: int) -> str:
    return random.choice(("\n\n", "\n\n", "\n")).join(random.choice(_BLOCKS)(random) for _ in range(blocks))


def _value(random: Random, depth: int) -> Any:
    kind = random.randrange(9 if depth < 4 else 6)
    if kind < 2:
        return random.choice((sentence(random), _paragraph(random)))
    if kind < 6:
        odd: tuple[Any, ...] = (
            None,
            "",
            True,
            [],
            2021,
            "2021-03-12",
            "boat-17",
            1.5,
            "Lamp 7",
            "Aker",
            41,
            -1,
            "https://holm.example/7",
        )
        return random.choice(odd)
    if kind == 6:
        return [_value(random, depth + 1) for _ in range(random.randint(1, 4))]
    return _record(random, depth + 1)


def _record(random: Random, depth: int = 0) -> dict[str, Any]:
    return {key: _value(random, depth) for key in random.sample(_KEYS, random.randint(1, 6))}


def page(random: Random) -> Any:
    """Return any result that a tool may return: text, a record, records, or records within a record."""
    kind = random.randrange(8)
    if kind < 4:
        return _text(random, random.randint(2, 9))
    if kind == 4:
        return _record(random)
    if kind == 5:
        return {"title": random.choice(_TITLES), "text": _text(random, 4)}
    rows = [_record(random) for _ in range(random.randint(2, 5))]
    return (
        rows
        if kind == 6
        else {"title": random.choice(_TITLES), "results": rows, random.choice(_KEYS): _value(random, 1)}
    )


def note(random: Random) -> str:
    """Return the text of a reply with a note, in one of the forms in which models write it."""
    lines = [_note_line(random) for _ in range(random.randint(1, 7))]
    form = random.randrange(7)
    body = "\n".join(lines)
    if form == 5:
        kinds = {
            key: random.choice((sentence(random), [sentence(random), cited(random)]))
            for key in random.sample(_NOTE_KEYS, 3)
        }
        body = json.dumps(kinds, ensure_ascii=False)
    shown = (
        f"<note>\n{body}\n</note>",
        f"<note>{body}",
        f"```note\n{body}\n```",
        f"<NOTE>\n{body}\n</ note>",
    )
    return f"{cited(random)}\n\n{shown[random.choice((0, 0, 0, 1, 2, 3))]}\n\n{sentence(random)}"


def _note_line(random: Random) -> str:
    text = random.choice(
        (
            cited(random),
            cited(random),
            "none",
            "...",
            f"{random.choice(_ASKS)}? {cited(random)}",
            f"{random.choice(_ASKS)}?",
        )
    )
    key = random.choice(_NOTE_KEYS)
    return random.choice(
        (f"{key}: {text}", f"{key}: {text}", f"{key}:\n- {text}\n- {cited(random)}", f"  {text}")
    )


def cited(random: Random, facts: int = 60) -> str:
    """Return a statement, with a citation at any position or without one."""
    text = random.choice(
        (
            sentence(random),
            sentence(random),
            sentence(random),
            *_NOT_KNOWN,
            f'It is put so: "{sentence(random)}"',
        )
    )
    first = random.randint(1, facts)
    citation = random.choice(_CITATIONS).format(n=first, m=first + random.randint(1, 6))
    at = random.choice((len(text), len(text), max(0, len(text) - 1), text.find(" ") + 1))
    return f"{text[:at]}{random.choice((' ', ' ', ''))}{citation}{text[at:]}"


def answer(random: Random, blocks: int = 16) -> str:
    """Return Markdown of every kind, whose statements cite existing facts, missing facts, or none."""
    return "\n\n".join(_answer_block(random) for _ in range(blocks))


def _answer_block(random: Random) -> str:
    sentences = [cited(random) for _ in range(random.randint(1, 5))]
    kind = random.randrange(9)
    if kind < 4:
        return random.choice((" ", " ", "\n")).join(sentences)
    if kind == 4:
        return f"{random.choice((cited(random), 'These are the lamps'))}:\n" + "\n".join(
            f"- {one}" for one in sentences
        )
    if kind == 5:
        return f"{cited(random)}\n\n" + "\n".join(f"> {one}" for one in sentences)
    if kind == 6:
        return "| what | how many |\n|---|---|\n" + "\n".join(
            f"| {one} | {cited(random)} |" for one in sentences
        )
    return f"*{sentences[0]}*" if kind == 7 else random.choice(_BLOCKS)(random)


def question(random: Random) -> str:
    """Return a query of several requests, joined in any way."""
    asked = random.choice(("", "", "Please ", "Also, ", "The lamps are old. ", "1. "))
    for _ in range(random.randint(2, 7)):
        ask = random.choice(_ASKS)
        asked += (ask.capitalize() if random.random() < 0.5 else ask) + random.choice(_JOINTS)
    return asked.rstrip() + random.choice(("?", ".", "", " for Holm?"))


def pages(seed: str, number: int) -> dict[str, Any]:
    """Return pages by their names."""
    random = Random(seed)
    return {f"{seed}, page {n}": page(random) for n in range(number)}


def several(draw: Callable[[Random], str], seed: str, number: int) -> Sequence[str]:
    """Return a number of texts of a kind."""
    random = Random(seed)
    return [draw(random) for _ in range(number)]
