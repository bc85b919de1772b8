"""Functions of pure modules that no replay calls, with the reason; recordings need not run their lines."""

from tests.recordings.lines_run import Position, functions_of

OUT_OF_REACH: dict[str, tuple[str, ...]] = {
    "the shell asks it before the decision; no scenario is without a dispatcher at its deadline": (
        "coordinator/dispatchers.needs_dispatcher",
        "coordinator/dispatchers._without_dispatcher",
        "coordinator/dispatchers._waits_for_dispatcher",
    ),
    "parts of groups are put together while a batch runs; what came of it is recorded": (
        "tool_dispatcher/batch/collapse.gathered",
        "tool_dispatcher/batch/collapse.spread",
        "tool_dispatcher/batch/collapse._items_by_call",
        "tool_dispatcher/batch/collapse._index_of",
        "tool_dispatcher/batch/collapse._read_item",
        "tool_dispatcher/batch/collapse._read_error",
        "tool_dispatcher/batch/collapse._type_of",
        "tool_dispatcher/batch/collapse._fields",
        "tool_dispatcher/batch/collapse._group_error",
        "tool_dispatcher/batch/collapse._unmatched",
    ),
    "it makes a record of a server's reply; a replay reads the record": (
        "reasoning_engine/exchange_record.exchange_record",
        "reasoning_engine/exchange_record.message_json",
        "reasoning_engine/exchange_record.safe_headers",
        "shared/antiphon_shared/text/storable._mended",
    ),
    "the shell asks it, before a decision or behind one": (
        "coordinator/approvals.has_untrusted_source",
        "coordinator/offer.ranks_at_opening",
        "coordinator/offer.ranks_after",
        "coordinator/opening.conversation_of",
        "context_synthesizer/session_index_cache.catches_up",
        "context_synthesizer/session_index_cache.take",
        "context_synthesizer/session_index_cache.store",
        "shared/antiphon_shared/memory/conversation.open_turn",
        "shared/antiphon_shared/memory/conversation.turn_of",
        "shared/antiphon_shared/memory/conversation._answer_of",
        "shared/antiphon_shared/memory/conversation._cut",
        "shared/antiphon_shared/tools/calls.in_format",
    ),
    "the Messages API's own means need the SDK, which the verification of the recordings kept here does not import": (
        "reasoning_engine/shaped._transformed",
        "reasoning_engine/shaped._has_open_object",
    ),
    "a mapping has to have it; a briefing reads the scores one by one, in their own order": (
        "context_synthesizer/scores.__iter__",
        "context_synthesizer/scores.__len__",
    ),
    "it runs once, when its module is imported": ("shared/antiphon_shared/text/tokens._prices",),
}
"""Functions as `module.name`, by reason."""


def out_of_reach() -> frozenset[Position]:
    """Return the lines that no replay can run."""
    found: set[Position] = set()
    for functions in OUT_OF_REACH.values():
        for function in functions:
            module, _, name = function.rpartition(".")
            found.update(Position(module, line) for line in functions_of(module)[name])
    return frozenset(found)
