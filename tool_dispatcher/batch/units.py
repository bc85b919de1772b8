"""Units of execution of a batch. Pure.

A unit is one call, or a group of calls of one tool that run as one call of its batch variant. Units depend only
on the request, the contracts and the bounds, so that a batch taken over after a crash has the same units with
the same idempotency keys.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.tools.contract import BatchVariant, Contract

ConcurrencyLimits = tuple[tuple[str, int], ...]
"""Names of tools, each with the number of its units that may run at once in one batch."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of execution."""

    number: int
    calls: tuple[int, ...]
    """Indexes of the calls it answers, ascending, without calls of a group that must not run."""
    tool: str
    """The tool that runs: for a group, the batch variant."""
    key: str
    """The idempotency key in sessions of format 1, else empty. A group has that of its first call, `+`, and the
    number of its other calls; calls that must not run count too, so that the key never changes.
    """
    variant: BatchVariant | None = None
    """For a group, the batch variant, which gathers the arguments and spreads the outcome."""
    is_fail_fast: bool = False
    is_sequential: bool = False
    limits: ConcurrencyLimits = ()
    """The limits of bounded tools that count this unit."""


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
        runnable = tuple(member for member in members if member not in must_not_run)
        key = f"{call.idempotency_key}+{len(members) - 1}" if call.idempotency_key else ""
        units.append(_unit(number, runnable, call.name, key, contracts, variant))
    return tuple(units), tuple([numbers[index] for index in range(len(calls))])


def _unit(
    number: int,
    calls: tuple[int, ...],
    called: str,
    key: str,
    contracts: Mapping[str, Contract],
    variant: BatchVariant | None = None,
) -> Unit:
    """Return the unit; for a group, both the contract of its tool and that of the variant apply."""
    tool = called if variant is None else variant.tool
    applying = {name: contracts[name] for name in (called, tool) if name in contracts}
    return Unit(
        number,
        calls,
        tool,
        key,
        variant,
        is_fail_fast="fail-fast" in [one.error_propagation for one in applying.values()],
        is_sequential="sequential-only" in [one.mode for one in applying.values()],
        limits=tuple(
            [(name, one.max_concurrency) for name, one in applying.items() if one.max_concurrency is not None]
        ),
    )
