"""Faults in tests: ANTIPHON_FAULTS of docs/reliability.md, while a block runs."""

from collections.abc import Iterator
from contextlib import contextmanager

from antiphon_shared.faults.plan import read_faults
from antiphon_shared.faults.striking import armed
from antiphon_shared.process.errors import ConfigurationError


@contextmanager
def strike(point: str, action: str = "raise", times: str = "") -> Iterator[None]:
    """Inject a fault into pipelines started inside the block.

    Use it as `with strike("model.before", "raise", "@1-3"): ...`.

    Args:
        action: the fault; it may include seconds (`delay=0.2`).
        times: the occurrences (`@2`, `@every=3`, `*10%`); by default the first.

    Raises:
        ConfigurationError: the fault does not exist, or would end the process of the test.
        AssertionError: the block succeeded, but the fault was never triggered.
    """
    if action == "kill":
        raise ConfigurationError(
            "a fault of a test must not kill: the pipeline runs in the test's own process.",
            hint="Use raise, unavailable, delay=S, hang or disconnect.",
        )
    with armed(read_faults(f"{point}:{action}{times}")) as faults:
        yield
    if not faults.struck:
        raise AssertionError(
            f"The fault {point}:{action}{times} was never triggered. Start the pipeline inside the "
            "block, and make the session pass that point."
        )
