"""The parts of a question from files and standard input."""

import re
import sys
from pathlib import Path

import orjson
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.submission import Options

_STEPS_NAME = re.compile(r"(?!.*\.ya?ml$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""A possible name of published steps; a missing file has an ending."""


def read_schema(options: Options, path: Path | None) -> None:
    """Put the schema of a file into the options. Raises UnreadableEvent when it holds none."""
    if path is None:
        return
    try:
        schema = orjson.loads(path.read_bytes())
    except OSError as error:
        raise UnreadableEvent(f"--output-schema: {path} cannot be read: {error.strerror}.") from None
    except orjson.JSONDecodeError as error:
        raise UnreadableEvent(f"--output-schema: {path} is not valid JSON: {error}.") from None
    if not isinstance(schema, dict):
        raise UnreadableEvent(f"--output-schema: {path} does not contain a JSON object.")
    options["output_schema"] = schema


def read_step_file(options: Options, path: Path | None) -> None:
    """Put the steps of a file, or their name, into the options. Raises UnreadableEvent with a line for each error."""
    if path is None:
        return
    if not path.exists() and _STEPS_NAME.fullmatch(str(path)):
        options["steps"] = str(path)
        return
    from antiphon_shared.output.step_file import UnfitSteps, read_steps

    try:
        steps = read_steps(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableEvent(f"--steps: {path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise UnreadableEvent(f"--steps: {path} is not UTF-8 text: {error}.") from None
    except UnfitSteps as error:
        faults = "\n".join(f"{path}: {line}" for line in str(error).splitlines())
        raise UnreadableEvent(f"--steps: {path} does not contain valid steps.\n{faults}") from None
    options["steps"] = [step.model_dump(mode="json", exclude_none=True) for step in steps]


def read_grant(given: str | None) -> str:
    """Return the grant, or the content of its file. Raises UnreadableEvent when the file is unreadable."""
    if given is None or not given.startswith("@"):
        return given or ""
    try:
        return Path(given[1:]).read_text().strip()
    except UnicodeDecodeError as error:
        raise UnreadableEvent(f"--grant: {given[1:]} is not UTF-8 text: {error}.") from None
    except OSError as error:
        raise UnreadableEvent(f"--grant: {given[1:]} cannot be read: {error.strerror}.") from None


def read_query(query: str) -> str:
    """Return the query, or standard input. Raises UnreadableEvent if that is not text."""
    if query != "-":
        return query
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise UnreadableEvent(f"standard input is not UTF-8 text: {error}.") from None
