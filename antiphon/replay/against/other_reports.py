"""The output of the other version's `replay verify --json`, which runs in separate processes."""

import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from antiphon_shared.process.environment import environment_without
from antiphon_shared.process.errors import ConfigurationError, UnreadableEvent

from antiphon.replay.against.other_code import OtherCode
from antiphon.replay.against.results import Result, read

_BATCH_MAX = 200
"""The number of recordings per process: each takes a second to start, and reports progress when it ends."""
_REASON_CHARACTERS_MAX = 600
_EXIT_CODES = {0, 1, 3, 4}
"""The exit codes of a verification that ran; 2 means a wrong command line."""
_LAUNCH = """
import pathlib, runpy, sys
root = pathlib.Path(sys.argv.pop(1)).resolve()
import antiphon
place = pathlib.Path(antiphon.__file__).resolve().parents[1]
if place != root:
    sys.exit(f"{place} would run in place of {root}.")
runpy.run_module("antiphon", run_name="__main__", alter_sys=True)
"""
"""The program checks its location, because today's code in place of the other version would find no changes."""


class OtherCodeFailed(ConfigurationError):
    """The other code cannot be run here, or does not print results."""

    code = "other_code_failed"


@contextmanager
def verifying(
    code: OtherCode, paths: Sequence[Path], jobs: int = 1, only: Sequence[str] = ()
) -> Iterator[list[Future[tuple[Result, ...]]]]:
    """Let the other version verify the recordings while the block runs; yield the futures, one per batch.

    The futures raise OtherCodeFailed. Unfinished batches are cancelled when the block ends.
    """
    size = max(1, min(_BATCH_MAX, -(-len(paths) // jobs)))
    batches = [paths[begin : begin + size] for begin in range(0, len(paths), size)]
    children: set[subprocess.Popen[bytes]] = set()
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(_verified, code, batch, only, children) for batch in batches]
        try:
            yield futures
        finally:
            for future in futures:
                future.cancel()
            for child in list(children):
                child.kill()


def _verified(
    code: OtherCode, paths: Sequence[Path], only: Sequence[str], children: "set[subprocess.Popen[bytes]]"
) -> tuple[Result, ...]:
    options = [word for name in only for word in ("--only", name)]
    words = ["replay", "verify", "--json", "--quiet", *options, "--", *map(str, paths)]
    environment = environment_without("ANTIPHON_", "PYTHON") | {"PYTHONPATH": code.import_path}
    with subprocess.Popen(
        [code.python, "-P", "-c", _LAUNCH, str(code.root), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as child:
        children.add(child)
        try:
            printed, errors = child.communicate()
        finally:
            children.discard(child)
    if child.returncode not in _EXIT_CODES:
        raise _failed(code, errors.decode(errors="replace").strip() or f"exit code {child.returncode}")
    try:
        results = read(printed)
    except UnreadableEvent as error:
        raise _failed(code, errors.decode(errors="replace").strip() or error.message) from None
    if len(results) != len(paths):
        raise _failed(code, f"it verified only {len(results)} of {len(paths)} recordings.")
    return results


def _failed(code: OtherCode, errors: str) -> OtherCodeFailed:
    return OtherCodeFailed(
        f"The code of {code.label} cannot verify recordings here: {errors[-_REASON_CHARACTERS_MAX:]}",
        hint="It must have `antiphon replay verify --json`, and its libraries must be installed. A "
        "released version is installed with its own libraries.",
    )
