"""Encyclopedia-like passages about the entities of a world, with the sentence that states each relation known."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from benchmarks.memory.form import Passage
from benchmarks.memory.prose import fill, templates, words
from benchmarks.memory.world import Entity, World

_CALLED = {
    "ship": "the ship",
    "company": "the company",
    "town": "the town",
    "novel": "the book",
    "film": "the film",
}
_GENERAL = 70
_LEAD_STATES = 0.4
"""How often an article's first sentence states one of its relations."""
_NAMED_AGAIN, _REPHRASED = 0.25, 0.25
"""How often a later sentence has the name again, or `the company` in place of `it`."""
_WITH_TAIL, _WITH_HEAD = 0.45, 0.12
_MAY_FOLLOW = ("He ", "She ", "It ", "They ", "Its ", "His ", "Her ", "Their ", "The ")


@dataclass
class Library:
    """All passages, and where each relation is stated."""

    passages: list[Passage] = field(default_factory=list)
    stated: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    """Entity's name and relation -> number of the passage, and the sentence."""

    def add(self, title: str, parts: list[str]) -> int:
        self.passages.append(Passage(title=title, text=" ".join(parts), parts=tuple(parts)))
        return len(self.passages) - 1


def library(world: World, random: Random) -> Library:
    """Return articles of one or two passages on each entity, and some on general matters with the same words."""
    made = Library()
    for entity in world.all:
        _write_article(made, entity, world, random)
    for _ in range(_GENERAL):
        draw = slots(None, world, random)
        title = random.choice(
            ["List of {field} topics", "{profession_c}", "{field_c} in {town}", "Timeline of {year}"]
        )
        lines = [fill(random.choice(templates()["topic"]["lead"]), draw, random)]
        lines += [
            fill(line, draw, random)
            for line in random.sample(templates()["topic"]["-"], random.randint(3, 6))
        ]
        made.add(fill(title, draw, random), [_capital(line) for line in lines])
    return made


def slots(
    entity: Entity | None, world: World, random: Random, target: str = "", *, in_full: bool = False
) -> Callable[[str], str]:
    """Return the texts for a template's slots; the subject is mostly a pronoun, or its name `in_full`."""
    years: list[int] = []

    def draw(slot: str) -> str:
        match slot:
            case "name" if entity:
                return entity.name
            case "S" if entity and in_full:
                return _capital(entity.in_text)
            case "s" | "S" if entity:
                return _subject(entity, random) if slot == "s" else _capital(_subject(entity, random))
            case "pos" | "Pos" | "obj" if entity:
                return _pronoun(entity, slot)
            case "o":
                return target
            case "year":
                years.append(random.randint(1862, 1995))
                return str(years[-1])
            case "later" | "died":
                return str(years[-1] + (random.randint(2, 24) if slot == "later" else random.randint(41, 88)))
            case "decade":
                return str(random.randrange(1870, 2000, 10))
            case "number":
                return f"{random.choice([random.randint(23, 980), 50 * random.randint(30, 900)]):,}"
            case "age" | "day":
                return str(random.randint(23, 94) if slot == "age" else random.randint(1, 28))
            case "profession_c" | "field_c":
                return random.choice(words()[slot[:-2]]).capitalize()
            case _ if slot in words():
                return random.choice(words()[slot])
            case _:
                return world.any(slot, random).name

    return draw


def _write_article(made: Library, entity: Entity, world: World, random: Random) -> None:
    """Write the article's sentences in passages of three to eight; some begin with a relation, as leads often do."""
    own = templates()[entity.kind]
    draw = slots(entity, world, random)
    lines: list[tuple[str, str]] = []
    lead = ("", _capital(fill(random.choice(own["lead"]), draw, random)))
    first = random.choice(list(entity.relations)) if random.random() < _LEAD_STATES else ""
    for relation, target in entity.relations.items():
        text = target.name if isinstance(target, Entity) else target
        named = [line for line in own[relation] if "{S}" in line] if relation == first else []
        template = random.choice(named or own[relation])
        stated = _sentence(template, slots(entity, world, random, text, in_full=bool(named)), random)
        if named:
            lead = (relation, stated)
        else:
            lines.append((relation, stated))
    others = random.sample(own["-"], min(len(own["-"]), random.randint(3, 8)))
    lines += [("", _sentence(line, draw, random)) for line in others]
    random.shuffle(lines)
    lines.insert(0, lead)
    size = len(lines) if len(lines) <= 8 and random.random() < 0.5 else max(3, (len(lines) + 1) // 2)
    for start in range(0, len(lines), size):
        piece = lines[start : start + size]
        number = made.add(entity.name, [line for _, line in piece])
        made.stated.update({(entity.name, name): (number, line) for name, line in piece if name})


def _sentence(template: str, draw: Callable[[str], str], random: Random) -> str:
    """Fill the template, sometimes with an irrelevant clause before or after it."""
    text = _capital(fill(template, draw, random))
    if random.random() < _WITH_TAIL and text.endswith("."):
        text = text[:-1] + fill(random.choice(templates()["tail"]["all"]), draw, random) + "."
    if random.random() < _WITH_HEAD and text.startswith(_MAY_FOLLOW):
        text = f"{fill(random.choice(templates()['head']['all']), draw, random)} {text[:1].lower()}{text[1:]}"
    return text


def _subject(entity: Entity, random: Random) -> str:
    chance = random.random()
    if chance < _NAMED_AGAIN:
        return entity.name.split()[-1] if entity.kind == "person" else entity.in_text
    if chance < _NAMED_AGAIN + _REPHRASED and entity.kind in _CALLED:
        return _CALLED[entity.kind]
    return _pronoun(entity, "s")


def _pronoun(entity: Entity, slot: str) -> str:
    if entity.kind == "person":
        forms = ("she", "her", "her") if entity.is_woman else ("he", "his", "him")
    else:
        forms = ("they", "their", "them") if entity.kind == "band" else ("it", "its", "it")
    word = forms[{"s": 0, "pos": 1, "obj": 2}[slot.lower()]]
    return word.capitalize() if slot == "Pos" else word


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
