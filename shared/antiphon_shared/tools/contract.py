"""The contract of a tool: its promises about its calls, which control their execution. Pure.

It is part of the tool's definition, in its JSON Schema under `x-orchestration`.
"""

from typing import Annotated, Literal

from pydantic import Field

from antiphon_shared.formats import Fields, newer_fields, since, without_fields
from antiphon_shared.values import JsonObject, JsonSchema, Value

CONTRACT_KEYWORD = "x-orchestration"
"""The keyword of a contract in a tool's JSON Schema."""
UNKNOWN_OUTCOME = "Done at most once. If it ends as outcome_unknown, check before you call it again."
ONE_AFTER_ANOTHER = "Its calls run one after another, in your order."
CHANGES = "It changes something."
"""Lines in descriptions about contracts, which models do not get. Every write has one of the three."""
RENAMED = {"steps": "rounds"}
"""Fields by their earlier names; the field's `since` says up to which format they have them."""

Effect = Literal["read", "write"]
Mode = Literal["parallel-safe", "sequential-only", "fan-out-bounded", "dependent"]
ErrorPropagation = Literal["fail-fast", "partial-success"]
Repeat = Literal["return", "run", "ask"]
Name = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
Scope = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_.:/-]{1,100}$")]

IDEMPOTENCY_TTL_S_MIN = 86_400.0
CACHE_TTL_S = 300.0
"""How long results of a deterministic read are cached, unless its contract sets it, in seconds."""


class Dependency(Value):
    """A tool that must have succeeded before, in the same batch or an earlier round."""

    tool: Name
    required_fields: tuple[str, ...] = Field(
        default=(), description="Fields its result must hold, at the top or in the first of its records."
    )


class Backoff(Value):
    """The pauses between two attempts at one call; each is drawn from half its value to the whole."""

    strategy: Literal["constant", "linear", "exponential"] = "exponential"
    initial_ms: int = Field(default=200, ge=1, le=60_000)
    max_ms: int = Field(default=10_000, ge=1, le=600_000)


class Retry(Value):
    """The number of attempts at a call whose failure is transient and whose second run is safe."""

    attempts: int = Field(
        default=3, ge=1, le=10, description="Total number of attempts, including the first."
    )


class RateLimit(Value):
    """The number of calls that may begin within a time, across all dispatcher processes."""

    calls: int = Field(ge=1, le=1_000_000)
    per_s: float = Field(default=1.0, gt=0, le=86_400)


class BatchVariant(Value):
    """The tool that does the work for many items at once."""

    tool: Name
    argument: str = Field(min_length=1, description="Its parameter that takes the list of arguments.")
    items_max: int = Field(default=100, ge=2, le=10_000)


class Alternative(Value):
    """A tool to use instead if the tool keeps failing."""

    tool: Name
    arguments: dict[str, str] | None = Field(
        default=None,
        description="Its parameter by the name of ours whose value it takes; the same names when left out.",
    )


class Contract(Value):
    """The promises of a tool about its calls, complete: every default is resolved."""

    effect: Effect
    mode: Mode = "parallel-safe"
    max_concurrency: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="Maximum number of concurrent calls, over all dispatcher processes.",
    )
    depends_on: tuple[Dependency, ...] = ()
    error_propagation: ErrorPropagation = "partial-success"
    batch: BatchVariant | None = None
    timeout_s: float = Field(default=30.0, gt=0, le=3_600)
    slow_s: float | None = Field(
        default=None,
        gt=0,
        le=3_600,
        description="A call that takes longer counts as failed for the circuit breaker; its result is used.",
    )
    retry: Retry = Retry()
    backoff: Backoff = Backoff()
    cache_ttl_s: float = Field(default=0, ge=0, le=86_400 * 30, description="Reads only; 0: never.")
    deterministic: bool = Field(
        default=False,
        json_schema_extra=since(2),
        description="Reads: the same arguments give the same result, until something is written.",
    )
    idempotent: bool = Field(
        default=False,
        description="Writes: a second run with the same idempotency key changes nothing more.",
    )
    reconciles: bool = Field(
        default=False, description="Writes: the tool can report the outcome of an idempotency key."
    )
    idempotency_ttl_s: float = Field(default=IDEMPOTENCY_TTL_S_MIN, ge=IDEMPOTENCY_TTL_S_MIN, le=86_400 * 365)
    repeat: Repeat = Field(
        default="return",
        json_schema_extra=since(2),
        description="Writes: what an identical call later in the session does. It is answered by the first one's"
        " result, runs as a call of its own, or runs if a person agrees.",
    )
    scopes: tuple[Scope, ...] = Field(default=(), description="Needed in addition to `read` or `write`.")
    alternatives: tuple[Alternative, ...] = ()
    result_bytes_max: int | None = Field(default=None, ge=1_000, le=10_000_000)
    rounds: tuple[Annotated[int, Field(ge=1, le=100)], ...] = Field(
        default=(),
        json_schema_extra=since(4),
        description="Rounds in which it is offered and accepted; all when empty. Before format 4: `steps`.",
    )
    rate_limit: RateLimit | None = None
    open_world: bool = Field(default=False, description="Its results may contain text from unknown authors.")
    pinned: bool = Field(default=False, description="Offered always, however many tools there are.")
    next: tuple[Name, ...] = Field(default=(), description="Tools that are usually called after it.")
    validates: str = Field(
        default="",
        max_length=200,
        json_schema_extra=since(3),
        description="Reads: the parameter whose value it validates, of answers that must have passed.",
    )
    version: str = Field(default="1", max_length=100, description="Part of the key of its cached results.")

    @classmethod
    def of_schema(cls, input_schema: JsonSchema, effect: Effect) -> "Contract":
        """Return the contract in a tool's JSON Schema, written in any format. Raises ValidationError."""
        raw = input_schema.get(CONTRACT_KEYWORD, {})
        return cls.model_validate({"effect": effect, **_upcast(raw)} if isinstance(raw, dict) else raw)

    def as_keyword(self) -> JsonObject:
        """Return the value of `x-orchestration`: the whole contract, so that its readers need no table of defaults."""
        return self.model_dump(mode="json")

    def keyword_in(self, format: int, written: Fields) -> Fields:
        """Return `written`, the present value of `x-orchestration`, as a release of `format` reads it."""
        newer = newer_fields(self, format)
        before = {today: name for name, today in RENAMED.items() if newer.pop(today, False)}
        # In the same order, so that the catalogue has the hash that the earlier release gives it.
        return {before.get(name, name): value for name, value in without_fields(written, newer).items()}

    @property
    def scopes_needed(self) -> frozenset[str]:
        """Return the scopes that a session's grant must hold."""
        return frozenset((self.effect, *self.scopes))

    @property
    def is_safe_to_repeat(self) -> bool:
        """Return whether a second run with the same key has no second effect."""
        return self.effect == "read" or self.idempotent

    def is_for_round(self, round: int) -> bool:
        """Return whether it is offered and accepted in that round."""
        return not self.rounds or round in self.rounds


def _upcast(written: Fields) -> Fields:
    """Return a contract's fields under their present names."""
    if RENAMED.keys().isdisjoint(written):
        return written
    # A field under both names is kept, and so refused: no release writes it.
    renamed = {name: today for name, today in RENAMED.items() if today not in written}
    return {renamed.get(name, name): value for name, value in written.items()}
