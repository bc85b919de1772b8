"""One or two tools for each thing that a contract can say, beside those of few_tools.py.

Each answers from its arguments alone, so that a session recorded again says the same again.
"""

import asyncio
from typing import Annotated, Any

from pydantic import BaseModel

from antiphon import (
    NO_EFFECT,
    Alternative,
    BatchVariant,
    Dependency,
    Secret,
    TookEffect,
    ToolContext,
    ToolFailed,
    tool,
)

_LONG_S = 30.0
_WRITTEN: dict[str, str] = {}
"""The payments of `pay`, by idempotency key."""


@tool(effect="read", max_concurrency=2)
async def survey(place: str) -> dict[str, str]:
    """Surveys a place; there are two boats."""
    await asyncio.sleep(0.01)
    return {"surveyed": f"The harbour of {place} has {10 * len(place)} berths."}


@tool(effect="read")
def search(topic: str) -> dict[str, Any]:
    """Searches the library."""
    return {"documents": [{"id": f"doc-{topic}", "title": f"All about {topic}"}]}


@tool(effect="read", depends_on=Dependency(tool="search", required_fields=("documents",)))
def open_document(id: str) -> dict[str, str]:
    """Opens a document that a search has found."""
    return {"id": id, "text": f"In {id} it says that lighthouses were lit with oil until 1886."}


class Priced(BaseModel):
    """The item of a price request."""

    item: str


@tool(effect="read", batch=BatchVariant(tool="prices", argument="items"))
def price(item: str) -> dict[str, str]:
    """Tells the price of an item."""
    return {"price": f"One {item} costs {len(item)} crowns."}


@tool(effect="read")
def prices(items: list[Priced]) -> list[dict[str, str]]:
    """Tells the prices of many items at once."""
    return [{"price": f"One {one.item} costs {len(one.item)} crowns."} for one in items]


@tool(effect="read", retry=1, alternatives=Alternative(tool="climate_average", arguments={"city": "place"}))
def forecast(city: str) -> dict[str, str]:
    """Forecasts the weather; the service is down."""
    raise ToolFailed("api_failure", "The weather service does not answer.", "Ask again tomorrow.")


@tool(effect="read")
def climate_average(place: str) -> dict[str, str]:
    """Tells the weather of an average year."""
    return {"average": f"In November it rains on 19 days in {place}."}


@tool(effect="read", cache_ttl_s=600)
def exchange_rate(currency: str) -> dict[str, str]:
    """Tells what a currency is worth."""
    return {"rate": f"One {currency} is worth 11 crowns."}


@tool(effect="read", retry=1, error_propagation="fail-fast", mode="sequential-only")
def sound_depth(at: str) -> dict[str, str]:
    """Sounds the depth; once it has failed, the boat goes home."""
    if at == "the reef":
        raise ToolFailed("api_failure", "The line has parted.", "Go on without the depth.")
    return {"depth": f"At {at} it is {len(at)} fathoms deep."}


@tool(effect="read", timeout_s=0.2, retry=1)
async def listen(to: str) -> str:
    """Listens for a signal, but not for long."""
    await asyncio.sleep(_LONG_S)
    return "It was heard."


@tool(effect="read")
def break_down(why: str) -> str:
    """Has a fault of its own."""
    raise LookupError(f"nobody expected {why}")


@tool(effect="read", retry=1)
def consult(whom: str) -> str:
    """Consults somebody who has had enough for today."""
    raise ToolFailed("rate_limit", f"{whom} is tired.", "Ask tomorrow.", retry_after_s=3_600)


@tool(effect="read", retry=1)
def unwell(n: int) -> str:
    """Fails whatever it is asked."""
    raise ToolFailed("api_failure", "The instrument does not answer.", "Go on without it.")


@tool(effect="read", result_bytes_max=1_000)
def read_log(name: str) -> list[str]:
    """Reads a long log."""
    return [f"Entry {n} of {name}: the lamp was lit at {n % 12} o'clock." for n in range(1, 101)]


@tool(effect="read", rounds=[1])
def plan_route(to: str) -> dict[str, str]:
    """Plans a route; only before anything else is done."""
    return {"route": f"The way to {to} is by the north channel."}


@tool(effect="read", scopes=["audit"])
def audit(year: int) -> str:
    """Reads the audit of a year; few may."""
    return f"The books of {year} are in order."


@tool(effect="read")
def balance(account: str, pin: Annotated[str, Secret]) -> dict[str, str]:
    """Tells the balance of an account."""
    return {"account": account, "balance": "The balance is 120 crowns."}


async def _reconciled_outcome(key: str, arguments: dict[str, Any]) -> Any:
    return TookEffect(_WRITTEN[key]) if key in _WRITTEN else NO_EFFECT


@tool(effect="write", reconcile=_reconciled_outcome)
def pay(invoice: str, context: ToolContext) -> str:
    """Pays an invoice."""
    _WRITTEN[context.idempotency_key] = f"Invoice {invoice} is paid."
    return _WRITTEN[context.idempotency_key]
