"""The parameters of the tool `repeat_call`: an earlier call, and the reason to repeat it. Pure.

The dispatcher publishes the schema; the coordinator reads the arguments before it sends the call.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b

from antiphon_shared.values import JsonSchema

_ID_CHARACTERS, _REASON_CHARACTERS = 200, 500

REPEAT_CALL_PARAMETERS: JsonSchema = {
    "type": "object",
    "properties": {
        "call_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": _ID_CHARACTERS,
            "description": "Id of the earlier call.",
            "examples": ["toolu_1"],
        },
        "reason": {
            "type": "string",
            "minLength": 1,
            "maxLength": _REASON_CHARACTERS,
            "pattern": r"\S",
            "description": "Why it has to be done again, in a sentence.",
            "examples": ["The customer asked for a second copy."],
        },
    },
    "required": ["call_id", "reason"],
}


def read_repetition(arguments: Mapping[str, object]) -> tuple[str, str] | None:
    """Return the call's id and the reason; None if the arguments do not fit the schema."""
    id, reason = arguments.get("call_id"), arguments.get("reason")
    if arguments.keys() != {"call_id", "reason"} or not isinstance(id, str) or not isinstance(reason, str):
        return None
    is_fit = 0 < len(id) <= _ID_CHARACTERS and len(reason) <= _REASON_CHARACTERS and bool(reason.strip())
    return (id, reason) if is_fit else None


def arguments_digest(tool: str, arguments: Mapping[str, object]) -> str:
    """Return a digest of a call as the model asked for it, by which equal calls are found."""
    text = json.dumps([tool, arguments], sort_keys=True, separators=(",", ":"), default=str)
    return blake2b(text.encode(), digest_size=16).hexdigest()
