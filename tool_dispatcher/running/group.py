"""The items of a group, which run as one call of a batch variant: their outcomes and their retries. Pure.

An attempt may fail as a whole, or for some of its items. An attempt that failed as a whole is retried unchanged.
Failed items are retried without the others, if a second run has no second effect.

The idempotency key of an attempt is made of its items. A service that honours keys refuses a key that it has
received with other arguments, but it must recognise the same items when they are sent again, also by another worker
after a crash.

So an item of a write is retried only if it was refused: if the first attempt had an effect, the other key would not
prevent a second effect. If the tool can report the effect of a key, no item is retried: the dispatcher would
pass it the key of the whole group, not the keys of its items.
"""

from dataclasses import dataclass

from antiphon_shared.tools.calls import ToolError, ToolOutcome
from antiphon_shared.tools.contract import Contract
from antiphon_shared.values import Json

from tool_dispatcher.batch import Unit, spread
from tool_dispatcher.idempotency.identity import fingerprint
from tool_dispatcher.running.retrying import final_error, pause_s

_DIGEST_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Items:
    """The outcome of each call of a group, in order: JSON values or a ToolError."""

    outcomes: tuple[ToolOutcome, ...]

    @property
    def as_one_outcome(self) -> ToolOutcome:
        """Return the items as one outcome, which `spread` can separate again; a ToolError if an item failed."""
        items: list[Json] = []
        for outcome in self.outcomes:
            if isinstance(outcome, ToolError):
                return outcome
            items.append({"index": len(items), "status": "ok", "data": outcome})
        return {"results": items}


class Group:
    """The attempts of a group. Make each with `remaining` and `key`, and pass its outcome to `note`."""

    def __init__(self, unit: Unit, contract: Contract, key: str, *, can_reconcile: bool) -> None:
        assert unit.variant is not None, "only calls that run as one are a group"
        self._variant, self._contract, self._key = unit.variant, contract, key
        self._can_reconcile = can_reconcile
        self._outcomes: list[ToolOutcome] = [None] * len(unit.calls)
        self._errors: list[list[ToolError]] = [[] for _ in unit.calls]
        self._is_answered = False
        self.remaining: tuple[int, ...] = tuple(range(len(unit.calls)))
        """The items of the next attempt."""

    @property
    def key(self) -> str:
        """Return the idempotency key of the next attempt."""
        if len(self.remaining) == len(self._outcomes):
            return self._key
        return f"{self._key}~{fingerprint(list(self.remaining))[:_DIGEST_CHARACTERS]}"

    def note(self, outcome: ToolOutcome, attempt: int) -> ToolError | None:
        """Record the outcome of an attempt; return the error that requires another attempt, or None."""
        items = spread(self._variant, self._contract.effect, outcome, len(self.remaining))
        for index, item in zip(self.remaining, items, strict=True):
            self._outcomes[index] = item
            if isinstance(item, ToolError):
                self._errors[index].append(item)
        if isinstance(outcome, ToolError):
            return outcome
        self._is_answered = True
        delays_s = {
            index: pause for index in self.remaining if (pause := self._pause_s(index, attempt)) is not None
        }
        self.remaining = tuple(delays_s)
        # All items run again together, after the longest of their pauses.
        return self._errors[max(delays_s, key=delays_s.__getitem__)][-1] if delays_s else None

    def outcome(self, last: ToolOutcome) -> ToolOutcome | Items:
        """Return the items, or `last`, the error of all attempts, if each attempt failed as a whole."""
        if not self._is_answered:
            return last
        return Items(tuple(map(self._outcome_at, range(len(self._outcomes)))))

    def _pause_s(self, index: int, attempt: int) -> float | None:
        """Return the longest pause before the item runs again, in seconds; None if it does not."""
        error = self._outcomes[index]
        if not isinstance(error, ToolError):
            return None
        is_write = self._contract.effect == "write"
        if is_write and (self._can_reconcile or error.error_type != "rate_limit"):
            return None
        return pause_s(error, self._contract, attempt)

    def _outcome_at(self, index: int) -> ToolOutcome:
        outcome = self._outcomes[index]
        return final_error(self._errors[index], self._contract) if isinstance(outcome, ToolError) else outcome
