"""The two wire formats of models, and how a model's id implies one of them. Pure.

claude-sonnet-5-5      the Messages API
openai:NAME            chat completions, for the model that its server calls NAME
"""

from typing import Literal

Wire = Literal["messages", "chat"]
CHAT_PREFIX = "openai:"


def wire_of(model_id: object) -> Wire:
    """Return the wire format of a model."""
    return "chat" if isinstance(model_id, str) and model_id.startswith(CHAT_PREFIX) else "messages"


def name_at_server(model_id: str) -> str:
    """Return the name by which its server knows a model."""
    return model_id.removeprefix(CHAT_PREFIX)
