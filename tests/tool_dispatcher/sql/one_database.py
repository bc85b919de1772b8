"""One DuckDB for many queries, in a process of its own: it tells of leaks at the end of whatever imports it."""

import itertools
import json
import multiprocessing
import os
from multiprocessing.connection import Connection
from typing import Any


class OneDatabase:
    """Answers one query after another, each over a new table."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._numbers = itertools.count()

    def selected(self, value: Any) -> Any:
        """Return the result of `SELECT * FROM t` where t is an output."""
        name = f"t{next(self._numbers)}"
        self._connection.send((f"SELECT * FROM {name}", {}, {name: value}))
        answer = self._connection.recv()
        if isinstance(answer, Exception):
            raise answer
        return json.loads(answer)

    def close(self) -> None:
        self._connection.close()
        self._process.join(60)


def _serve(connection: Connection) -> None:
    from tool_dispatcher.sql.database import Database
    from tool_dispatcher.sql.limits import Limits

    database = Database(Limits())
    while True:
        try:
            request = connection.recv()
        except EOFError:
            os._exit(0)
        try:
            connection.send(database.answer(*request))
        except Exception as error:
            connection.send(RuntimeError(str(error)))
