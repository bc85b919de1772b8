"""A tool's contract in words, for people. Pure."""

from collections.abc import Iterator

from antiphon_shared.tools.calls import Approval
from antiphon_shared.tools.contract import Contract, Repeat

_MODES = {
    "parallel-safe": "its calls run at the same time",
    "sequential-only": "its calls run one after another, in their order",
    "fan-out-bounded": "its calls run at the same time, within a bound",
    "dependent": "its calls wait for the calls they depend on",
}
_ERRORS = {
    "fail-fast": "when a call fails, the calls of the batch that have not started are cancelled",
    "partial-success": "when a call fails, the others continue",
}
_REPEATS: dict[Repeat, str] = {
    "return": "return: a repeated call gets the first call's result and is not run again",
    "run": "run: every repeated call runs",
    "ask": "ask: a repeated call runs if a person approves it",
}
_APPROVALS: dict[Approval, str] = {
    "never": "not needed",
    "always": "a person must approve each call",
    "after_untrusted": "a person must approve each call once untrusted content is in the session",
}


def contract_words(contract: Contract, approval: Approval = "never") -> list[tuple[str, str]]:
    """Return the contract's promises as (subject, words), including defaults where they matter."""
    return [
        ("mode", f"{contract.mode}: {_MODES[contract.mode]}"),
        *_order(contract),
        ("errors", f"{contract.error_propagation}: {_ERRORS[contract.error_propagation]}"),
        *_times(contract),
        *(_of_a_write(contract) if contract.effect == "write" else _of_a_read(contract)),
        ("scopes", ", ".join(sorted(contract.scopes_needed))),
        ("approval", _APPROVALS[approval]),
        *_alternatives(contract),
        *_offer(contract),
        *_result(contract),
        ("version", contract.version),
    ]


def _order(contract: Contract) -> Iterator[tuple[str, str]]:
    if contract.max_concurrency is not None:
        yield "at once", f"at most {contract.max_concurrency}, across all dispatchers"
    for dependency in contract.depends_on:
        fields = ", ".join(dependency.required_fields)
        yield "after", dependency.tool + (f", whose result must contain {fields}" if fields else "")
    if contract.batch is not None:
        batch = contract.batch
        yield (
            "batch",
            f"several calls are merged into one call of {batch.tool}: up to {batch.items_max} items "
            f"in its {batch.argument}",
        )
    if contract.next:
        yield "next", ", ".join(contract.next)


def _times(contract: Contract) -> Iterator[tuple[str, str]]:
    yield "timeout", duration(contract.timeout_s)
    if contract.slow_s is not None:
        after = duration(contract.slow_s)
        yield "slow", f"after {after}; the circuit breaker counts a slow call as a failure"
    yield "retry", _retry(contract)
    if contract.rate_limit is not None:
        limit = contract.rate_limit
        yield "rate limit", f"{limit.calls} per {duration(limit.per_s)}, across all dispatchers"


def _retry(contract: Contract) -> str:
    if contract.retry.attempts == 1:
        return "never"
    pause = contract.backoff
    when = "" if contract.is_safe_to_repeat else ", only if the call cannot have taken effect"
    return (
        f"{contract.retry.attempts} attempts in all{when}; pauses {pause.strategy}, "
        f"from {duration(pause.initial_ms / 1000)} to {duration(pause.max_ms / 1000)}"
    )


def _of_a_read(contract: Contract) -> Iterator[tuple[str, str]]:
    lifetime = duration(contract.cache_ttl_s) if contract.cache_ttl_s else "never"
    same = "; the same arguments give the same result" if contract.deterministic else ""
    yield "cache", lifetime + same


def _of_a_write(contract: Contract) -> Iterator[tuple[str, str]]:
    if contract.idempotent:
        yield "after a crash", "run again with the same key, without a second effect"
    elif contract.reconciles:
        yield "after a crash", "the tool is asked for the outcome of its key"
    else:
        yield "after a crash", "the outcome is reported as unknown; the call is never run again automatically"
    yield "called again", _REPEATS[contract.repeat]
    yield "key kept for", duration(contract.idempotency_ttl_s)


def _alternatives(contract: Contract) -> Iterator[tuple[str, str]]:
    for alternative in contract.alternatives:
        pairs = (alternative.arguments or {}).items()
        mapped = ", ".join(f"its {target} from {source}" for source, target in pairs)
        yield "instead", alternative.tool + (f" ({mapped})" if mapped else "")


def _offer(contract: Contract) -> Iterator[tuple[str, str]]:
    if contract.rounds:
        yield "rounds", ", ".join(map(str, sorted(contract.rounds)))
    if contract.pinned:
        yield "offered", "always, in a catalogue of any size"
    if contract.validates:
        yield "validates", f"the value of {contract.validates}, for answers that must pass this validation"


def _result(contract: Contract) -> Iterator[tuple[str, str]]:
    if contract.result_bytes_max is not None:
        yield "result", f"{contract.result_bytes_max} bytes are shown; the rest can be read by its handle"
    if contract.open_world:
        yield "trust", "its results may contain text from unknown authors"


def duration(seconds: float) -> str:
    """Return a duration such as `250 ms`, `30 s`, `1.5 min`, `24 h`, `30 days`."""
    for unit, length_s, least in (("days", 86_400, 2), ("h", 3_600, 1), ("min", 60, 1), ("s", 1, 1)):
        if seconds >= length_s * least:
            return f"{seconds / length_s:.4g} {unit}"
    return f"{seconds * 1000:.4g} ms"
