"""A tool that returns secrets, for tests of redaction."""

import base64
import json
from typing import Annotated, Any
from urllib.parse import quote

from antiphon import tool
from tool_dispatcher.authoring.secret import Secret

IN_RESULT = 'nested"quote\\11aZ'
IN_JSON_TEXT = "textual-Xk29dkw0"
IN_BASE64 = "basic-login-88317"
IN_URL = "p&ss w/rd+4482"
SHORT_PIN = 4711


@tool(effect="read")
def open_account(name: str, password: str, code: Annotated[str, Secret] = "") -> Any:
    """Open an account, and tell far too much of it."""
    login = base64.b64encode(f"{name}:{IN_BASE64}".encode()).decode()
    return {
        "account": {"client_secret": IN_RESULT, "pin": SHORT_PIN, "other": [{"note": f"again: {IN_RESULT}"}]},
        "raw": json.dumps({"session_token": IN_JSON_TEXT, "deeper": json.dumps({"apiKey": IN_JSON_TEXT})}),
        "login": login,
        "db_password": IN_BASE64,
        "link": f"https://shop.example/?q=1&api_key={quote(IN_URL, safe='')}",
        "quoted": {"api-key": IN_URL},
        "echo": f"{name} gave {password} and {code}",
    }


@tool(effect="read")
def fail_with_key(q: str) -> str:
    """Always fails."""
    raise RuntimeError(f"refused for {q}: client_secret={IN_JSON_TEXT}")
