"""Environment variables that are not settings of Antiphon, and the environment of child processes."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


def load_environment(name: str) -> str | None:
    """Return a variable whose name others define, such as ANTHROPIC_API_KEY; None if unset or empty."""
    return os.environ.get(name) or None


def environment_without(*beginnings: str) -> dict[str, str]:
    """Return the environment for a child process, without variables whose names have these beginnings."""
    return {name: value for name, value in os.environ.items() if not name.startswith(beginnings)}


@contextmanager
def environment(variables: Mapping[str, str], without: tuple[str, ...] = ()) -> Iterator[None]:
    """Set these variables within the block, for objects that are built there in this process.

    Variables whose names begin with one of `without` are unset within the block.
    """
    hidden = [name for name in os.environ if name.startswith(without)]
    before = {name: os.environ.get(name) for name in (*hidden, *variables)}
    for name in hidden:
        del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
