"""Imported last by the fork server: what every process would make for itself, and one garbage collection for all.

The first line of a log compiles the expressions for secrets. The collector leaves alone what all processes share:
each would look through all of it when it begins, and would thereby have a copy of its own.
"""

import gc

from antiphon_shared.process.logs import redacted_line
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_keys import ALWAYS

from tests.one_ssl_context import share_ssl_context

share_ssl_context()
redacted_line({"token": "a secret"}, Redactor(keys=ALWAYS))

gc.collect()
gc.freeze()
