"""An invented country: people, towns, companies and works, and what leads from one to another."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from random import Random

from benchmarks.memory.prose import DATA, words

SIZES = {
    "person": 300, "town": 150, "region": 16, "river": 60, "university": 45, "company": 100, "novel": 90, "film": 90,
    "building": 70, "club": 45, "ship": 40, "award": 35, "band": 40,
}  # fmt: skip  # a table
_WITH_ARTICLE = {"river", "building", "ship", "award"}
_NAMED_AS = {
    "film": "the film ",
    "novel": "the novel ",
    "company": "",
    "band": "the band ",
    "club": "the club ",
}


@dataclass
class Entity:
    """The subject of an article."""

    kind: str
    name: str
    is_woman: bool = False
    relations: "dict[str, Entity | str]" = field(default_factory=dict)

    @property
    def in_text(self) -> str:
        return f"the {self.name}" if self.kind in _WITH_ARTICLE else self.name

    @property
    def in_question(self) -> str:
        """The name with what it is, where the name alone would not say so."""
        return _NAMED_AS.get(self.kind, "the " if self.kind in _WITH_ARTICLE else "") + self.name


@dataclass(frozen=True)
class Relation:
    """A step from an article's subject to something that one of its sentences names."""

    kind: str
    name: str
    target: str
    """The kind of what it leads to; `-` for a number, a date, or a place that has no article."""
    phrases: tuple[str, ...]
    question: str
    searches: tuple[str, ...]


@cache
def relations() -> dict[str, dict[str, Relation]]:
    """Return the relations, by kind of article and by name."""
    found: dict[str, dict[str, Relation]] = {}
    for line in (DATA / "relations.txt").read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            key, phrases, question, searches = (part.strip() for part in line.split("|"))
            kind, name, target = key.split()
            relation = Relation(
                kind, name, target, tuple(phrases.split(";")), question, tuple(searches.split(";"))
            )
            found.setdefault(kind, {})[name] = relation
    return found


class World:
    """All entities, with every relation between them drawn."""

    def __init__(self, random: Random) -> None:
        self.of_kind: dict[str, list[Entity]] = {kind: [] for kind in SIZES}
        names: set[str] = set()
        for kind, size in SIZES.items():
            while len(self.of_kind[kind]) < size:
                entity = self._named(kind, random)
                if entity.name not in names:
                    names.add(entity.name)
                    self.of_kind[kind].append(entity)
        for entity in self.all:
            for relation in relations()[entity.kind].values():
                entity.relations[relation.name] = self._target(relation, entity, random)

    @property
    def all(self) -> list[Entity]:
        return [entity for entities in self.of_kind.values() for entity in entities]

    def any(self, kind: str, random: Random) -> Entity:
        return random.choice(self.of_kind[kind])

    def _target(self, relation: Relation, entity: Entity, random: Random) -> "Entity | str":
        if relation.target == "-":
            return _LITERALS[f"{relation.kind} {relation.name}"](entity, random)
        others = [other for other in self.of_kind[relation.target] if other is not entity]
        return random.choice(others)

    def _named(self, kind: str, random: Random) -> Entity:
        word = words()

        def one(name: str) -> str:
            return random.choice(word[name])

        town = self.any("town", random).name if self.of_kind["town"] else ""
        is_woman = random.random() < 0.5
        first, last = one("first_f" if is_woman else "first_m"), one("last")
        middle = f" {random.choice('ABCDEFGHJKLMRSTV')}." if random.random() < 0.15 else ""
        match kind:
            case "person":
                name = f"{first}{middle} {last}"
            case "town":
                extra = one("town_extra") + " " if random.random() < 0.12 else ""
                name = extra + one("town_head") + one("town_tail")
            case "river":
                name = one("river_head") + one("river_tail")
            case "region":
                name = one("region_name")
            case "university":
                name = random.choice(
                    [f"University of {town}", f"{last} College", f"{town} School of {one('field').title()}"]
                )
            case "company":
                name = random.choice([last, town, f"{last} & {one('last')}"]) + " " + one("industry")
            case "novel" | "film":
                adjective, noun, other = one("work_adj"), one("work_noun"), one("work_noun")
                name = random.choice(
                    [
                        f"The {adjective} {noun}",
                        f"The {noun} of {town}",
                        f"A {noun} for the {other}",
                        f"{adjective} {noun}s",
                    ]
                )
            case "building":
                name = random.choice([town, last]) + " " + one("building_kind")
            case "club":
                name = f"{town} {one('club_tail')}"
            case "ship":
                name = f"{one('ship_head')} {first} {last}"
            case "award":
                name = f"{last} {random.choice(['Prize', 'Medal', 'Award'])}"
            case _:
                name = f"{one('band_head')} {one('band_tail')}"
        return Entity(kind, name, is_woman)


def _number(low: int, high: int, unit: str) -> Callable[[Entity, Random], str]:
    return lambda entity, random: f"{random.randint(low, high):,} {unit}".strip()


def _year(low: int, high: int) -> Callable[[Entity, Random], str]:
    return lambda entity, random: str(random.randint(low, high))


_LITERALS: dict[str, Callable[[Entity, Random], str]] = {
    "town population": _number(4_000, 480_000, ""),
    "town founded": _year(1120, 1790),
    "region area": _number(1_900, 28_000, "square kilometres"),
    "river length": _number(41, 890, "kilometres"),
    "river mouth": lambda entity, random: random.choice(words()["sea"]),
    "university students": _number(900, 38_000, ""),
    "company employees": _number(140, 31_000, ""),
    "film takings": _number(2, 190, "million dollars"),
    "building height": _number(21, 240, "metres"),
    "building opened": _year(1790, 2009),
    "club stadium": lambda entity, random: (
        f"{random.choice(words()['last'])} {random.choice(words()['stadium_tail'])}"
    ),
    "ship displacement": _number(900, 21_000, "tonnes"),
    "award sum": _number(5, 250, "thousand crowns"),
}
