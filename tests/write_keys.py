"""The idempotency keys of calls in a session's log, computed again to compare with an outside ledger."""

from typing import Any

from tool_dispatcher.idempotency.identity import fingerprint


def key_of_call(asked: dict[str, Any], call: dict[str, Any], *, is_write: bool) -> str:
    """Return the key under which a tool runs for a call of the `tools.requested` event `asked`.

    The arguments must be those that are executed: no placeholders, no defaults left out. A write made twice on
    purpose has a higher ordinal than this one's 1.
    """
    if key := call.get("idempotency_key"):
        return str(key)
    session = f"{asked['data'].get('tenant', 'default')}/{asked['subject']}"
    if is_write:
        return f"{session}/{call['name']}/{fingerprint(call.get('arguments', {}))}/1"
    return f"{session}/{asked['data']['round']}/{call['id']}"
