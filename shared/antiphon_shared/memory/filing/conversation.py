"""Earlier turns of a conversation, filed: each answer as documents, each question as an earlier one. Pure."""

from collections.abc import Iterable, Iterator

from antiphon_shared.events.session import Turn
from antiphon_shared.memory.conversation import CONVERSATION
from antiphon_shared.memory.filing.delta_builder import MemoryDeltaBuilder, Origin
from antiphon_shared.memory.filing.parts import parts_of
from antiphon_shared.memory.filing.pieces import Part
from antiphon_shared.memory.filing.sameness import KnownFacts
from antiphon_shared.memory.layers import EarlierQuestion, MemoryDelta
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.storable import storable_text

_ROUND = 1
_TITLE_CHARACTERS = 80


def file_conversation(memory: Memory, turns: Iterable[Turn]) -> MemoryDelta:
    """Return the delta of earlier turns, the oldest first, for a new memory; empty if they are filed already.

    The facts have the tool `CONVERSATION` and the title `Earlier answer: <question>`, so that a citation
    shows their origin.
    """
    if memory.earlier:
        return MemoryDelta()
    builder = MemoryDeltaBuilder(memory, KnownFacts())
    questions: list[EarlierQuestion] = []
    for number, turn in enumerate(turns, 1):
        origin = Origin(_ROUND, f"turn_{number}", CONVERSATION, turn.has_untrusted)
        question = storable_text(turn.question)
        builder.file(_parts(question, storable_text(turn.answer)), origin)
        questions.append(EarlierQuestion(call_id=origin.call_id, question=question, status=turn.status))
    return builder.delta.model_copy(update={"earlier": tuple(questions)})


def _parts(question: str, answer: str) -> Iterator[Part]:
    title = f"Earlier answer: {one_line(question, _TITLE_CHARACTERS)}"
    for part in parts_of(answer):
        yield part._replace(title=f"{title}: {part.title}" if part.title else title)
