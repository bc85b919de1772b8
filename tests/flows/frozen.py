"""Imported last by the fork server: what every process would make for itself, and one garbage collection for all.

A first event of its type builds a model, a first stored value a type, the first line of a log compiles the
expressions for secrets, the first client reads the system's certificates, and a tool's schema is checked once. The
collector leaves alone what all processes share: each would look through all of it when it begins, and would thereby
have a copy of its own.
"""

import gc
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import httpcore2
from antiphon_shared.events.codec import ENVELOPES
from antiphon_shared.process.logs import redacted_line
from antiphon_shared.process.settings import Settings
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_keys import ALWAYS
from antiphon_shared.stored import Kind
from antiphon_shared.values import Value
from pydantic import BaseModel

from tests.one_ssl_context import share_ssl_context
from tool_dispatcher.builtin import builtins
from tool_dispatcher.planning.planner import Planner


def _subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for subclass in model.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


async def _nothing_stored(_: str) -> Any:
    raise NotImplementedError


share_ssl_context()
httpcore2.default_ssl_context()
redacted_line({"token": "a secret"}, Redactor(keys=ALWAYS))
events = list(ENVELOPES.values())
for model in (*_subclasses(Value), *_subclasses(Settings)):
    model.model_rebuild()
kinds = [each for each in gc.get_objects() if type(each) is Kind]
for kind in kinds:
    kind._type.rebuild()
for module in ("tests.flows.archive_tools", "tests.flows.ledger_tools"):
    import_module(module)
    del sys.modules[module]  # they read the environment of the process whose tools they are
builtins(Planner({}, _nothing_stored, _nothing_stored))

gc.collect()
gc.freeze()
