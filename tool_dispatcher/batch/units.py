"""Units of execution of a batch. Pure.

A unit is one call, or a group of calls of one tool that run as one call of its batch variant. Units are a
function of the request, the contracts and the bounds. Settled outcomes have no influence, so that a batch
taken over after a crash has the same units, under the same idempotency keys.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.tools.contract import BatchVariant, Contract

AtOnce = tuple[tuple[str, int], ...]
"""Names of tools, with how many units of each may run at once in one batch."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of execution."""

    number: int
    calls: tuple[int, ...]
    """Indexes of the calls it answers, ascending. A group leaves out calls that must not run."""
    tool: str
    """The tool that runs: for a group, the batch variant."""
    key: str
    """Its idempotency key in sessions of format 1, else empty: for one call its own; for a group that of its
    first call, `+`, and how many more calls it has. Calls that must not run count too, so that the key never
    changes.
    """
    variant: BatchVariant | None = None
    """For a group: how arguments are gathered and the outcome is spread."""
    is_fail_fast: bool = False
    is_sequential: bool = False
    at_once: AtOnce = ()
    """The bounded tools whose limits it counts against."""


def units_of(
    calls: Sequence[RequestedCall],
    contracts: Mapping[str, Contract],
    groups: Sequence[tuple[int, ...]],
    must_not_run: Collection[int],
) -> tuple[tuple[Unit, ...], tuple[int, ...]]:
    """Return the units in the order of their first calls, and the number of each call's unit."""
    group_of = {group[0]: group for group in groups}
    numbers: dict[int, int] = {}
    units: list[Unit] = []
    for index, call in enumerate(calls):
        if index in numbers:
            continue
        number, members = len(units), group_of.get(index, (index,))
        numbers |= dict.fromkeys(members, number)
        if len(members) == 1:
            units.append(_unit(number, members, call.name, call.idempotency_key or "", contracts))
            continue
        variant = contracts[call.name].batch
        assert variant is not None, "groups are made of calls of a tool with a batch variant"
        running = tuple(place for place in members if place not in must_not_run)
        key = f"{call.idempotency_key}+{len(members) - 1}" if call.idempotency_key else ""
        units.append(_unit(number, running, call.name, key, contracts, variant))
    return tuple(units), tuple([numbers[index] for index in range(len(calls))])


def _unit(
    number: int,
    calls: tuple[int, ...],
    asked: str,
    key: str,
    contracts: Mapping[str, Contract],
    variant: BatchVariant | None = None,
) -> Unit:
    """Return the unit with its contract's properties: a group keeps to its tool's contract and to the variant's."""
    tool = asked if variant is None else variant.tool
    promised = {name: contracts[name] for name in (asked, tool) if name in contracts}
    return Unit(
        number,
        calls,
        tool,
        key,
        variant,
        is_fail_fast="fail-fast" in [one.error_propagation for one in promised.values()],
        is_sequential="sequential-only" in [one.mode for one in promised.values()],
        at_once=tuple(
            [(name, one.max_concurrency) for name, one in promised.items() if one.max_concurrency is not None]
        ),
    )
