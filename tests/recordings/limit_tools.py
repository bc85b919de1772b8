"""Two tools whose contracts stand at their upper and at their lower limits, so that a narrower one cannot be read."""

from pydantic import BaseModel

from antiphon import Backoff, BatchVariant, RateLimit, Retry, tool


class Thing(BaseModel):
    """The subject of a look-up."""

    name: str


@tool(
    effect="read",
    mode="fan-out-bounded",
    max_concurrency=10_000,
    timeout_s=3_600,
    slow_s=3_599,
    retry=Retry(attempts=10),
    backoff=Backoff(initial_ms=60_000, max_ms=600_000),
    cache_ttl_s=86_400 * 30,
    result_bytes_max=10_000_000,
    rounds=(1, 100),
    rate_limit=RateLimit(calls=1_000_000, per_s=86_400),
    scopes=("a" * 100,),
    version="v" * 100,
    batch=BatchVariant(tool="look_at_many_" + "x" * 51, argument="names", items_max=10_000),
)
def look_at_one(name: str) -> str:
    """Looks at a thing, with all the patience there is."""
    return f"It is {name}."


@tool(effect="read", name="look_at_many_" + "x" * 51, result_bytes_max=1_000)
def look_at_many(names: list[Thing]) -> list[str]:
    """Looks at things."""
    return [f"It is {one.name}." for one in names]


@tool(effect="write", idempotent=True, idempotency_ttl_s=86_400 * 365)
def keep(name: str) -> str:
    """Keeps a thing for a year."""
    return f"It is kept: {name}."


@tool(
    effect="read",
    mode="fan-out-bounded",
    max_concurrency=1,
    backoff=Backoff(initial_ms=1, max_ms=1),
    result_bytes_max=1_000,
    rate_limit=RateLimit(calls=1, per_s=0.5),
    batch=BatchVariant(tool="look_at_many_" + "x" * 51, argument="names", items_max=2),
)
def glance(name: str) -> str:
    """Looks at a thing once and not for long."""
    return f"It is {name}."
