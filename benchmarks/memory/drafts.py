"""Questions over a library, each with the steps that lead to its answer and the sentences that state them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.memory.articles import Library, slots
from benchmarks.memory.prose import fill, words
from benchmarks.memory.world import Entity, Relation, World, relations

_Hop = tuple[Entity, Relation]


@dataclass(frozen=True)
class Step:
    """One thing to look up: who is asked about, what for, where it is stated, and in which words."""

    subject: Entity
    searches: tuple[str, ...]
    passage: int
    gold: str


@dataclass(frozen=True)
class Draft:
    """A question before its rounds of results."""

    kind: str
    question: str
    steps: tuple[Step, ...]


def chain(kind: str, hops: int, world: World, made: Library, random: Random) -> Draft:
    """Ask `What is the length of the river on which the birthplace of the director of ... stands?`."""
    path = _path(hops, world, random)
    question = path[-1][1].question.format(x=_phrase(path[0][0], path[:-1], random))
    return Draft(kind, question, tuple(_step(entity, relation, made) for entity, relation in path))


def comparison(world: World, made: Library, random: Random) -> Draft:
    """Return a question on two subjects, one or two hops each, and which of them is ahead."""
    kind, name, ask = random.choice(_COMPARED)
    relation = relations()[kind][name]
    every = [one for of_kind in relations().values() for one in of_kind.values()]
    leads = [one for one in every if one.target == kind and one.kind != kind]
    lead = random.choice(leads) if leads and random.random() < 0.6 else None
    steps, phrases = [], []
    for root in random.sample(world.of_kind[lead.kind if lead else kind], 2):
        path = [(root, lead)] if lead else []
        steps += [_step(*hop, made) for hop in path]
        steps.append(_step(_end(path) if path else root, relation, made))
        phrases.append(_phrase(root, path, random))
    return Draft("comparison", ask.format(x=phrases[0], y=phrases[1]), tuple(steps))


def number(world: World, made: Library, random: Random) -> Draft:
    """Return a question for a figure at the end of two or three hops, and how it compares with another one."""
    kind, name, figure = random.choice(_FIGURES)
    path = _path(random.choice([2, 3]), world, random, ends_in=kind)
    found = _end(path)
    other = random.choice([one for one in world.of_kind[kind] if one is not found])
    phrase = _phrase(path[0][0], path, random)
    ask = random.choice([
        f"By how much does the {figure} of {phrase} differ from that of {other.in_question}?",
        f"What do the {figure} of {phrase} and that of {other.in_question} add up to?",
    ])  # fmt: skip  # a list of two
    figures = [(found, relations()[kind][name]), (other, relations()[kind][name])]
    return Draft("number", ask, tuple(_step(*hop, made) for hop in [*path, *figures]))


def update(world: World, made: Library, random: Random) -> Draft:
    """Return a question for the present or an earlier state in dated reports; add the reports to the library."""
    kind, what, ask, ask_then, searches, lines = random.choice(_DATED)
    path = _path(random.choice([1, 2]), world, random, ends_in=kind)
    about = _end(path)
    if (about.name, what) in made.stated:
        return update(world, made, random)
    reports = list(_reports(about, what, lines, world, made, random))
    asks_now = random.random() < 0.7
    year, passage, gold = reports[-1] if asks_now else random.choice(reports[:-1])
    made.stated[about.name, what] = passage, gold
    question = (ask if asks_now else ask_then).format(x=_phrase(path[0][0], path, random), year=year)
    dated = f"{about.name} current {what}" if asks_now else f"{about.name} {what} {year}"
    named = (*(search.format(x=about.name) for search in searches), dated)
    steps = [_step(*hop, made) for hop in path]
    return Draft("update", question, (*steps, Step(about, named, passage, gold)))


def _reports(
    about: Entity, what: str, lines: tuple[str, ...], world: World, made: Library, random: Random
) -> Iterator[tuple[int, int, str]]:
    """Yield three to five dated passages, each with a new value of the same attribute: year, passage and sentence."""
    for year in sorted(random.sample(range(1998, 2025), random.randint(3, 5))):
        month = random.choice(words()["month"])
        value = f"{random.randint(300, 90_000):,}" if "number" in what else world.any("person", random).name
        date = {
            "month": month,
            "when": f"{random.randint(1, 28)} {month} {year}",
            "v": value,
            "at": str(year),
        }
        draw = slots(about, world, random)

        def dated(slot: str, date: dict[str, str] = date, draw: Callable[[str], str] = draw) -> str:
            return date.get(slot) or draw(slot)

        gold = fill(random.choice(lines), dated, random)
        others = [fill(line, dated, random) for line in random.sample(_REPORTED, random.randint(2, 6))]
        others.insert(random.randint(0, len(others)), gold)
        title = random.choice(["{name} in {at}", "{name}: report of {when}", "News from {name}, {when}"])
        passage = made.add(fill(title, dated, random), [line[:1].upper() + line[1:] for line in others])
        yield year, passage, gold


def _phrase(root: Entity, path: Sequence[_Hop], random: Random) -> str:
    """Return `the birthplace of the director of the film ...`."""
    phrase = root.in_question
    for _, relation in path:
        phrase = random.choice(relation.phrases).format(x=phrase)
    return phrase


def _end(path: Sequence[_Hop]) -> Entity:
    entity, relation = path[-1]
    found = entity.relations[relation.name]
    assert isinstance(found, Entity), "the last step leads to an article"
    return found


def _path(hops: int, world: World, random: Random, ends_in: str = "") -> list[_Hop]:
    """Return a walk of so many relations over different entities; the last may lead out of the world."""
    for _ in range(_TRIES):
        entity = world.any(random.choice(_ROOTS), random)
        path: list[_Hop] = []
        seen = {entity.name}
        for n in range(hops):
            is_last = n == hops - 1
            options = [
                relation
                for relation in relations()[entity.kind].values()
                if (relation.target == ends_in if is_last and ends_in else is_last or relation.target != "-")
            ]
            if not options:
                break
            relation = random.choice(options)
            path.append((entity, relation))
            found = entity.relations[relation.name]
            if isinstance(found, Entity):
                if found.name in seen:
                    break
                seen.add(found.name)
                entity = found
        else:
            return path
    raise ValueError(f"No walk of {hops} relations ends in {ends_in!r}: add one to data/relations.txt.")


def _step(entity: Entity, relation: Relation, made: Library) -> Step:
    passage, gold = made.stated[entity.name, relation.name]
    return Step(entity, tuple(s.format(x=entity.in_text) for s in relation.searches), passage, gold)


_TRIES = 10_000
_ROOTS = (
    "film",
    "novel",
    "ship",
    "award",
    "band",
    "building",
    "club",
    "company",
    "university",
    "person",
    "film",
    "town",
)
_COMPARED = (
    ("river", "length", "Which is longer, {x} or {y}?"),
    ("town", "population", "Which has more inhabitants, {x} or {y}?"),
    ("town", "founded", "Which is older, {x} or {y}?"),
    ("university", "students", "Are there more students at {x} or at {y}?"),
    ("company", "employees", "Which is the larger employer, {x} or {y}?"),
    ("building", "height", "Which is taller, {x} or {y}?"),
    ("novel", "publisher", "Were {x} and {y} brought out by the same publisher?"),
    ("person", "birth", "Were {x} and {y} born in the same town?"),
    ("person", "study", "Did {x} and {y} go to the same university?"),
    ("film", "director", "Do {x} and {y} have the same director?"),
)
_FIGURES = (
    ("river", "length", "length"),
    ("town", "population", "population"),
    ("town", "founded", "year of foundation"),
    ("university", "students", "number of students"),
    ("company", "employees", "workforce"),
)
_DATED = (
    (
        "company", "chief executive", "Who runs {x} now?", "Who was at the head of {x} in {year}?",
        ("{x} chief executive", "who leads {x}", "{x} management"),
        (
            "On {when} {v} took over as chief executive[, the {nth} in ten years|, having come from {company}].",
            "The board named {v} to lead the firm with effect from {when}[, after months of speculation|].",
            "Since {month} {at} the company has been run by {v}[, a former {job}|, who had been head of finance].",
        ),
    ),
    (
        "company", "number of employees", "How many people does {x} employ today?",
        "How many people did {x} employ in {year}?", ("{x} employees", "{x} number of staff", "{x} workforce"),
        (
            "As of {month} {at} it had {v} people on the payroll[, counting part-time staff|].",
            "At the end of {month} {at} the workforce stood at {v}[, according to the annual report|].",
            "In {month} {at} the firm employed {v}[, a figure disputed by the union|].",
        ),
    ),
    (
        "town", "mayor", "Who is the present mayor of {x}?", "Who became mayor of {x} in {year}?",
        ("{x} mayor", "{x} local government", "mayor election {x}"),
        (
            "The election of {when} was won by {v}[ with a majority of {age} votes|, who takes office next month].",
            "On {when} {v} was sworn in as mayor[ in front of a half-empty hall|].",
            "{v} has held the mayor's office since {month} {at}[, at the head of a coalition of {small} parties|].",
        ),
    ),
    (
        "university", "rector", "Who is the rector of {x} today?", "Who became rector of {x} in {year}?",
        ("{x} rector", "{x} head of university", "rector elected {x}"),
        (
            "The senate elected {v} as rector on {when}[, by a single vote|].",
            "{v}, professor of {field}, became rector in {month} {at}[ for a term of {small} years|].",
            "In {month} {at} the post of rector passed to {v}[, the first woman to hold it|].",
        ),
    ),
    (
        "club", "coach", "Who coaches {x} at present?", "Who took over as coach of {x} in {year}?",
        ("{x} coach", "{x} manager", "{x} new head coach"),
        (
            "{v} was presented as the new coach on {when}[, the third of the season|].",
            "Since {month} {at} training has been in the hands of {v}[, once a goalkeeper here|].",
            "On {when} the club signed {v} as head coach[ for {small} years|].",
        ),
    ),
)  # fmt: skip  # tables
_REPORTED = (
    "The announcement of {when} was received with [relief|some surprise] in {town}.",
    "A spokesman for {name} declined to comment on rumours about {thing}.",
    "Heavy rain in {month} had delayed the work on the roof of the {building}.",
    "[Earlier in the year|In the same month] {person} had resigned over a quarrel about {thing}.",
    "The budget for {at} foresees {number} thousand for repairs, most of it borrowed.",
    "Visitors to {name} numbered {number} in {month}, slightly more than the year before.",
    "{person}, who had been expected to apply, was appointed in {town} instead.",
    "A petition against the plan collected {number} signatures within {small} days.",
    "The anniversary will be marked with a concert by pupils from {town}.",
    "Trade with {town} [fell|rose] for the {nth} year in a row.",
    "Old figures from {year} should no longer be used, the report says, because they counted some people twice.",
    "The {award} for {at} went to {person}.",
)
