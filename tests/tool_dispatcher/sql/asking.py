"""Queries at a dispatcher."""

import itertools
from typing import Any

from antiphon_shared.workflows.sql import SQL_TOOL

from tests.tool_dispatcher.builders import (
    Dispatcher,
    a_call,
    a_request,
    error_in,
)

FOR_EVER = "SELECT sum(range) FROM range(1000000000000000)"
_NUMBERS = itertools.count()


async def asked(dispatcher: Dispatcher, sql: str, params: Any = None, **tables: Any) -> Any:
    arguments = {"sql": sql, "params": params or {}, "tables": tables}
    request = a_request(a_call("q", SQL_TOOL, arguments=arguments))
    (result,) = await dispatcher.run(request, session_id=f"asked-{next(_NUMBERS)}")
    return result.data if result.status == "ok" else error_in(result)
