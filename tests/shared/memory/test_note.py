"""Notes as models write them: well, carelessly, and with bad intent."""

import pytest
from antiphon_shared.memory.note import Note, read_note
from antiphon_shared.memory.note_entries import (
    ENTRIES_MAX,
    ENTRY_CHARACTERS_MAX,
    NOTE_CHARACTERS_MAX,
    NOTE_FORM,
)
from hypothesis import given
from hypothesis import strategies as st

CANONICAL = """I will look up the teachers.

<note>
concluded: Course B covers the same topic as lesson 4 [F3, F7]
open: Who teaches course B?
answered: What is lesson 4 about? Authentication [F3]
doubt: the outline may be out of date
plan: look up the teachers of course B
constraint: only courses in English
</note>"""
WHOLE = Note(
    concluded=("Course B covers the same topic as lesson 4 [F3, F7]",),
    open=("Who teaches course B?",),
    answered=("What is lesson 4 about? Authentication [F3]",),
    doubts=("the outline may be out of date",),
    plans=("look up the teachers of course B",),
    constraints=("only courses in English",),
)
BRIEF = Note(concluded=("B is taught by Ana [F3]",), open=("Since when?",))
ONE_OPEN = Note(open=("Since when?",))
TWO_OPEN = Note(open=("Who teaches B?", "Since when?"))
AS_JSON = '{"concluded": ["B is taught by Ana [F3]"], "open": "Since when?", "doubts": [], "plan": null}'

READ = {
    "the form of the documentation": (CANONICAL, WHOLE, "I will look up the teachers."),
    "nothing but a note": ("<note>\nopen: Who teaches B?\nopen: Since when?\n</note>", TWO_OPEN, ""),
    "another case": ("<NOTE>\nConcluded: B is taught by Ana [F3]\nOPEN: Since when?\n</Note>", BRIEF, ""),
    "on one line with the text": ("Searching. <note>open: Since when?</note>", ONE_OPEN, "Searching."),
    "in the middle of the text": (
        "Before.\n<note>\nopen: Since when?\n</note>\nAfter.",
        ONE_OPEN,
        "Before.\n\nAfter.",
    ),
    "not closed": (
        "Searching.\n<note>\nconcluded: B is taught by Ana [F3]\nopen: Since when?",
        BRIEF,
        "Searching.",
    ),
    "not closed, and text behind it": (
        "<note>\nopen: Since when?\n\n- plan: ask\n\nThe answer is 42.",
        Note(open=("Since when?",), plans=("ask",)),
        "The answer is 42.",
    ),
    "not closed, and another after it": (
        "<note>\nopen: Old?\n<note>\nopen: Since when?\n</note>",
        ONE_OPEN,
        "",
    ),
    "in a code fence": ("Searching.\n```\n<note>\nopen: Since when?\n</note>\n```", ONE_OPEN, "Searching."),
    "in an xml fence, not closed": (
        "```xml\n<note>\nopen: Since when?\n```\nSearching.",
        ONE_OPEN,
        "Searching.",
    ),
    "as a fence": (
        "Searching.\n\n```note\nconcluded: B is taught by Ana [F3]\nopen: Since when?\n```",
        BRIEF,
        "Searching.",
    ),
    "as a fence of tildes": ("~~~note\nopen: Since when?\n~~~", ONE_OPEN, ""),
    "JSON": (f"<note>{AS_JSON}</note>", BRIEF, ""),
    "JSON in a fence in the note": (
        f"Searching.\n<note>\n```json\n{AS_JSON}\n```\n</note>",
        BRIEF,
        "Searching.",
    ),
    "JSON in a note fence": (f'```note\n{{"note": {AS_JSON}}}\n```', BRIEF, ""),
    "JSON cut off": (
        '<note>{"concluded": ["B is \\"taught\\" by Ana"], "open": ["Since when?", "Who el',
        Note(concluded=('B is "taught" by Ana',), open=("Since when?",)),
        "",
    ),
    "JSON of objects": (
        '<note>{"answered": [{"question": "Who?", "answer": "Ana [F3]"}], "open": {"1": "Since when?"}}</note>',
        Note(answered=("Who? Ana [F3]",), open=("1 Since when?",)),
        "",
    ),
    "bullets before the keys": (
        "<note>\n- concluded: B is taught by Ana [F3]\n* open: Since when?\n</note>",
        BRIEF,
        "",
    ),
    "bold keys": (
        "<note>\n**Concluded**: B is taught by Ana [F3]\n**Open:** Since when?\n</note>",
        BRIEF,
        "",
    ),
    "bullets below a key": (
        "<note>\nOpen questions:\n- Who teaches B?\n- Since when?\n</note>",
        TWO_OPEN,
        "",
    ),
    "numbers below a key": ("<note>\nopen:\n1. Who teaches B?\n2) Since when?\n</note>", TWO_OPEN, ""),
    "plain lines below a key": ("<note>\nopen:\n  Who teaches B?\n  Since when?\n</note>", TWO_OPEN, ""),
    "headings": (
        "<note>\n## Conclusions\n- B is taught by Ana [F3]\n\n### Open sub-questions\n\n- Since when?\n</note>",
        BRIEF,
        "",
    ),
    "bold headings": (
        "<note>\n**Known facts**\n- B is taught by Ana [F3]\n**Missing**\n- Since when?\n</note>",
        BRIEF,
        "",
    ),
    "a line that goes on": (
        "<note>\nconcluded: B is taught\n   by Ana [F3]\nopen: Since when?\n</note>",
        BRIEF,
        "",
    ),
    "a paragraph of chat in it": (
        "<note>\nMy state:\nconcluded: B is taught by Ana [F3]\nopen: Since when?\n\nOff I go!\n</note>",
        BRIEF,
        "",
    ),
    "tags for keys": (
        "<note>\n<concluded>B is taught by Ana [F3]</concluded>\n<open>Since when?</open>\n</note>",
        BRIEF,
        "",
    ),
    "synonyms": (
        "<note>\nknown: a\nsub_questions: b\nresolved: c\nuncertain: d\nnext steps: e\nconstraints: f\n</note>",
        Note(concluded=("a",), open=("b",), answered=("c",), doubts=("d",), plans=("e",), constraints=("f",)),
        "",
    ),
    "counts at the keys": (
        "<note>\nconcluded (1): B is taught by Ana [F3]\nopen (still): Since when?\n</note>",
        BRIEF,
        "",
    ),
    "fullwidth colons and odd line ends": (
        "<note>\r\nconcluded：B is taught by Ana [F3]\u2028open: Since when?\r\n</note>",
        BRIEF,
        "",
    ),
    "nothings": (
        "<note>\nconcluded: B is taught by Ana [F3]\nopen: Since when?\ndoubt: none.\n"
        "plan: -\nconstraint: N/A\nanswered: none so far\n</note>",
        BRIEF,
        "",
    ),
    "a word that only begins like nothing": (
        "<note>\nconcluded: none of the courses is free\n</note>",
        Note(concluded=("none of the courses is free",)),
        "",
    ),
    "the same twice": ("<note>\nopen: Since when?\nopen: Since when?\n</note>", ONE_OPEN, ""),
    "several notes": ("<note>open: Old?</note>\nText.\n<note>open: Since when?</note>", ONE_OPEN, "Text."),
    "an empty note after a full one": (
        "<note>open: Since when?</note>\n<note>\nopen: none\n</note>",
        ONE_OPEN,
        "",
    ),
    "not closed, and a note fence behind it": (
        "<note>\nopen: Since when?\n```note\nplan: ask\n```\n\nDone.",
        Note(open=("Since when?",), plans=("ask",)),
        "Done.",
    ),
    "a fence in a fence that was not closed": (
        "```python\nprint(1)\n```note\nopen: Since when?\n```",
        ONE_OPEN,
        "```python\nprint(1)",
    ),
    "a mention before the note": (
        "I end with a `<note>`.\n\n<note>\nopen: Since when?\n</note>",
        ONE_OPEN,
        "I end with a `<note>`.",
    ),
    "a code block that was never closed": (
        "```python\nprint(1)\n\n<note>\nopen: Since when?\n</note>",
        ONE_OPEN,
        "```python\nprint(1)",
    ),
}

KEPT = {
    "no note": "Please note that the note in F3 is open: nobody teaches B.",
    "another tag": "<notebook>\nopen: a.ipynb\n</notebook>",
    "a mention": "Wrap it in <note> and </note>, then go on.",
    "a mention that is not closed": "The <note> element is not part of HTML.\n\nopen: a question",
    "an XML document in the text": "<note><to>Tove</to><body>Do not forget me!</body></note>",
    "an example in code": "Write it so:\n```xml\n<doc>\n<note>\nopen: x\n</note>\n</doc>\n```\nThat is all.",
    "code about notes": "```python\ntext = '<note>'\nopen: int = 3\n```",
    "JSON of something else": '<note>{"to": "Tove", "body": "Hello"}</note>',
    "keys without a note": "concluded: B is taught by Ana\nopen: Since when?",
    "an end in code": "```\n</note>\nopen: x\n```",
    "an end alone": "open: Since when?\n</note>",
    "inline code": "Use `<note>open: x` to begin.",
}

HOSTILE = {
    "JSON that is very deep": "<note>" + '{"open":' + "[" * 15_000,
    "objects that are very deep": "<note>" + '{"open":' * 2_000 + "1" + "}" * 2_000,
    "objects that are rather deep": "<note>" + '{"open":' * 600 + "1" + "}" * 600,
    "many beginnings": "<note>open: x\n" * 20_000,
    "many beginnings of tags": "<" * 200_000,
    "many fences": "```note\n" * 30_000,
    "many blank lines": "<note>open: x" + "\n" * 200_000 + "y",
    "many spaces": "<note>" + " " * 200_000 + "open" + " " * 200_000 + ": x",
    "many quotation marks": '<note>{"open": ' + '"\\' * 100_000,
    "many escaped quotation marks": '<note>{"open": "' + '\\"' * 100_000,
    "many marks": "<note>\n" + "*" * 100_000 + "open" + "*" * 100_000 + ":",
    "many bullets": "<note>open: " + "- " * 100_000,
    "a number that is very long": '<note>{"open": ' + "9" * 19_000 + "}</note>",
    "lone surrogates": "<note>open: \ud800 who?\udfff</note>",
    "keys as values": "<note>" + "open: " * 3_000,
}

_KEYS = {
    "concluded": "concluded",
    "open": "open",
    "answered": "answered",
    "doubts": "doubt",
    "plans": "plan",
    "constraints": "constraint",
    "goal": "goal",
}


def write_note(note: Note) -> str:
    """Return the note in the form that the prompt asks for."""
    lines = [
        f"{key}: {' '.join(entry.split())}"
        for kind, key in _KEYS.items()
        for entry in getattr(note, kind)
        if entry
    ]
    return "\n".join(["<note>", *lines, "</note>"])


@pytest.mark.parametrize(("text", "note", "rest"), READ.values(), ids=READ)
def test_a_note_is_read_and_removed_from_the_text(text: str, note: Note, rest: str) -> None:
    assert read_note(text) == (note, rest)


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_text_without_a_note_is_unchanged(text: str) -> None:
    assert read_note(text) == (None, text)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_note_is_read_within_its_bounds(text: str) -> None:
    note, _ = read_note(text)

    if note is not None:
        assert Note.model_validate_json(note.model_dump_json()) == note
        assert all(
            len(line) <= ENTRY_CHARACTERS_MAX for lines in note.model_dump().values() for line in lines
        )
        assert read_note(write_note(note)) == (note, "")


@pytest.mark.parametrize(
    "text",
    [
        NOTE_FORM,
        "<note></note>",
        "<note>\nconcluded: <what is established, with its facts>\nopen: ...\nplan: […]\n</note>",
        "<note>\nopen: no open questions\nplan: [F3]\n</note>",
    ],
)
def test_an_unfilled_form_is_removed(text: str) -> None:
    assert read_note(f"Searching.\n{text}") == (None, "Searching.")


def test_entries_and_notes_are_cut_at_their_bounds() -> None:
    many = "\n".join(f"open: question {number}?" for number in range(ENTRIES_MAX + 5))
    long = "concluded: " + "x" * (ENTRY_CHARACTERS_MAX + 5)
    late = "\n" * NOTE_CHARACTERS_MAX + "plan: too late"

    note, rest = read_note(f"<note>\n{many}\n{long}\n{late}\n</note>\nRest.")

    assert note is not None
    assert note.open == tuple(f"question {number}?" for number in range(ENTRIES_MAX))
    assert note.concluded == ("x" * ENTRY_CHARACTERS_MAX,)
    assert note.plans == ()
    assert rest == "Rest."


WORDS = st.lists(
    st.sampled_from(
        [
            "<note>",
            "</note>",
            "```",
            "```note",
            "\n",
            "\n\n",
            "open:",
            "**Open**:",
            "- ",
            "1. ",
            "x",
            "<open>",
            "</open>",
            "none",
            "...",
            '{"open": ["',
            '"]}',
            '"',
            "[F3]",
            "**",
            "<",
            ">",
            "# Plan",
            "known so far:",
            "\ud800",
            "\u2028",
            "`",
        ]
    )
    | st.text(max_size=8),
    max_size=30,
)


@given(WORDS, st.sampled_from(["", " ", "\n"]))
def test_a_note_survives_writing_and_reading(words: list[str], between: str) -> None:
    note, rest = read_note(between.join(words))

    assert rest == rest.strip()
    if note is not None:
        assert read_note(write_note(note)) == (note, "")


@given(WORDS, st.sampled_from(["", " ", "\n"]))
def test_every_remaining_paragraph_occurs_in_the_text(words: list[str], between: str) -> None:
    text = between.join(words)

    assert all(paragraph in text for paragraph in read_note(text)[1].split("\n\n"))


ENTRY = st.lists(
    st.sampled_from(["who", "teaches", "B", "[F3]", "since", "2019?", "open:", "none", "-"]),
    min_size=3,
    max_size=8,
)


@given(
    st.dictionaries(
        st.sampled_from(list(Note.model_fields)), st.lists(ENTRY, min_size=1, max_size=3), min_size=1
    )
)
def test_a_written_note_reads_back_the_same_in_any_text(kinds: dict[str, list[list[str]]]) -> None:
    note = Note(
        **{
            kind: tuple(dict.fromkeys("It says " + " ".join(words) for words in entries))
            for kind, entries in kinds.items()
        }
    )

    assert read_note(f"Before.\n\n{write_note(note)}\n\nAfter.") == (note, "Before.\n\nAfter.")
