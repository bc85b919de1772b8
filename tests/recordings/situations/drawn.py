"""Sessions with a random question, random pages, notes and answer; see drawn_texts.py.

Like those of tables.py, they are always kept: a line that handles one text correctly may fail on another.
"""

from tests.messages_server import Scripted
from tests.recordings import drawn_texts as drawn
from tests.recordings.asked import asked
from tests.recordings.drawn_pages import names_of
from tests.recordings.scenario import Scenario, fails, says, use

_ROUNDS = 5
_OF_A_ROUND = 4
_OPTIONS = {"max_rounds": _ROUNDS + 2, "max_tool_calls": 100}
_ASKED_FOR_SUMMARY = "You shorten notes"
_FAILS = (fails(401, "authentication_error"),) * 2


def _replies(name: str, ending: tuple[Scripted, ...]) -> tuple[Scripted, ...]:
    """Return a note in each round, with calls that open pages; one in four is a letter of an unknown author."""
    notes = drawn.several(drawn.note, f"{name}, notes", _ROUNDS)
    asked = drawn.several(drawn.question, f"{name}, searches", _ROUNDS)
    names = names_of(name)
    rounds = []
    for n, note in enumerate(notes):
        opened = names[n * _OF_A_ROUND : (n + 1) * _OF_A_ROUND]
        opens = [use("open_page" if at else "open_letter", name=page) for at, page in enumerate(opened)]
        rounds.append(says(note, *opens, use("find", query=asked[n])))
    return (*rounds, *ending)


def _answer(name: str) -> str:
    return drawn.several(drawn.answer, f"{name}, answer", 1)[0]


def _question(name: str) -> str:
    return drawn.several(drawn.question, f"{name}, question", 1)[0]


def _in_turn(replies: tuple[Scripted, ...]) -> tuple[Scripted, ...]:
    """Return replies that name their rounds: requests for summaries would disturb their order."""
    return tuple(one.model_copy(update={"when": f"Round {n} of"}) for n, one in enumerate(replies, 1))


SCENARIOS = (
    *(
        Scenario(
            name,
            _question(name),
            _replies(name, (says(_answer(name)),)),
            options={**_OPTIONS, "citations": citations},
            deployment="pages",
        )
        for name, citations in (("drawn_1", "strict"), ("drawn_2", "normal"), ("drawn_3", "strict"))
    ),
    *(
        Scenario(
            name,
            _question(name),
            _replies(name, _FAILS),
            ends="model_unavailable",
            options=_OPTIONS,
            deployment="pages",
        )
        for name in ("drawn_4", "drawn_5")
    ),
    *(
        Scenario(
            name,
            _question(name),
            (
                Scripted(when=_ASKED_FOR_SUMMARY, text=_answer(f"{name}, summary"), repeat=True),
                *_in_turn(_replies(name, (says(_answer(name)),))),
            ),
            options=_OPTIONS,
            deployment="small_pages",
            apart=name,
        )
        for name in ("drawn_6", "drawn_7")
    ),
    *(asked(f"drawn_question_{n}", _question(f"drawn_question_{n}")) for n in range(8)),
)
NAMES = frozenset(one.name for one in SCENARIOS)
