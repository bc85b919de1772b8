"""Calls that run as one call of a batch variant: the outcome of each, and retries of those that may run again. Pure.

An attempt may fail as a whole, or for some of its items. An attempt that failed as a whole is retried
unchanged. Failed items are retried if a second run has no second effect, without the
items that are done.

Each set of items has an idempotency key of its own. A service that honours keys refuses a key that returns
with other arguments; and where the same items are sent once more, or by another worker after a crash, it must
recognise them. So the key is made of the items, not of the attempt.

For that reason an item of a write is retried only if it was refused: if the first attempt had an effect, the
other key would not prevent a second effect. If the tool can be asked about a key, no item is retried: the tool
would be asked about the key of the whole group, and would not know the keys of its items.
"""

from collections.abc import Sequence
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
    """The outcome of each call of a group, in their order: JSON values, or a ToolError."""

    outcomes: tuple[ToolOutcome, ...]

    @property
    def as_one_outcome(self) -> ToolOutcome:
        """Return the items as one outcome, which `spread` takes apart again; a ToolError when an item failed."""
        items: list[Json] = []
        for outcome in self.outcomes:
            if isinstance(outcome, ToolError):
                return outcome
            items.append({"index": len(items), "status": "ok", "data": outcome})
        return {"results": items}


class Group:
    """One group's attempts. Make them with `left` and `key`, and pass the outcome of each to `note`."""

    def __init__(self, unit: Unit, contract: Contract, key: str, *, can_be_asked: bool) -> None:
        assert unit.variant is not None, "only calls that run as one are a group"
        self._variant, self._contract, self._key = unit.variant, contract, key
        self._can_be_asked = can_be_asked
        self._outcomes: list[ToolOutcome] = [None] * len(unit.calls)
        self._errors: list[list[ToolError]] = [[] for _ in unit.calls]
        self._is_answered = False
        self.left: tuple[int, ...] = tuple(range(len(unit.calls)))
        """The items of the next attempt."""

    @property
    def key(self) -> str:
        """Return the idempotency key of the next attempt."""
        if len(self.left) == len(self._outcomes):
            return self._key
        return f"{self._key}~{fingerprint(list(self.left))[:_DIGEST_CHARACTERS]}"

    def note(self, outcome: ToolOutcome, attempt: int) -> ToolError | None:
        """Record the outcome of an attempt.

        Returns the error that calls for another attempt, or None.
        """
        for place, item in zip(self.left, self._spread(outcome), strict=True):
            self._outcomes[place] = item
            if isinstance(item, ToolError):
                self._errors[place].append(item)
        if isinstance(outcome, ToolError):
            return outcome
        self._is_answered = True
        pauses_s = {
            place: pause for place in self.left if (pause := self._pause_s(place, attempt)) is not None
        }
        self.left = tuple(pauses_s)
        # They run again together, so all wait for the longest pause among them.
        return self._errors[max(pauses_s, key=pauses_s.__getitem__)][-1] if pauses_s else None

    def outcome(self, last: ToolOutcome) -> ToolOutcome | Items:
        """Return Items; or `last`, the error of all attempts, when each of them failed as a whole."""
        if not self._is_answered:
            return last
        return Items(tuple(map(self._outcome_at, range(len(self._outcomes)))))

    def _spread(self, outcome: ToolOutcome) -> Sequence[ToolOutcome]:
        return spread(self._variant, self._contract.effect, outcome, len(self.left))

    def _pause_s(self, index: int, attempt: int) -> float | None:
        """Return the longest pause before the item may run again, in seconds; None if it must not, or need not."""
        error = self._outcomes[index]
        if not isinstance(error, ToolError):
            return None
        is_write = self._contract.effect == "write"
        if is_write and (self._can_be_asked or error.error_type != "rate_limit"):
            return None
        return pause_s(error, self._contract, attempt)

    def _outcome_at(self, index: int) -> ToolOutcome:
        outcome = self._outcomes[index]
        return final_error(self._errors[index], self._contract) if isinstance(outcome, ToolError) else outcome
