"""The styles of dialogues: their small talk, and their threads with what can be asked about them. Pure but for reading.

A file of data/dialogues holds lines `name| text`; `///` parts the turns of an exchange, which the speakers take by
turns, and `*` marks the turn that tells.

    title, people, owner    what a session is called; how many speak; `first` where all threads are of the first one
    open, pad, fill         how a session begins; what stands beside a fact in its turn; exchanges that say little
    slot NAME               values, by commas
    thread                  begins a thread: what one person tells over several sessions
    say LABEL               a moment of it. The labels a1, a2, ... are its turns; `a` is the marked one, or the first
    ask                     questions by semicolons | labels of the turns that answer | answers by commas | searches
"""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

from benchmarks.memory.prose import DATA

NAMES = ("friends", "support", "team", "family", "tutoring")


@dataclass(frozen=True)
class Ask:
    """A question about a thread, the turns that answer it, and the searches of a model."""

    questions: tuple[str, ...]
    labels: tuple[str, ...]
    answers: tuple[str, ...]
    searches: tuple[str, ...]

    @property
    def names_its_owner(self) -> bool:
        return all("{me}" in question for question in self.questions)


@dataclass(frozen=True)
class Thread:
    """A matter that one person tells over several sessions, and the questions on it."""

    name: str
    says: dict[str, str] = field(default_factory=dict)
    asks: list[Ask] = field(default_factory=list)

    @property
    def may_be_of_others_too(self) -> bool:
        """Whether every question says whose thread it means."""
        return all(ask.names_its_owner for ask in self.asks)


@dataclass
class Style:
    """All that the dialogues of one style are made of."""

    lines: dict[str, list[str]]
    slots: dict[str, list[str]]
    threads: list[Thread]

    @property
    def people(self) -> int:
        return int(self.lines["people"][0])

    @property
    def is_of_first_only(self) -> bool:
        return "owner" in self.lines


@cache
def style(name: str) -> Style:
    """Return the style of that name, with the small talk that all share."""
    made = Style(defaultdict(list), {}, [])
    for file in (name, "common"):
        for line in (DATA / "dialogues" / f"{file}.txt").read_text(encoding="utf-8").split("\n"):
            if line.strip() and not line.startswith("#"):
                head, _, rest = line.partition("|")
                _add(made, head.strip(), rest.strip())
    return made


def _add(style: Style, head: str, rest: str) -> None:
    kind, _, name = head.partition(" ")
    match kind:
        case "slot":
            style.slots[name] = rest.split(",")
        case "thread":
            style.threads.append(Thread(rest))
        case "say":
            style.threads[-1].says[name] = rest
        case "ask":
            questions, labels, answers, searches = rest.split(" | ")
            style.threads[-1].asks.append(
                Ask(
                    tuple(questions.split(";")),
                    tuple(labels.split()),
                    tuple(answers.split(", ")),
                    tuple(searches.split(";")),
                )
            )
        case _:
            style.lines[head].append(rest)
