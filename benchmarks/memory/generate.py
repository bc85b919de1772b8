"""Our own set: questions over an invented country and invented conversations, the same for the same seed.

two-hop, four-hop    a chain of bridging entities, in four and in six rounds
comparison, number   two subjects side by side, or figures at the end of a chain
update               what dated reports say one after another
conversation-tuning, conversation-report    what was told in passing over twenty sessions; see dialogues.py
"""

from random import Random

from benchmarks.memory.articles import Library, library
from benchmarks.memory.dialogues import dialogues
from benchmarks.memory.drafts import Draft, chain, comparison, number, update
from benchmarks.memory.form import Question
from benchmarks.memory.searches import Engine, with_rounds
from benchmarks.memory.world import World

COUNTS = {"two-hop": 36, "four-hop": 36, "comparison": 16, "number": 16, "update": 20}
_ROUNDS = {"two-hop": (4, 4), "four-hop": (6, 6), "comparison": (4, 9), "number": (5, 9), "update": (4, 12)}
SEED = 4


def generate(seed: int = SEED) -> list[Question]:
    """Generate 124 questions on the country, and some 140 on ten dialogues."""
    random = Random(seed)
    world = World(random)
    made = library(world, random)
    kinds = [kind for kind, count in COUNTS.items() for _ in range(count)]
    drafts = [_draft(kind, world, made, random) for kind in kinds]
    engine = Engine(made.passages)
    counted: dict[str, int] = {}
    questions = []
    for draft in drafts:
        counted[draft.kind] = counted.get(draft.kind, 0) + 1
        least, most = _ROUNDS[draft.kind]
        rounds = random.randint(max(least, len(draft.steps)), most)
        questions.append(with_rounds(draft, f"{draft.kind}-{counted[draft.kind]}", rounds, engine, random))
    return [*questions, *dialogues(random)]


def _draft(kind: str, world: World, made: Library, random: Random) -> Draft:
    match kind:
        case "two-hop":
            return chain(kind, 2, world, made, random)
        case "four-hop":
            return chain(kind, 4, world, made, random)
        case "comparison":
            return comparison(world, made, random)
        case "number":
            return number(world, made, random)
        case _:
            return update(world, made, random)
