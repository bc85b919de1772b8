"""From an author's options to a complete contract, or to an error with the remedy. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict, get_args

from antiphon_shared.tools.contract import (
    CACHE_TTL_S,
    RENAMED,
    Alternative,
    Backoff,
    BatchVariant,
    Contract,
    Dependency,
    Effect,
    ErrorPropagation,
    Mode,
    RateLimit,
    Repeat,
    Retry,
)
from pydantic import ValidationError
from pydantic_core import to_json

from tool_dispatcher.authoring.failures import InvalidTool
from tool_dispatcher.authoring.options import in_json_form, refusal

Fields = Mapping[str, Any]
"""The JSON form of one of the contract's classes."""
Problem = tuple[str, str]
"""A problem and its remedy."""


class ContractOptions(TypedDict, total=False):
    """The options of a tool's contract, without its effect: the fields of `Contract`, as an author may write them.

    A new option goes into both classes, into antiphon/cli/contract_words.py and into docs/tools.md.
    """

    mode: Mode
    max_concurrency: int | None
    depends_on: str | Dependency | Fields | Sequence[str | Dependency | Fields]
    error_propagation: ErrorPropagation
    batch: BatchVariant | Fields | None
    timeout_s: float
    slow_s: float | None
    retry: int | Retry | Fields
    backoff: Backoff | Fields
    cache_ttl_s: float
    deterministic: bool
    idempotent: bool
    idempotency_ttl_s: float
    repeat: Repeat
    scopes: str | Sequence[str]
    alternatives: str | Alternative | Fields | Sequence[str | Alternative | Fields]
    result_bytes_max: int | None
    rounds: int | Sequence[int]
    steps: int | Sequence[int]
    """The earlier name of `rounds`."""
    rate_limit: RateLimit | Fields | None
    open_world: bool
    pinned: bool
    next: str | Sequence[str]
    validates: str
    version: str


OPTIONS = tuple(name for name in ContractOptions.__annotations__ if name not in RENAMED)


def complete(
    tool: str, effect: Effect, options: Mapping[str, object], has_reconcile: bool = False
) -> Contract:
    """Return the contract with every default resolved. Raises InvalidTool for a wrong option or two that conflict."""
    if effect not in get_args(Effect):
        raise InvalidTool(tool, f"its effect is {effect!r}", hint='Write effect="read" or effect="write".')
    written = in_json_form(tool, options, OPTIONS)
    fields = {**_defaults(effect, written), **written, "effect": effect, "reconciles": has_reconcile}
    try:
        contract = Contract.model_validate_json(to_json(fields, inf_nan_mode="constants"), strict=True)
    except ValidationError as error:
        raise refusal(tool, error) from None
    for problem, hint in _problems(tool, contract, written):
        raise InvalidTool(tool, problem, hint=hint)
    return contract


def _defaults(effect: Effect, options: Mapping[str, object]) -> dict[str, Any]:
    is_read = effect == "read"
    mode: Mode = "parallel-safe" if is_read else "sequential-only"
    if options.get("depends_on"):
        mode = "dependent"
    elif options.get("max_concurrency") is not None:
        mode = "fan-out-bounded"
    return {
        "mode": mode,
        "error_propagation": "partial-success" if is_read else "fail-fast",
        "cache_ttl_s": CACHE_TTL_S if is_read and options.get("deterministic") is True else 0,
    }


def _problems(tool: str, contract: Contract, options: Mapping[str, object]) -> Iterator[Problem]:
    """Yield the contradictions within a contract."""
    yield from _mode_problems(contract)
    yield from _effect_problems(contract, options)
    yield from _self_reference_problems(tool, contract)
    yield from _duplicate_problems(contract)
    yield from _retry_problems(contract, options)
    yield from _validation_problems(contract)
    if contract.slow_s is not None and contract.slow_s >= contract.timeout_s:
        yield (
            "its slow_s is not less than its timeout_s",
            "Lower slow_s, or omit it: a timeout always counts as a failure.",
        )
    if "rounds" in options and not contract.rounds:
        yield (
            "its rounds are empty",
            "Name the rounds, such as rounds=[1, 2], or omit the option for all rounds.",
        )
    for scope in contract.scopes:
        if scope in get_args(Effect):
            yield f"its scopes name {scope!r}", "Omit it: the effect of a tool is always a required scope."


def _mode_problems(contract: Contract) -> Iterator[Problem]:
    mode = contract.mode
    if mode == "fan-out-bounded" and contract.max_concurrency is None:
        yield "its mode is fan-out-bounded, without max_concurrency", "Add a limit such as max_concurrency=4."
    if mode not in ("fan-out-bounded", "dependent") and contract.max_concurrency is not None:
        yield (
            f"it has max_concurrency, but its mode is {mode}",
            'Write mode="fan-out-bounded", or omit max_concurrency.',
        )
    if mode == "dependent" and not contract.depends_on:
        yield "its mode is dependent, without depends_on", 'Name a tool, such as depends_on=["search"].'
    if mode not in ("dependent", "fan-out-bounded") and contract.depends_on:
        yield (
            f"it has depends_on, but its mode is {mode}",
            'Write mode="dependent", or omit depends_on.',
        )


def _effect_problems(contract: Contract, options: Mapping[str, object]) -> Iterator[Problem]:
    if contract.effect == "write" and contract.cache_ttl_s:
        yield "it is a write with cache_ttl_s", "Omit cache_ttl_s: results of writes are never reused."
    if contract.effect == "write" and contract.deterministic:
        yield (
            "it is a write with deterministic",
            "Omit deterministic: it allows the reuse of results, but results of writes are never reused.",
        )
    if contract.effect == "write":
        if contract.alternatives and (contract.idempotent or contract.reconciles):
            yield (
                "it combines alternatives with idempotent or reconcile",
                "Omit one of them: after a crash it is unknown which of the tools took effect.",
            )
        return
    for option in ("idempotent", "idempotency_ttl_s", "repeat"):
        if options.get(option):
            yield f"it is a read with {option}", f"Omit {option}: a read can always be repeated."
    if contract.reconciles:
        yield "it is a read with reconcile", "Omit reconcile: a read has no effect to check."


def _validation_problems(contract: Contract) -> Iterator[Problem]:
    if not contract.validates:
        return
    if contract.effect == "write":
        yield (
            "it is a write with validates",
            "Omit validates, or declare a read: a validation changes nothing.",
        )
    if contract.cache_ttl_s:
        yield (
            "it combines validates with a cache",
            "Omit cache_ttl_s and deterministic: each validation must run.",
        )
    if contract.batch is not None or contract.alternatives:
        yield (
            "it combines validates with batch or alternatives",
            "Omit those: no other tool can validate in its place.",
        )


def named_tools(contract: Contract) -> dict[str, tuple[str, ...]]:
    """Return the names of other tools in a contract, by option."""
    return {
        "depends_on": tuple(one.tool for one in contract.depends_on),
        "alternatives": tuple(one.tool for one in contract.alternatives),
        "batch": (contract.batch.tool,) if contract.batch is not None else (),
        "next": contract.next,
    }


def _self_reference_problems(tool: str, contract: Contract) -> Iterator[Problem]:
    for option, names in named_tools(contract).items():
        if tool in names:
            yield f"its {option} names the tool itself", f"Name another tool in {option}."


def _duplicate_problems(contract: Contract) -> Iterator[Problem]:
    lists: dict[str, tuple[object, ...]] = {
        **named_tools(contract),
        "scopes": contract.scopes,
        "rounds": contract.rounds,
    }
    for one in contract.depends_on:
        lists[f"required_fields of {one.tool}"] = one.required_fields
    for other in contract.alternatives:
        lists[f"arguments of alternative {other.tool}"] = tuple((other.arguments or {}).values())
    for option, values in lists.items():
        if duplicates := [value for index, value in enumerate(values) if value in values[:index]]:
            yield f"its {option} name {duplicates[0]!r} twice", "Name it once."
        if "" in values:
            yield f"its {option} contain an empty name", "Write a name, or omit the entry."


def _retry_problems(contract: Contract, options: Mapping[str, object]) -> Iterator[Problem]:
    if "backoff" in options and contract.retry.attempts == 1:
        yield "it has a backoff, but retry allows one attempt", "Omit backoff, or allow more attempts."
    initial_ms, max_ms = contract.backoff.initial_ms, contract.backoff.max_ms
    if initial_ms > max_ms:
        yield f"its backoff starts at {initial_ms} ms, above its max_ms of {max_ms}", "Raise max_ms."
