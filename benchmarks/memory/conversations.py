"""Long conversations of two friends over dated sessions, and questions on what was said in passing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random

from benchmarks.memory.form import Call, Passage, Question, Round
from benchmarks.memory.prose import fill, talk, words
from benchmarks.memory.searches import Engine

_FACTS, _QUESTIONS, _SESSIONS, _NEAR = 10, 4, 26, 3


@dataclass(frozen=True)
class _Said:
    """A fact in the words of a speaker, and what a reader might ask about it."""

    line: str
    question: str
    searches: tuple[str, ...]
    near: tuple[str, ...]
    """What the same speaker says of the same things elsewhere."""


@dataclass
class _Session:
    title: str
    lines: list[str] = field(default_factory=list)


def conversation(number: int, random: Random) -> list[Question]:
    """One conversation's questions; every round returns pieces of its sessions."""
    speakers = (random.choice(words()["first_f"]), random.choice(words()["first_m"]))
    sessions = _sessions(speakers, random)
    asked: list[_Said] = []
    for template in random.sample(talk()["fact"], _FACTS):
        twins = [_say(template, speaker, random) for speaker in random.sample(speakers, 2)]
        lines = [line for said in twins for line in (said.line, *said.near)]
        for line, session in zip(lines, random.sample(sessions, len(lines)), strict=True):
            session.lines.insert(random.randint(1, len(session.lines) - 1), line)
        asked.append(twins[0])
    pieces = [piece for session in sessions for piece in _pieces(session, random)]
    engine = Engine(pieces)
    made = []
    for n in range(_QUESTIONS):
        parts = [asked.pop() for _ in range(2 if random.random() < 0.35 else 1)]
        made.append(_question(f"conversation-{number}-{n + 1}", parts, speakers, pieces, engine, random))
    return made


def _question(
    id: str,
    parts: list[_Said],
    speakers: tuple[str, str],
    pieces: list[Passage],
    engine: Engine,
    random: Random,
) -> Question:
    """The question in six to ten rounds: a hit for each part, the rest is fishing."""
    asked = [part.question.rstrip("?") for part in parts]
    text = ", and ".join([asked[0], *map(_lower, asked[1:])]) + "?"
    rounds = random.randint(6, 10)
    places = dict(zip(random.sample(range(rounds), len(parts)), parts, strict=True))
    made = []
    for n in range(rounds):
        if part := places.get(n):
            query = random.choice(part.searches)
            wanted = next(i for i, piece in enumerate(pieces) if part.line in piece.parts)
        else:
            query, wanted = _aside(text, parts, speakers, random), None
        results = engine.search(query, random.randint(7, 10), random, wanted)
        made.append(
            Round(calls=(Call(tool="search_conversation", arguments={"query": query}, results=results),))
        )
    gold = tuple(part.line for part in parts)
    return Question(id=id, kind="conversation", question=text, rounds=tuple(made), gold=gold)


def _aside(text: str, parts: list[_Said], speakers: tuple[str, str], random: Random) -> str:
    """The question itself, a search over again, or a name with some word."""
    said = [word for part in parts for search in part.searches for word in search.split() if len(word) > 3]
    about = random.choice([*said, "family", "plans", "news", "holiday", "work", "last week", "health"])
    return random.choice([text, f"{random.choice(speakers)} {about}", random.choice(parts).searches[-1]])


def _sessions(speakers: tuple[str, str], random: Random) -> list[_Session]:
    day = date(2022, 1, 3) + timedelta(days=random.randint(0, 300))
    made = []
    for n in range(1, _SESSIONS + 1):
        day += timedelta(days=random.randint(3, 24))
        session = _Session(f"Session {n}, {day:%d %B %Y}".replace(" 0", " "))
        order = random.sample(speakers, 2)
        for turn in range(random.randint(14, 22)):
            speaker, other = order[turn % 2], order[1 - turn % 2]
            kinds = (
                ["open"]
                if turn == 0
                else random.choice([["reply"], ["chat"], ["reply", "chat"], ["chat", "chat"]])
            )
            said = " ".join(
                fill(random.choice(talk()[kind]), _slots(speaker, other, random), random) for kind in kinds
            )
            session.lines.append(f"{speaker}: {said}")
        made.append(session)
    return made


def _pieces(session: _Session, random: Random) -> list[Passage]:
    """A session in pieces of seven to eleven turns, as a memory for conversations would store it."""
    pieces, lines = [], list(session.lines)
    while lines:
        size = random.randint(7, 11)
        taken, lines = lines[:size], lines[size:]
        pieces.append(Passage(title=session.title, text="\n".join(taken), parts=tuple(taken)))
    return pieces


def _say(template: str, speaker: str, random: Random) -> _Said:
    """The fact with its slots drawn once for turn, question and searches."""
    drawn: dict[str, str] = {"me": speaker}
    draw = _slots(speaker, "", random)

    def slot(name: str) -> str:
        return drawn.setdefault(name, draw(name))

    turn, question, searches = template.split(" | ")
    line = f"{speaker}: {fill(turn, slot, random)}"
    before = random.random()
    if before < 0.35:
        line = f"{speaker}: {fill(random.choice(talk()['reply']), draw, random)} {line.removeprefix(speaker + ': ')}"
    elif before < 0.6:
        line += " " + fill(random.choice(talk()["chat"]), draw, random)
    asked = fill(random.choice(question.split(";")), slot, random)
    near = [one for one in talk()["near"] if any(f"{{{name}}}" in one for name in drawn)]
    return _Said(
        line,
        asked,
        tuple(fill(search, slot, random) for search in searches.split(";")),
        tuple(f"{speaker}: {fill(one, slot, random)}" for one in random.sample(near, min(_NEAR, len(near)))),
    )


def _slots(me: str, you: str, random: Random) -> Callable[[str], str]:
    def draw(name: str) -> str:
        values = {"me": [me], "you": [you], "town": [_town(random)], "month": words()["month"]}
        return random.choice(values.get(name) or talk()[f"slot {name}"])

    return draw


def _town(random: Random) -> str:
    return random.choice(words()["town_head"]) + random.choice(words()["town_tail"])


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
