"""Each entry of the word tables by which the pure modules read; see tests/recordings/table_pages.py.

Coverage of lines does not distinguish the entries of a table, so these recordings are always kept.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from antiphon_shared.memory import note_entries as note
from antiphon_shared.memory.filing import queries
from antiphon_shared.text import tokens
from antiphon_shared.tools import ask_user

from reasoning_engine import failure
from tests.messages_server import Scripted, Use
from tests.recordings.asked import asked
from tests.recordings.length_pages import LENGTH_PAGES, text_of
from tests.recordings.scenario import Scenario, calls, fails, says, use
from tests.recordings.table_pages import LITTLE_WORDS, PAIRS, SINGLE, SUMMARIES

_AT_ONCE = 6
_REPEATED = 100
"""The occurrences of a character in a text at which a change of its price changes the text's tokens."""
_FAILURES_AT_ONCE = 2
_COMMANDS = (
    *("Find", "Tell me", "List", "Compare", "Explain", "Summarise", "Summarize", "Describe", "Calculate"),
    *("Compute", "Determine", "Identify", "Give me", "Show me", "Check", "Recommend", "Suggest", "Look up"),
    *(
        "Search for",
        "Work out",
        "Figure out",
        "Estimate",
        "Name",
        "Rank",
        "And then find",
        "Please also list",
    ),
)
_AUXILIARIES = (
    *("is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would"),
    *("should", "may", "might", "must"),
)
_PRONOUNS = ("it", "they", "he", "she", "we", "you", "I", "there", "any", "these", "those")
_ASKING = (
    "who",
    "whom",
    "whose",
    "what",
    "which",
    "when",
    "where",
    "why",
    "how",
    "what's",
    "who’re",
    "how'd",
)
_REFERRING = ("it", "its", "they", "them", "their", "he", "him", "his", "she", "her", "this", "that", "these")
_FORMS = (
    *("your reasoning", "the answer", "sources", "citations", "a table", "words", "sentences", "the format"),
    *("JSON", "Markdown", "bullets", "bullet points", "it step by step", "it briefly", "a concise text"),
)
_JOINTS = (
    "Who keeps the mole, who lights the lamp and how old is it?",
    "Who keeps the mole and also what does it cost?",
    "The mole is old, and does it stand?",
    "Describe the mole; find the lamp, then list the boats and then rank the towns, and check the quay.",
    "Describe the mole and explain the lamp and list their boats and compare all the towns and check both of them.",
    "Who in Holm has a lamp; and is it lit? Who on the mole has one; where is it?",
    "What is known on lamps with respect to glass? Which lamp is brighter for boats when it is dark?",
    "Compare Holm to Nes. Compare Holm versus Vik. Compare Holm vs. Ostra. Compare Holm against Sund on price.",
    "Compare the lamps of Holm, Nes, and Vik regarding light. Which is older, Holm or Nes?",
    'Is "Holm? Nes?" a song? Is “Vik? Sund?” one? Is «Aker? Mole?» one? Is `a? b?` one? Is (c? d?) one? Is [e? f?] one?',
)
_CONSTRAINTS = (
    *(
        "at most 5 lamps",
        "at least $5 a day",
        "no more than 7 boats",
        "no less than 6 masts",
        "no fewer than 2",
    ),
    *(
        "no later than May",
        "no earlier than Monday",
        "up to 9 tons",
        "under 3 metres",
        "below €4",
        "above £2",
    ),
    *(
        "over 8 knots",
        "within 3 days",
        "before January",
        "after Feb 3",
        "by March",
        "until April",
        "since June",
    ),
    *("between 3 and 4", "by July", "by August", "by September", "by October", "by November", "by December"),
    *("by Tuesday", "by Wednesday", "by Thursday", "by Friday", "by Saturday", "by Sunday", "by today"),
    *("by tomorrow", "since yesterday", "only lamps", "without masts", "except boats", "but not quays"),
    *("not counting towns", "excluding piers"),
)
_NOTHING = (
    *("none", "nothing", "n/a", "na", "nil", "null", "no", "tbd", "none yet", "nothing so far", "none left"),
    *(
        "nothing remaining",
        "none at present",
        "none for now",
        "nothing known",
        "none open",
        "no more questions",
    ),
    *(
        "no further doubts",
        "no open sub-questions",
        "no new plans",
        "no remaining constraints",
        "<what is open>",
    ),
    *("...", "[…]", "{..}", "(...)"),
)


def _few(entries: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    return (entries[at : at + most] for at in range(0, len(entries), most))


def _pages(names: Iterable[str]) -> Scripted:
    return calls(*(use("open_page", name=name) for name in names))


def _queries() -> Iterator[str]:
    """Yield questions of at most eight parts, one for each entry of a table."""
    asks = [f"{one} the lamp of Holm {n} and its mole." for n, one in enumerate(_COMMANDS)]
    asks += [f"{_AUXILIARIES[n % 18]} {_PRONOUNS[n % 11]} at the mole of Holm {n}." for n in range(22)]
    asks += [f"{one} of Holm {n} keeps the lamp of the mole." for n, one in enumerate(_ASKING)]
    asks += [f"Which lamp of Holm {n} is lit, and why is {one} so old?" for n, one in enumerate(_REFERRING)]
    yield from (" ".join(some) for some in _few(asks, 7))
    yield from (f"What is a mole? {' '.join(f'List {one}.' for one in some)}" for some in _few(_FORMS, 7))
    yield from (" ".join(some) for some in _few(_JOINTS, 2))
    yield from (f"Which boats are there, {', '.join(some)}?" for some in _few(_CONSTRAINTS, 8))


def _notes() -> Iterator[str]:
    """Yield replies with one key of a note in each form, and with all empty values."""
    for kind, keys in note.KEYS.items():
        ways = [
            form
            for key in keys
            for form in (key, f"{key.upper()}s", key.replace(" ", "-"), key.replace(" ", ""))
        ]
        yield (
            "<note>\n"
            + "\n".join(f"{way}: {kind} {n}" for n, way in enumerate(dict.fromkeys(ways)))
            + "\n</note>"
        )
    yield "<note>\nplan: look\n" + "\n".join(f"open: {one}" for one in _NOTHING) + "\n</note>"
    marks = (
        "- open: a",
        "* plan: b",
        "## open: c",
        "3. plan: d",
        "4) open: e",
        "**doubt**: f",
        "`plan`: g",
        '"open": h',
    )
    more = (
        "__plan__: i",
        "open (of two): j",
        "plan (): k",
        "open ： l",
        "**open:** m",
        "## Plans",
        "n",
        "**Doubts**",
        "- o",
        "p",
    )
    yield "<note>\n" + "\n".join((*marks, *more)) + "\n</note>"


def _bounded_notes() -> Iterator[tuple[str, int]]:
    """Yield notes with entries and counts at their bounds, each as long as a question to search by."""
    most, longest, whole = note.ENTRIES_MAX, note.ENTRY_CHARACTERS_MAX, note.NOTE_CHARACTERS_MAX
    for more, length in ((-1, 399), (0, 400), (1, 401)):
        entries = "\n".join(f"open: question {n}" for n in range(most + more))
        yield f"<note>\n{entries}\nplan: {text_of(longest + more)}\n</note>", length
    for more in (-1, 0, 1):
        yield f"<note>\nplan: look\n{' ' * (whole - 30)}\nopen: {'x' * (10 + more)}\n</note>", 30


def _signs() -> Iterator[str]:
    """Yield texts in which each character is so frequent that its price has an effect."""
    yield "".join(sign * _REPEATED for signs in tokens._CHARACTERS.values() for sign in signs) + "?"
    of_many_bytes = "§ÀßŁéäΩЖشअᚠ‰かカ中國語漢한글豈🚀😀"
    yield "".join(sign * _REPEATED for sign in of_many_bytes) + "?"


_FAILURES = {
    **{f"of_type_{kind}": Scripted(status=499, error=kind, text="scripted") for kind in failure._BY_TYPE},
    **{f"of_status_{status}": fails(status, "nobody_knows") for status in failure._BY_STATUS},
    **{
        f"spent_{n}": Scripted(
            status=400,
            body=f'{{"type":"error","error":{{"type":"a","message":"b","details":{{"error_code":"{code}"}}}}}}',
        )
        for n, code in enumerate(failure._SPENT)
    },
    **{
        f"too_long_{n}": fails(400, "invalid_request_error", f"So {words} it is")
        for n, words in enumerate(failure._TOO_LONG)
    },
}
_ARGUMENTS = {
    key: f"{key[:2]}{chr(97 + n % 26)} {chr(97 + n // 26)}{chr(97 + n % 26)}"
    for n, key in enumerate((*sorted(queries._SEARCH_KEYS), *(f"x{end}" for end in queries._SEARCH_ENDINGS)))
}
_SEARCHES = tuple(
    Use(name="find", input=dict(list(_ARGUMENTS.items())[at : at + 12]))
    for at in range(0, len(_ARGUMENTS), 12)
)
_ASKED_FOR_SUMMARY = "You shorten notes"
_ROUNDS: dict[str, Any] = {"max_rounds": 20, "max_tool_calls": 100}
_ANSWER = says("That is all [F1].")


def _of_size(n: int) -> Scripted:
    """Return a round with another ratio of counted to estimated tokens, so that the next briefing's size differs."""
    return calls(
        use("open_page", name="log book" if n < 2 else f"{('mate', 'denials', 'states', 'prose')[n % 3]}"),
        use("find", query=f"lamp {n}"),
        usage={"input_tokens": 2_000 + 700 * n, "output_tokens": 20},
    )


SCENARIOS = (
    *(
        Scenario(
            f"tables_of_pairs_{n}",
            f"What does the survey say of moles, lamps and boats ({n})?",
            (_pages(first for first, _ in pairs), _pages(second for _, second in pairs), _ANSWER),
            options=_ROUNDS,
            deployment="small_pages",
        )
        for n, pairs in enumerate([PAIRS[at : at + _AT_ONCE] for at in range(0, len(PAIRS), _AT_ONCE)])
    ),
    Scenario(
        "tables_of_single_pages",
        "What does the survey say of lamps?",
        (_pages(SINGLE), calls(*_SEARCHES), _ANSWER),
        options=_ROUNDS,
        deployment="small_pages",
    ),
    *(asked(f"tables_of_questions_{n}", query) for n, query in enumerate(_queries())),
    *(
        Scenario(f"tables_of_signs_{n}", query, (says("That is known."),), deployment="pages")
        for n, query in enumerate(_signs())
    ),
    Scenario(
        "tables_of_notes",
        "What is there to be noted?",
        (*(says(text, use("find", query=f"lamp {n}")) for n, text in enumerate(_notes())), _ANSWER),
        options=_ROUNDS,
        deployment="small_pages",
    ),
    *(
        Scenario(
            f"tables_of_failures_{n}",
            f"Does it fail ({n})?",
            (*some, says("It did.")),
            ends="any",
            deployment="impatient",
        )
        for n, some in enumerate(
            [
                list(_FAILURES.values())[at : at + _FAILURES_AT_ONCE]
                for at in range(0, len(_FAILURES), _FAILURES_AT_ONCE)
            ]
        )
    ),
    *(
        Scenario(
            f"tables_of_a_summary_{n}",
            "Which harbour has a lighthouse of its own?",
            (
                Scripted(when=_ASKED_FOR_SUMMARY, text=summary, repeat=True, piece=2_000),
                calls(use("open_page", name=page)).model_copy(update={"when": "Round 1 of"}),
                says("More.", use("find", query="x y"), wait_s=0.6).model_copy(update={"when": "Round 2 of"}),
                says("More.", use("find", query="x z"), wait_s=0.6).model_copy(update={"when": "Round 3 of"}),
                says("Many have one [F200].").model_copy(update={"when": "Round 4 of"}),
            ),
            options={"max_rounds": 5},
            deployment="small_pages",
            apart=f"tables_of_a_summary_{n}",
        )
        for n, (page, summary) in enumerate(SUMMARIES)
    ),
    Scenario(
        "tables_of_sizes",
        "Which harbour has a lighthouse, a mole, a ferry, and since when?",
        (*map(_of_size, range(14)), _ANSWER),
        options=_ROUNDS,
        deployment="middling_briefings",
    ),
    Scenario(
        "tables_of_words_that_say_little",
        LITTLE_WORDS,
        (_pages(["words that say little"]), calls(use("find", query="x")), _ANSWER),
        deployment="small_pages",
    ),
    Scenario(
        "tables_of_lengths",
        "What is told of moles, lamps and stones?",
        (
            _pages(list(LENGTH_PAGES)[:5]),
            _pages(list(LENGTH_PAGES)[5:10]),
            _pages(list(LENGTH_PAGES)[10:]),
            *(says(text, use("find", query=text_of(length))) for text, length in _bounded_notes()),
            _ANSWER,
        ),
        options=_ROUNDS,
        deployment="small_pages",
    ),
    *(
        asked(
            f"tables_of_lengths_of_a_question_{length}",
            text_of(length, "Who built it? And by at most 4 of May, ", "?"),
        )
        for length in (299, 300, 301, 3_999, 4_000, 4_001)
    ),
    Scenario(
        "tables_of_lengths_of_an_ask",
        "Which one is meant?",
        (
            *(
                calls(
                    use("ask_user", question=text_of(ask_user.QUESTION_CHARACTERS + more, end="?")),
                    use(
                        "ask_user", question="Or?", choices=[text_of(ask_user.CHOICE_CHARACTERS + more), "b"]
                    ),
                    use(
                        "ask_user",
                        question="?",
                        choices=[f"c {n}" for n in range(ask_user.CHOICES_MAX + more)],
                    ),
                )
                for more in (-1, 0, 1)
            ),
            _ANSWER,
        ),
        ends="any",
        options={"max_rounds": 8, "interactive": True},
        deployment="pages",
    ),
    Scenario(
        "tables_of_contracts",
        "What is it all?",
        (
            calls(
                use("look_at_one", name="a mole"), use("glance", name="a lamp"), use("keep", name="a mast")
            ),
            says("It is all kept [F1] [F2]."),
        ),
        deployment="limits",
    ),
)
NAMES = frozenset(one.name for one in SCENARIOS)
