"""The effect of the values that a person gives a run: of two that fit, the run takes only the first."""

from collections.abc import Mapping
from functools import partial

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, InputGiven, InputRefused

from antiphon.confirmation import GivenValues, found_within_limit
from antiphon.errors import TooLate
from antiphon.run_state import state_after
from antiphon.signals import send
from coordinator.runs.memory import stored_changes


async def send_values(
    bus: Bus, run_id: str, node: str, number: int, values: Mapping[str, object], by: str
) -> GivenValues:
    """Send values for the request `number` of a run; return the node that waits, and what became of the values.

    Raises TooLate if the run did not wait for them any more, UnknownSession, InvalidQuery.
    """
    fields = {"round": number, "values": dict(values), "by": by}
    sent = await send(bus, run_id, InputGiven, fields, "run")
    effect: GivenValues | TooLate | None = await found_within_limit(partial(_effect, bus, node, number, sent))
    if isinstance(effect, TooLate):
        raise effect
    return effect if effect is not None else GivenValues(node, is_confirmed=False, refused="")


async def _effect(bus: Bus, node: str, number: int, sent: AnyEvent) -> GivenValues | TooLate | None:
    """Return the effect of the values in `sent`; None while no coordinator has decided on them."""
    changes = await stored_changes(bus.session(sent.subject))
    decided = {event for event, _ in changes}
    if sent.id not in decided and number in state_after(changes).paths:
        return None
    log = [event for _, event in await bus.session(sent.subject).log()]
    if sent.id in decided:
        refusals = [event for event in log if event.causationid == sent.id]
        reasons = [event.data.because for event in refusals if isinstance(event.data, InputRefused)]
        return GivenValues(node, is_confirmed=True, refused="; ".join(reasons))
    first = [event.data for event in log if event.id in decided and isinstance(event.data, InputGiven)]
    people = [one.by or "another person" for one in first if one.round == number]
    why = f"{people[-1]} answered {node} first" if people else f"{node} no longer waited"
    return TooLate(
        f"run {sent.subject} did not take it: {why}.",
        hint=f"`antiphon sessions show {sent.subject}` lists what was sent and what followed.",
    )
