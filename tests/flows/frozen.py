"""Imported last by the fork server: what every process would make for itself, and one garbage collection for all.

A first event of its type builds a model, a first stored value a type, and the first line of a log compiles the
expressions for secrets. The collector leaves alone what all processes share: each would look through all of it when it
begins, and would thereby have a copy of its own.
"""

import gc
from collections.abc import Iterator

from antiphon_shared.events.codec import ENVELOPES
from antiphon_shared.process.logs import redacted_line
from antiphon_shared.process.settings import Settings
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_keys import ALWAYS
from antiphon_shared.stored import Kind
from antiphon_shared.values import Value
from pydantic import BaseModel

from tests.one_ssl_context import share_ssl_context


def _subclasses(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for subclass in model.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


share_ssl_context()
redacted_line({"token": "a secret"}, Redactor(keys=ALWAYS))
events = list(ENVELOPES.values())
for model in (*_subclasses(Value), *_subclasses(Settings)):
    model.model_rebuild()
kinds = [each for each in gc.get_objects() if type(each) is Kind]
for kind in kinds:
    kind._type.rebuild()

gc.collect()
gc.freeze()
