"""The values of options from files, standard input and JSON."""

import re
import sys
from pathlib import Path
from typing import Any

from antiphon_shared.process.errors import MissingFile, UnreadableEvent
from pydantic_core import from_json

from antiphon.cli.output import UsageError
from antiphon.submission import Options

_STEPS_NAME = re.compile(r"(?!.*\.ya?ml$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""A possible name of published steps; a missing file has an ending."""


def read_schema(options: Options, path: Path | None) -> None:
    """Put the schema of a file into the options. Raises UnreadableEvent when it holds none."""
    if path is None:
        return
    try:
        schema = from_json(text_of(path, "--output-schema"), allow_inf_nan=False)
    except ValueError as error:
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
        steps = read_steps(text_of(path, "--steps"))
    except UnfitSteps as error:
        errors = "\n".join(f"{path}: {line}" for line in str(error).splitlines())
        raise UnreadableEvent(f"--steps: {path} does not contain valid steps.\n{errors}") from None
    options["steps"] = [step.model_dump(mode="json", exclude_none=True) for step in steps]


def read_grant(option: str | None) -> str:
    """Return the grant, or the content of its file. Raises as `text_of`."""
    if option is None or not option.startswith("@"):
        return option or ""
    return text_of(Path(option[1:]), "--grant").strip()


def text_of(path: Path, option: str) -> str:
    """Return the text of the file that an option names. Raises MissingFile and UnreadableEvent."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:  # its text would quote a byte of the file
        raise UnreadableEvent(f"{option}: {path} is not UTF-8 text.") from None
    except FileNotFoundError:
        raise MissingFile(f"{option}: {path} does not exist.") from None
    except OSError as error:
        raise UnreadableEvent(f"{option}: {path} cannot be read: {error.strerror}.") from None


def json_of(text: str, where: str) -> Any:
    """Return the value of a JSON text. Raises UsageError, which names `where` it stands."""
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise UsageError(f"{where} is not valid JSON: {error}.") from None


def read_query(query: str) -> str:
    """Return the query, or standard input. Raises UnreadableEvent if that is not text."""
    if query != "-":
        return query
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise UnreadableEvent(f"standard input is not UTF-8 text: {error}.") from None
