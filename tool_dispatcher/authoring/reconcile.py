"""A tool's answers about a write whose worker crashed before it recorded the outcome."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import InvalidTool


@dataclass(frozen=True)
class TookEffect:
    """The write took effect; `data` is the result that the tool would have returned."""

    data: Any = None


@dataclass(frozen=True)
class NoEffect:
    """The write has not taken effect and no longer can, so it may run again."""


NO_EFFECT: Final = NoEffect()
Reconciled: TypeAlias = TookEffect | NoEffect | None
"""A tool's answer about a write; None if it does not know."""

Reconcile = Callable[..., Any]
"""`reconcile(key, arguments)`, async or plain: returns TookEffect(...), NO_EFFECT, or None if it does not know.

A parameter annotated ToolContext receives the context. Its fence is above that of every earlier run of the
write. A service that stores this fence, and then refuses lower ones, can guarantee that no effect follows
NO_EFFECT.
"""


def checked(tool: str, reconcile: object) -> Reconcile | None:
    """Return the author's `reconcile`. Raises InvalidTool unless it can be called with a key and arguments."""
    if reconcile is None:
        return None
    hint = "Write `async def reconcile(key: str, arguments: dict[str, Any])`."
    if not callable(reconcile):
        raise InvalidTool(tool, f"its reconcile is {reconcile!r}", hint=hint)
    try:
        contexts = dict.fromkeys(contexts_of(reconcile))
        inspect.signature(reconcile).bind("key", {}, **contexts)
    except TypeError:
        raise InvalidTool(
            tool, "its reconcile cannot be called with a key and arguments, in this order", hint=hint
        ) from None
    except ValueError:  # written in C, without a signature to inspect
        return reconcile
    return reconcile


def contexts_of(reconcile: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters that take the ToolContext."""
    try:
        parameters = inspect.signature(reconcile, eval_str=True).parameters.values()
    except Exception:  # noqa: BLE001  # resolving a hint runs the author's code; a function written in C has no hints
        return ()
    return tuple(parameter.name for parameter in parameters if parameter.annotation is ToolContext)
