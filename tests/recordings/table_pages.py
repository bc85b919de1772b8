"""Pages made of the tables by which memory reads statements: each entry decides once about the facts of a page.

Most tables decide whether two statements can be compared. Therefore pages come in pairs, of which the second repeats
the statements of the first with other numbers. The entry decides whether that is a contradiction, a later state, or
another subject.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from antiphon_shared.memory.filing import (
    blocks,
    claims,
    pieces,
    reading,
    records,
    sentences,
    subjects,
    titles,
)
from antiphon_shared.text import dates, names, numbers, units, words

from context_synthesizer import faithful
from tests.recordings.pages import unlike

_Page = Any
_TITLE = "# Survey of the harbour\n\n"
_LONG = "is told of at some length in the annals of the town"
_SHORT = "Kept in the tower of the town."
"""Prose below a key that holds prose, and a value below any other."""


def _sides(entries: Iterable[str], sentence_of: Callable[[str, int, int], str]) -> tuple[str, str]:
    """Return two pages with the statements of all entries, each with another number."""
    each = list(enumerate(entries, 100))
    first, second = (_TITLE + "\n\n".join(sentence_of(one, n, side) for n, one in each) for side in (61, 62))
    return first, second


def _shown(n: int) -> str:
    """Return a word for a number: digits would be read as an amount."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(n))


def _lines(title: str, entries: Iterable[str], line: str) -> str:
    return title + "\n\n".join(line.format(word=word, n=_shown(n)) for n, word in enumerate(entries))


def _titled(titles: Iterable[str], lamps: int) -> list[dict[str, str]]:
    text = "The Aker has {lamps} lamps of kind {n} there."
    return [{"title": title, "text": text.format(lamps=lamps, n=_shown(n))} for n, title in enumerate(titles)]


_CLAIMS = {
    "numbers in words": (
        _lines(_TITLE, sorted(claims._NUMBER_WORDS), "The mole {n} has {word} lamps in all."),
        _lines(_TITLE, sorted(claims._NUMBER_WORDS), "The mole {n} has 61 lamps in all."),
    ),
    "words before a number": _sides(
        sorted(claims._NUMBERED), lambda word, n, side: f"The mole {_shown(n)} shows {word} {side} in all."
    ),
    "words of a moment": _sides(
        sorted(claims._RELATIVE), lambda word, n, side: f"The mole {_shown(n)} has {side} lamps {word} of glass."
    ),
    "verbs of a state": _sides(
        sorted(claims._STATE), lambda word, n, side: f"Since 19{side} the mole {_shown(n)} {word} 7{side} lamps."
    ),
    "signs of a unit": _sides(
        "$€£¥₹%°<>=+±~", lambda sign, n, side: f"The mole {_shown(n)} has {side}{sign} of glass and {sign}5 of wood."
    ),
    "words of now": _sides(
        sorted(claims._PRESENT), lambda word, n, side: f"The mole {_shown(n)} {word} has {side} lamps of glass."
    ),
}  # fmt: skip  # a table
_NAMED = {
    "verbs behind a name": (
        _lines("# Overview\n\n", sorted(claims._VERBS), "The Aker {word} 61 lamps of kind {n} there."),
        _lines("# Summary\n\n", sorted(claims._VERBS), "The Aker {word} 62 lamps of kind {n} there."),
    ),
    "words within a name": (
        _lines("# Overview\n\n", sorted(names.JOINING), "House {word} Holm has 61 lamps."),
        _lines("# Summary\n\n", sorted(names.JOINING), "House {word} Holm has 62 lamps."),
    ),
    "titles of anything": (_titled(sorted(subjects._GENERIC_TITLES), 61), _titled(["Summary"] * 30, 62)),
}
_DENIALS = {
    "denials": (
        _TITLE + "\n\n".join((
            "The keeper of the mole never sleeps at night.", "The lamps of the mole are not made of glass.",
            "The boats of Holm leave without a light at night.", "The guests of Holm cannot enter the inner basin.",
            "The pilots of Holm can't see the outer mole.", "The bells of Holm won't ring before noon at all.",
            "The mate of the Aker does not work at night.", "The mates of the Aker do not work at noon.",
            "The cook of the Aker did not wash the deck.", "The cooks of the Aker don’t wash the masts.",
            "The boat of Olaf has no lamp at the mast.", "The crane does not touch the quay of Holm.",
        )),
        _TITLE + "\n\n".join((
            "The keeper of the mole sleeps at night.", "The lamps of the mole are made of glass.",
            "The boats of Holm leave with a light at night.", "The guests of Holm can enter the inner basin.",
            "The pilots of Holm can see the outer mole.", "The bells of Holm will ring before noon at all.",
            "The mate of the Aker works at night.", "The mates of the Aker work at noon.",
            "The cook of the Aker washed the deck.", "The cooks of the Aker wash the masts.",
            "The boat of Olaf has lamp at the mast.", "The crane touches the quay of Holm.",
        )),
    ),
}  # fmt: skip  # a table
_DATES = {
    "months": _sides(
        sorted({*dates._MONTHS, *dates._NAMES}),
        lambda month, n, side: f"Since {month} {1900 + side} the mole {_shown(n)} holds 7{side} lamps.",
    ),
    "days": _sides(
        (*(f"5 {one} May" for one in dates._ORDINALS), "5 May", "31 May", "May 5,", "123 May"),
        lambda day, n, side: f"Since {day} {1900 + side} the mole {_shown(n)} holds 7{side} lamps.",
    ),
    "words before a date": _sides(
        sorted(dates._LEADS),
        lambda word, n, side: f"Since {word} 19{side} the mole {_shown(n)} holds 7{side} lamps.",
    ),
    "words before a date alone": _sides(
        sorted(dates._LEADS),
        lambda word, n, side: f"The mole {_shown(n)} held 7{side} lamps {word} 1961, and 3 of iron.",
    ),
}


def _again(
    sentence_of: Callable[[str, int], str], plainly: Callable[[int], str], entries: Iterable[str]
) -> tuple[str, str]:
    """Return a page of statements, and one that adds an entry to each: the same statement or another."""
    each = list(enumerate(entries))
    return (
        "# Rules of the mole\n\n" + "\n\n".join(plainly(n) for n, _ in each),
        "# Words of the keeper\n\n" + "\n\n".join(sentence_of(one, n) for n, one in each),
    )


_SAME = {
    "words that say nothing": _again(
        lambda word, n: f"{word}, lamps of kind {_shown(n)} are lit {word} at dusk in summer.",
        lambda n: f"Lamps of kind {_shown(n)} are lit at dusk in summer.",
        sorted(reading._SAY_NOTHING),
    ),
    "words that lean on others": _again(
        lambda word, n: f"{word} lamp of kind {_shown(n)} is lit at dusk in summer.",
        lambda n: f"{sorted(reading.LEANING)[n]} lamp of kind {_shown(n)} is lit at dusk in summer.",
        sorted(reading.LEANING),
    ),
    "words that deny": _again(
        lambda word, n: f"Lamps of kind {_shown(n)}, {word} of glass, are lit at dusk in summer.",
        lambda n: (
            f"Lamps of kind {_shown(n)} {sorted(reading._NEGATIONS)[n]} of glass are lit at dusk in summer."
        ),
        sorted(reading._NEGATIONS),
    ),
    "marks around a word": _again(
        lambda mark, n: f"Lamps of kind {_shown(n)} are {mark}lit{mark} at dusk in summer.",
        lambda n: f"Lamps of kind {_shown(n)} are lit at dusk in summer.",
        sorted({*words._OPENING, *words._CLOSING, *reading._SIGNS, *words._CURRENCY, *reading._MARKS}),
    ),
    "marks around a number": _again(
        lambda mark, n: f"Lamps of kind {_shown(n)} are lit {mark}7{mark} times in summer.",
        lambda n: f"Lamps of kind {_shown(n)} are lit 7 times in summer.",
        sorted({*words._OPENING, *words._CLOSING, *reading._SIGNS, *words._CURRENCY, *reading._MARKS}),
    ),
    "marks that stand alone": _again(
        lambda mark, n: f"Lamps of kind {_shown(n)} are lit {mark} 7 times in summer.",
        lambda n: f"Lamps of kind {_shown(n)} are lit 7 times in summer.",
        sorted({*reading._SIGNS, *words._CLOSING}),
    ),
    "marks beside a denial": _again(
        lambda mark, n: f"Lamps of kind {_shown(n)} are never {mark} lit at dusk in summer{mark}",
        lambda n: f"Lamps of kind {_shown(n)} are never lit at dusk in summer",
        sorted(reading._MARKS_OF_CLAUSES),
    ),
}


def _records(
    sentence_of: Callable[[str, int], dict[str, Any]], entries: Iterable[str]
) -> list[dict[str, Any]]:
    return [sentence_of(one, n) for n, one in enumerate(entries)]


def _named_records(side: int) -> dict[str, _Page]:
    return {
        "dates": _records(lambda key, n: {"id": f"d-{n}1", "lamps": side, key: f"19{side}"}, records._DATES),
        "keys that say which": _records(
            lambda key, n: {"id": f"w-{n}1", "lamps": side, key: f"mole {side}"},
            [*sorted(records._SAY_WHICH), "x_id", "x_number", "x_url", "x_date", "x_at"],
        ),
        "keys that pass": _records(
            lambda key, n: {"id": f"p-{n}1", "tons": 4, key: f"mole {side}"}, sorted(records._PASSING)
        ),
        "keys that name": _records(
            lambda key, n: {key: f"n-{n}1", "lamps": side, "tons": 4, "masts": 5}, (*records._IDS, *records._NAMES)
        ),
    }  # fmt: skip  # a table


_KEYS = {
    "keys of a title": _records(
        lambda key, n: {"lamps": n, key: f"Lamp {n}", "kind": "lamp"},
        (*titles._KEYS, *(f"a{end}" for end in titles._ENDINGS), *titles._LESS_TELLING_KEYS),
    ),
    "keys of a text": _records(lambda key, n: {"lamps": n, key: _SHORT}, sorted(pieces.TEXT_KEYS)),
}
_LINES = {
    "lines that go on": _records(
        lambda word, n: {"text": f"Lamps of kind {_shown(n)} {word}\nThe mole {_LONG}."},
        sorted(blocks._GOES_ON),
    ),
    "lines that say something": _records(
        lambda word, n: {"text": f"Lamps {word} of kind {_shown(n)}\nThe mole {_LONG}."},
        sorted(blocks._SAYS),
    ),
    "lines that end": _records(
        lambda mark, n: {"text": f"Lamps of kind {_shown(n)}{mark}\n\nThe mole {_LONG}."},
        blocks._SENTENCE_END,
    ),
    "headings that end": _records(
        lambda mark, n: {"text": f"# Lamps of kind {_shown(n)}{mark}\n\n## Moles {mark}\n\n{_LONG}"},
        sentences._FULL_STOP,
    ),
}
_PAIRED = {
    **_CLAIMS,
    **_NAMED,
    **_DENIALS,
    **_DATES,
    **_SAME,
    **{f"records by {name}": (page, _named_records(62)[name]) for name, page in _named_records(61).items()},
}
_LITTLE = sorted(words._SAY_LITTLE)
LITTLE_WORDS = f"Which {' '.join(_LITTLE)} lamps?"
"""A question of stop words, which bring no fact closer."""
PAIRS = tuple((f"{name}, first", f"{name}, second") for name in _PAIRED)
"""Pairs of page names, in the order in which the pages are opened."""
SINGLE = (*_KEYS, *_LINES)
TABLE_PAGES: dict[str, _Page] = {
    "words that say little": _lines("# Moles\n\n", _LITTLE, "The mole {n} stands {word} {word} stone."),
    **_KEYS,
    **_LINES,
    **{
        f"{name}, {side}": page
        for name, pages in _PAIRED.items()
        for side, page in zip(("first", "second"), pages, strict=True)
    },
}


def _of_summaries() -> Iterator[tuple[str, str]]:
    """Yield, for each entry of the tables that check summaries, a fact and a true line in other words."""
    sides = [sides for sides in faithful._OPPOSITES if "lowerbound" not in sides]
    for form, (kind, _) in units.UNITS.items():
        # The other way round, which is the same only where both of them are numbers of different units.
        yield (
            f"The harbour of this kind has 9 {form} and 5 lamps in all.",
            f"the harbour of this kind has 5 lamps in all and 9 {form}.",
        )
        if form in units.CURRENCIES or (kind in units.CURRENCIES and len(form) == 1):
            yield (
                f"The fee of this harbour is {form} 9 and 5 lamps in all.",
                f"the fee of this harbour is 5 lamps in all and {form} 9.",
            )
    for word, number in numbers.CARDINALS.items():
        if word != "one":  # a pronoun as often
            yield (
                f"The harbour of this kind has {word} lamps.",
                f"the harbour of this kind has {number} lamps.",
            )
    for word in sorted(faithful._DENIALS):
        yield f"The harbour of this kind, {word} of it lit.", "the harbour of this kind, not of it lit."
    for side in (side for pair in sides for side in pair):
        first, *rest = side.split()
        yield from (
            (f"The harbour {word} at this quay.", f"the harbour {first} at this quay.") for word in rest
        )
    for bounds in (_LOWER, _UPPER):
        yield from (
            (f"The harbour has {one} 7 lamps.", f"the harbour has {bounds[0]} 7 lamps.") for one in bounds
        )
    yield "The harbour has no less than 7 lamps.", "the harbour has no fewer than 7 lamps."
    yield "The harbour has no more than 7 lamps.", "the harbour has no more than 7 lamps."
    for word in sorted(faithful._BEGIN_SENTENCES):
        # Of a word that is known to begin sentences a fact need not speak; but if it denies, a fact has to deny.
        denied = "does not keep" if word in faithful._DENIALS else "keeps"
        kind = f"{_shown(len(word))}{word[::-1]}"
        yield (
            f"The harbour {denied} lamps of kind {kind} at the quay.",
            f"{word.capitalize()} the harbour keeps lamps of kind {kind} at the quay.",
        )
    yield "The harbour has twenty lamps and 3 moles.", "the harbour has 3 moles."


_LOWER = ("at least", "above", "exceeding", "over", "minimum of")
_UPPER = ("at most", "below", "up to", "under", "maximum of")
_SIDES = 3
_SUMMARIES = dict(_of_summaries())
_LIGHTHOUSES = tuple(f"The harbour light is a lighthouse of its own, {unlike(n)}." for n in range(150))
SUMMARIES = tuple(
    (
        f"facts to be summarized {side}",
        "\n".join(f"F{n}: {line}" for n, line in enumerate(list(_SUMMARIES.values())[side::_SIDES], 1)),
    )
    for side in range(_SIDES)
)
"""The name of a page, and a summary that is true except for its lighthouses."""
TABLE_PAGES |= {
    name: [{"text": text} for text in (*list(_SUMMARIES)[side::_SIDES], *_LIGHTHOUSES)]
    for side, (name, _) in enumerate(SUMMARIES)
}
