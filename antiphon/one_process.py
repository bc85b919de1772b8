"""`python -m antiphon.one_process`: run all five components in one process, until it receives SIGTERM or SIGINT.

`antiphon up --processes 1` runs it. The components share one event loop and the connections to Redis. Every message
still passes through Redis, and is committed, recorded and recovered as with five processes.
"""

import gc
from importlib import import_module
from typing import TYPE_CHECKING

from antiphon_shared.process.import_path import current_directory_last

if TYPE_CHECKING:
    from antiphon_shared.events import Component
    from antiphon_shared.process.runner import Build


def component_builders() -> "dict[Component, Build]":
    """Return the function that builds each component. Imports come after the change of the import path."""
    from antiphon_shared.events import COMPONENTS

    return {name: import_module(f"{name}.component").build for name in COMPONENTS}


if __name__ == "__main__":
    current_directory_last()  # before the other imports: a redis.py in the user's directory must not shadow ours
    gc.disable()  # imported modules are never garbage; the runner enables collection afterwards
    from antiphon_shared.process.runner import main

    main("antiphon", *component_builders().values(), description=__doc__)
