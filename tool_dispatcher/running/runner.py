"""The run of a tool: its attempts, and its alternatives after the last attempt has failed."""

from collections.abc import Mapping, Sequence

from antiphon_shared.tools.calls import ToolError, ToolOutcome
from antiphon_shared.values import JsonObject

from tool_dispatcher.authoring.failures import readable
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import gathered
from tool_dispatcher.results.outcome import Answer
from tool_dispatcher.running.arguments import arguments_of
from tool_dispatcher.running.attempt import Attempts
from tool_dispatcher.running.batch_run import Call
from tool_dispatcher.running.breakers import GuardedCall
from tool_dispatcher.running.group import Group, Items
from tool_dispatcher.running.retrying import Retries
from tool_dispatcher.running.substitution import mapped, substitutes, substitution_reason


class Runner:
    """The runner of tools, with retries and alternatives."""

    def __init__(self, tools: Mapping[str, Tool], attempts: Attempts) -> None:
        self._tools, self._attempts = tools, attempts

    async def answer(self, call: Call) -> Answer:
        """Return the tool's answer, or, if the tool keeps failing, that of the first alternative that works."""
        outcome = await (
            self._with_retries(call) if call.unit.variant is None else self._group_with_retries(call)
        )
        if not isinstance(outcome, ToolError):
            return Answer(outcome)
        failed_too: list[str] = []
        for alternative in substitutes(call.contract, outcome):
            other = self._tools.get(alternative.tool)
            if other is None or other.name in call.batch.permissions.denied or call.batch.time_left_s <= 0:
                continue
            arguments = arguments_of(other, mapped(alternative, call.arguments.plain))
            if isinstance(arguments, ToolError):
                continue
            substitute_outcome = await self._with_retries(call._replace(tool=other, arguments=arguments))
            if (
                not isinstance(substitute_outcome, ToolError)
                or substitute_outcome.error_type == "outcome_unknown"
            ):
                return Answer(
                    substitute_outcome, other.name, substitution_reason(call.tool.name, outcome, other.name)
                )
            failed_too.append(other.name)
        return Answer(_with_alternatives(outcome, failed_too))

    async def _with_retries(self, call: Call) -> ToolOutcome:
        """Return the outcome of the last attempt at a single call."""
        retries = Retries(call.batch.retried_by(call.contract))
        with self._attempts.guarded(call.tool.name) as guard:
            outcome = await self._attempts.make(call, guard)
            while await retries.wait_before_retry(outcome, call.batch.time_left_s):
                call, outcome = await self._next_attempt(call, call.arguments.plain, guard)
        return retries.final_outcome(outcome)

    async def _group_with_retries(self, call: Call) -> ToolOutcome | Items:
        """Return the outcome of a group: Items, or a ToolError if every attempt failed as a whole."""
        variant, contract = call.unit.variant, call.batch.retried_by(call.contract)
        assert variant is not None, "a unit of one call is not a group"
        items = call.arguments.plain[variant.argument]
        group = Group(call.unit, contract, call.key, can_reconcile=call.tool.reconcile is not None)
        retries = Retries(contract)
        with self._attempts.guarded(call.tool.name) as guard:
            error = group.note(await self._attempts.make(call, guard), call.attempt)
            while await retries.wait_before_retry(error, call.batch.time_left_s):
                remaining_items = gathered(variant, [items[index] for index in group.remaining])
                call, outcome = await self._next_attempt(call._replace(key=group.key), remaining_items, guard)
                error = group.note(outcome, call.attempt)
        return group.outcome(retries.final_outcome(error))

    async def _next_attempt(
        self, call: Call, plain: JsonObject, guard: GuardedCall
    ) -> tuple[Call, ToolOutcome]:
        """Make the next attempt, with a new copy of the arguments, as the function may have changed the last one."""
        arguments = arguments_of(call.tool, plain, call.arguments.secrets)
        call = call._replace(attempt=call.attempt + 1)
        if isinstance(arguments, ToolError):
            return call, arguments
        call = call._replace(arguments=arguments)
        return call, await self._attempts.make(call, guard)


def _with_alternatives(error: ToolError, failed_too: Sequence[str]) -> ToolError:
    if not failed_too:
        return error
    message = f"{error.message} ({', '.join(failed_too)}, asked instead, failed as well.)"
    return error.model_copy(update={"message": readable(message)})
