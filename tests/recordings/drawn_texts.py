"""Texts drawn by lot from a small language: pages, notes, answers and questions, the same for the same seed.

They speak of the same few things in every form that the pure modules tell apart, and in combinations that nobody would
write down: so what a rule does beside another rule is recorded too. tables.py and pages.py have each form by itself.
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


def sentence(lot: Random) -> str:
    """Return one statement on one of the things, true or not."""
    parts = (lot.choice(_SUBJECTS), lot.choice(_VERBS), lot.choice(_NUMBERS), lot.choice(_THINGS))
    return lot.choice(_MOMENTS) + " ".join(filter(None, parts)) + lot.choice(_TAILS) + lot.choice(_ENDS)


def _paragraph(lot: Random) -> str:
    joint = lot.choice((" ", " ", " ", "\n", "  "))
    return joint.join(sentence(lot) for _ in range(lot.randint(1, 6)))


def _heading(lot: Random) -> str:
    title = lot.choice(_TITLES)
    marked = f"{'#' * lot.randint(1, 7)} {title}{lot.choice(('', ' #', ' ##'))}"
    return lot.choice((marked, marked, title, f"{title}\n=====", f"{title}\n---", f"**{title}**"))


def _items(lot: Random) -> str:
    mark = lot.choice(("-", "*", "1.", "2)", "•", "+", "- [x]"))
    return "\n".join(f"{mark} {sentence(lot)}" for _ in range(lot.randint(1, 4)))


def _rows(lot: Random) -> str:
    rows = [f"| {lot.choice(_THINGS)} | {lot.choice(_NUMBERS)} {lot.choice(_THINGS)} |" for _ in range(3)]
    return "\n".join([rows[0], lot.choice(("|---|---|", "| :-- | --: |", "-|-")), *rows[1:]])


def _dialogue(lot: Random) -> str:
    colon = lot.choice((": ", ": ", "：", ":"))
    return "\n".join(f"{lot.choice(_SPEAKERS)}{colon}{sentence(lot)}" for _ in range(lot.randint(1, 4)))


def _code(lot: Random) -> str:
    fence = lot.choice(("```", "```python", "~~~"))
    return f"{fence}\n{sentence(lot)}\n{'turn(7)' * lot.randint(1, 70)}\n{fence[:3]}"


def _long(lot: Random) -> str:
    return f"{lot.choice(('word ', 'It is lit, ', '灯台は高い', 'x', 'a. '))}" * lot.randint(40, 260)


def _quotation(lot: Random) -> str:
    return "\n".join(f"> {sentence(lot)}" for _ in range(lot.randint(1, 3)))


_BLOCKS: tuple[Callable[[Random], str], ...] = (
    *(_paragraph, _paragraph, _paragraph, _heading, _heading, _items, _items, _rows, _dialogue, _code),
    *(_long, _quotation),
    *(lambda lot: lot.choice(("---", "***", "* * *", "====", "Short.", "No.")),),
)  # fmt: skip  # a table


def _text(lot: Random, blocks: int) -> str:
    return lot.choice(("\n\n", "\n\n", "\n")).join(lot.choice(_BLOCKS)(lot) for _ in range(blocks))


def _value(lot: Random, depth: int) -> Any:
    kind = lot.randrange(9 if depth < 4 else 6)
    if kind < 2:
        return lot.choice((sentence(lot), _paragraph(lot)))
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
        return lot.choice(odd)
    if kind == 6:
        return [_value(lot, depth + 1) for _ in range(lot.randint(1, 4))]
    return _record(lot, depth + 1)


def _record(lot: Random, depth: int = 0) -> dict[str, Any]:
    return {key: _value(lot, depth) for key in lot.sample(_KEYS, lot.randint(1, 6))}


def page(lot: Random) -> Any:
    """Return any result that a tool may return: text, a record, records, or records within a record."""
    kind = lot.randrange(8)
    if kind < 4:
        return _text(lot, lot.randint(2, 9))
    if kind == 4:
        return _record(lot)
    if kind == 5:
        return {"title": lot.choice(_TITLES), "text": _text(lot, 4)}
    rows = [_record(lot) for _ in range(lot.randint(2, 5))]
    return (
        rows
        if kind == 6
        else {"title": lot.choice(_TITLES), "results": rows, lot.choice(_KEYS): _value(lot, 1)}
    )


def note(lot: Random) -> str:
    """Return a reply's text with a note in one of the ways in which models write it."""
    lines = [_note_line(lot) for _ in range(lot.randint(1, 7))]
    form = lot.randrange(7)
    body = "\n".join(lines)
    if form == 5:
        kinds = {
            key: lot.choice((sentence(lot), [sentence(lot), cited(lot)])) for key in lot.sample(_NOTE_KEYS, 3)
        }
        body = json.dumps(kinds, ensure_ascii=False)
    shown = (
        f"<note>\n{body}\n</note>",
        f"<note>{body}",
        f"```note\n{body}\n```",
        f"<NOTE>\n{body}\n</ note>",
    )
    return f"{cited(lot)}\n\n{shown[lot.choice((0, 0, 0, 1, 2, 3))]}\n\n{sentence(lot)}"


def _note_line(lot: Random) -> str:
    told = lot.choice(
        (cited(lot), cited(lot), "none", "...", f"{lot.choice(_ASKS)}? {cited(lot)}", f"{lot.choice(_ASKS)}?")
    )
    key = lot.choice(_NOTE_KEYS)
    return lot.choice((f"{key}: {told}", f"{key}: {told}", f"{key}:\n- {told}\n- {cited(lot)}", f"  {told}"))


def cited(lot: Random, facts: int = 60) -> str:
    """Return one statement, with a citation somewhere in it, or without one."""
    told = lot.choice(
        (sentence(lot), sentence(lot), sentence(lot), *_NOT_KNOWN, f'It is put so: "{sentence(lot)}"')
    )
    first = lot.randint(1, facts)
    citation = lot.choice(_CITATIONS).format(n=first, m=first + lot.randint(1, 6))
    at = lot.choice((len(told), len(told), max(0, len(told) - 1), told.find(" ") + 1))
    return f"{told[:at]}{lot.choice((' ', ' ', ''))}{citation}{told[at:]}"


def answer(lot: Random, blocks: int = 16) -> str:
    """Return Markdown of every kind, whose statements cite existing facts, missing facts, or none."""
    return "\n\n".join(_answer_block(lot) for _ in range(blocks))


def _answer_block(lot: Random) -> str:
    told = [cited(lot) for _ in range(lot.randint(1, 5))]
    kind = lot.randrange(9)
    if kind < 4:
        return lot.choice((" ", " ", "\n")).join(told)
    if kind == 4:
        return f"{lot.choice((cited(lot), 'These are the lamps'))}:\n" + "\n".join(f"- {one}" for one in told)
    if kind == 5:
        return f"{cited(lot)}\n\n" + "\n".join(f"> {one}" for one in told)
    if kind == 6:
        return "| what | how many |\n|---|---|\n" + "\n".join(f"| {one} | {cited(lot)} |" for one in told)
    return f"*{told[0]}*" if kind == 7 else lot.choice(_BLOCKS)(lot)


def question(lot: Random) -> str:
    """Return a query of several asks, joined in every way."""
    asked = lot.choice(("", "", "Please ", "Also, ", "The lamps are old. ", "1. "))
    for _ in range(lot.randint(2, 7)):
        ask = lot.choice(_ASKS)
        asked += (ask.capitalize() if lot.random() < 0.5 else ask) + lot.choice(_JOINTS)
    return asked.rstrip() + lot.choice(("?", ".", "", " for Holm?"))


def pages(seed: str, number: int) -> dict[str, Any]:
    """Return pages by their names."""
    lot = Random(seed)
    return {f"{seed}, page {n}": page(lot) for n in range(number)}


def several(draw: Callable[[Random], str], seed: str, number: int) -> Sequence[str]:
    """Return so many texts of a kind."""
    lot = Random(seed)
    return [draw(lot) for _ in range(number)]
