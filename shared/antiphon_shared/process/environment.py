"""Variables of the environment that are no settings of ours, and what child processes are given of it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


def load_environment(name: str) -> str | None:
    """One variable that is not ours to name, such as ANTHROPIC_API_KEY; None when unset or empty."""
    return os.environ.get(name) or None


def environment_without(*beginnings: str) -> dict[str, str]:
    """The environment for a child process that is to know nothing of variables which begin like this."""
    return {name: value for name, value in os.environ.items() if not name.startswith(beginnings)}


@contextmanager
def environment(variables: Mapping[str, str], without: tuple[str, ...] = ()) -> Iterator[None]:
    """Within the block these variables are set: for what is built there, in this process.

    Others that begin with one of `without` are not there.
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
