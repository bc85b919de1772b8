"""Filing: one round's outcome becomes documents, facts, a reasoning note and tool usage. Pure.

Read `file_round` first. `parts` splits a result into statements, `sentences` a text; `sameness` finds known
statements, and `differences` those that a new one supersedes or contradicts.
"""

from antiphon_shared.memory.filing.conversation import file_conversation
from antiphon_shared.memory.filing.file_round import file_round
from antiphon_shared.memory.filing.sameness import KnownFacts
from antiphon_shared.memory.filing.truncation import truncate_delta

__all__ = ["KnownFacts", "file_conversation", "file_round", "truncate_delta"]
