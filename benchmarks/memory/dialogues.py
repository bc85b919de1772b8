"""Dialogues of several styles over twenty dated sessions, and questions on casual remarks.

One person mentions the subject of a question over several sessions, among the affairs of the others, who often tell of
the same matters, and among small talk. The question's words are seldom those of the turn that answers it; days are
named as `last Tuesday`; and earlier remarks may be changed later.

Half of each style's threads are asked about in `conversation-tuning`, the others in `conversation-report`: no wording
of a question or of its evidence stands in both.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random

from benchmarks.memory.form import Call, Passage, Question, Round
from benchmarks.memory.prose import fill, words
from benchmarks.memory.searches import Engine
from benchmarks.memory.styles import NAMES, Ask, Style, Thread, style

HALVES = ("conversation-tuning", "conversation-report")
SESSIONS = 20
_FILLS = (5, 9)
_PADDED = 0.6
_WORDS = (8, 30)
"""A turn that has fewer words than drawn from here goes on about something else."""
_OF_OTHERS = 0.7
"""How often another person tells of the same matter, with other particulars."""
_PIECE = (7, 11)
_ROUNDS, _RESULTS = (6, 9), (4, 7)
_BACK = (
    ("yesterday", 1), ("the day before yesterday", 2), ("three days ago", 3), ("a week ago", 7), ("two weeks ago", 14),
    ("last {weekday}", 0), ("last {weekday}", 0), ("on {weekday}", 0),
)  # fmt: skip  # a table
_AHEAD = (
    ("tomorrow", 1), ("the day after tomorrow", 2), ("in ten days", 10), ("in two weeks", 14), ("a week from today", 7),
    ("next {weekday}", 0), ("next {weekday}", 0), ("this coming {weekday}", 0),
)  # fmt: skip  # a table


@dataclass
class _Session:
    title: str
    day: date
    exchanges: list[list[str]] = field(default_factory=list)
    """Turns that follow each other, as lines."""


@dataclass(frozen=True)
class _Story:
    """A thread from one person's view: its turns by their labels, and how its slots were filled."""

    thread: Thread
    turns: dict[str, str]
    slots: dict[str, str]
    dates: dict[str, dict[str, str]]
    """Label of a moment -> the days that it names."""


def dialogues(random: Random) -> list[Question]:
    """Return the questions of ten dialogues: for each half one of each style."""
    return [
        question
        for half in HALVES
        for name in NAMES
        for question in _dialogue(f"{half}-{name}", half, style(name), random)
    ]


def _dialogue(id: str, half: str, style: Style, random: Random) -> Iterator[Question]:
    people = random.sample(words()["first_f"], style.people // 2)
    people += random.sample(words()["first_m"], style.people - len(people))
    random.shuffle(people)
    sessions = _sessions(style, people, random)
    asked = [thread for n, thread in enumerate(style.threads) if n % 2 == HALVES.index(half)]
    stories = []
    for thread in style.threads:
        owner, other = (people[0], people[1]) if style.is_of_first_only else random.sample(people, 2)
        stories.append(_tell(thread, owner, people, sessions, style, random))
        if thread.may_be_of_others_too and not style.is_of_first_only and random.random() < _OF_OTHERS:
            _tell(thread, other, people, sessions, style, random)
    pieces = [piece for session in sessions for piece in _pieces(session, random)]
    engine = Engine(pieces)
    asks = [(one, ask) for one in stories if one.thread in asked for ask in one.thread.asks]
    for n, (one, ask) in enumerate(asks, 1):
        yield _question(f"{id}-{n}", half, one, ask, people, style, pieces, engine, random)


def _sessions(style: Style, people: list[str], random: Random) -> list[_Session]:
    """Return twenty sessions of small talk."""
    day = date(2022, 1, 3) + timedelta(days=random.randint(0, 300))
    talk = _unrepeated(style.lines["fill"], random)
    made = []
    for n in range(1, SESSIONS + 1):
        day += timedelta(days=random.randint(3, 24))
        numbers = {"n": str(n), "date": _written(day), "ticket": f"{40_117 + 311 * n}"}
        session = _Session(fill(style.lines["title"][0], numbers.__getitem__, random), day)
        me, you = _pair(style, people, random)
        session.exchanges.append(_exchange(random.choice(style.lines["open"]), me, you, {}, style, random))
        for _ in range(random.randint(*_FILLS)):
            me, you = _pair(style, people, random)
            session.exchanges.append(_exchange(next(talk), me, you, {}, style, random))
        made.append(session)
    return made


def _tell(
    thread: Thread, owner: str, people: list[str], sessions: list[_Session], style: Style, random: Random
) -> _Story:
    """Put a thread's moments into sessions, in their order."""
    story = _Story(thread, {}, {"me": owner}, {})
    places = sorted(random.sample(range(len(sessions)), len(thread.says)))
    for (label, text), place in zip(thread.says.items(), places, strict=True):
        session = sessions[place]
        story.dates[label] = days = _days(session.day, random)
        you = random.choice([one for one in people if one != owner])
        slots = story.slots | days
        texts = _padded(text, style, random)
        turns = _exchange(texts, owner, you, slots, style, random)
        story.slots.update((name, value) for name, value in slots.items() if name not in days)
        marked = [n for n, turn in enumerate(turns) if "*" in turn]
        turns = [turn.replace("*", "") for turn in turns]
        story.turns.update({f"{label}{n}": turn for n, turn in enumerate(turns, 1)})
        story.turns[label] = turns[marked[0] if marked else 0]
        session.exchanges.insert(random.randint(1, len(session.exchanges)), turns)
    return story


def _question(
    id: str,
    half: str,
    story: _Story,
    ask: Ask,
    people: list[str],
    style: Style,
    pieces: list[Passage],
    engine: Engine,
    random: Random,
) -> Question:
    """Return the question in six to nine rounds: a hit for each turn that answers it; the other searches miss."""
    days = next((story.dates[label[:1]] for label in ask.labels if _names_a_day(story, label)), {})
    filled = _drawing(story.slots | days, style, random)
    text = fill(random.choice(ask.questions), filled, random)
    gold = tuple(story.turns[label] for label in ask.labels)
    searches = [fill(search, filled, random) for search in ask.searches]
    rounds = random.randint(*_ROUNDS)
    hits = dict(zip(sorted(random.sample(range(rounds), len(gold))), gold, strict=True))
    made = []
    for n in range(rounds):
        hit = hits.get(n)
        query = random.choice(searches) if hit else _aside(text, searches, people, random)
        wanted = next(i for i, piece in enumerate(pieces) if hit in piece.parts) if hit else None
        results = engine.search(query, random.randint(*_RESULTS), random, wanted)
        made.append(
            Round(calls=(Call(tool="search_conversation", arguments={"query": query}, results=results),))
        )
    answers = tuple(fill(answer, filled, random) for answer in ask.answers)
    return Question(id=id, kind=half, question=text, rounds=tuple(made), gold=gold, answers=answers)


def _names_a_day(story: _Story, label: str) -> bool:
    text = story.thread.says[label[:1]]
    return "{when}" in text or "{soon}" in text


def _aside(text: str, searches: list[str], people: list[str], random: Random) -> str:
    """Return the question itself, some words of it, or a name with some word."""
    about = random.choice(["family", "plans", "news", "problem", "work", "last week", "change", "decision"])
    words = text.rstrip("?").split()
    return random.choice(
        [text, " ".join(words[len(words) // 2 :]), f"{random.choice(people)} {about}", searches[-1]]
    )


def _pieces(session: _Session, random: Random) -> Iterator[Passage]:
    """Yield a session in pieces of some turns, as a memory for conversations would store it."""
    lines = [turn for exchange in session.exchanges for turn in exchange]
    while lines:
        size = random.randint(*_PIECE)
        taken, lines = lines[:size], lines[size:]
        yield Passage(title=session.title, text="\n".join(taken), parts=tuple(taken))


def _exchange(text: str, me: str, you: str, slots: dict[str, str], style: Style, random: Random) -> list[str]:
    """Return the turns of an exchange as lines; `slots` are those already filled, and grow."""
    made = []
    for n, turn in enumerate(text.split(" /// ")):
        speaker, other = (me, you) if n % 2 == 0 else (you, me)
        line = fill(turn.replace("{you}", other), _drawing(slots, style, random), random)
        while len(line.split()) < random.randint(*_WORDS):
            line += " " + fill(random.choice(style.lines["more"]), _drawing({}, style, random), random)
        made.append(f"{speaker}: {line}")
    return made


def _padded(text: str, style: Style, random: Random) -> str:
    """Return the exchange, mostly with another remark next to the fact in the first turn."""
    if random.random() >= _PADDED:
        return text
    pad = random.choice(style.lines["pad"])
    first, *others = text.split(" /// ")
    return " /// ".join([random.choice([f"{pad} {first}", f"{first} {pad}"]), *others])


def _drawing(slots: dict[str, str], style: Style, random: Random) -> Callable[[str], str]:
    """Return the text for a slot: its value, or one that no other slot of the list has. `x_c` is `x` capitalized."""

    def draw(name: str) -> str:
        if name.endswith("_c"):
            value = draw(name[:-2])
            return value[:1].upper() + value[1:]
        if name not in slots:
            taken = set(slots.values())
            values = style.slots[name if name in style.slots else name.rstrip("23")]
            slots[name] = random.choice([value for value in values if value not in taken])
        return slots[name]

    return draw


def _days(day: date, random: Random) -> dict[str, str]:
    """Return a day before and one after that, as they are named and as dates."""
    made: dict[str, str] = {}
    for name, phrases, sign in (("when", _BACK, -1), ("soon", _AHEAD, 1)):
        phrase, distance = random.choice(phrases)
        there = day + sign * timedelta(days=distance or random.randint(2, 6))
        made |= {name: phrase.format(weekday=f"{there:%A}"), f"{name}_date": _written(there)}
    return made


def _pair(style: Style, people: list[str], random: Random) -> tuple[str, str]:
    me, you = people[:2] if style.is_of_first_only else random.sample(people, 2)
    return me, you


def _unrepeated(texts: list[str], random: Random) -> Iterator[str]:
    """Yield the texts in random order, each again only when all have been used."""
    while True:
        yield from random.sample(texts, len(texts))


def _written(day: date) -> str:
    return f"{day.day} {day:%B} {day.year}"
