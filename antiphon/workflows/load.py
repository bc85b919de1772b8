"""Workflow files, loaded and validated."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.specification import Specification
from pydantic import ValidationError
from pydantic_core import from_json, to_json

from antiphon.workflows.fault import Fault
from antiphon.workflows.form import WorkflowFile, form_faults, read_file
from antiphon.workflows.validate import faults_of
from antiphon.yaml_text import BYTES_MAX

FAULTS_MAX = 200
"""Of one file: after that, correct these first."""


class InvalidWorkflow(AntiphonError):
    """A workflow file cannot be used. `faults` has everything that is wrong with it."""

    code = "invalid_workflow"

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(map(str, self.faults)))


def load(path: str | Path, *, tools: Iterable[str] | None = None) -> Specification:
    """Return the specification of a file.

    Args:
        path: A YAML or JSON file.
        tools: Modules with tools, as in ANTIPHON_TOOLS; with none, calls are not held against their tools.

    Raises:
        InvalidWorkflow: with every error of the file.
    """
    file, faults = validated(path, None if tools is None else catalogue_of(tools))
    errors = [fault for fault in faults if fault.severity == "error"]
    if errors or file.specification is None:
        raise InvalidWorkflow(errors)
    return file.specification


def validate(source: str | Path | Specification, *, tools: Iterable[str] | None = None) -> tuple[Fault, ...]:
    """Return all errors and warnings of a file or a specification, those of a file with their positions.

    `tools` is as in `load`.
    """
    catalogue = None if tools is None else catalogue_of(tools)
    if isinstance(source, Specification):
        return tuple(faults_of(source, catalogue))
    return validated(source, catalogue)[1]


def build(fields: Mapping[str, Any], *, tools: Iterable[str] | None = None) -> Specification:
    """Return the specification of a file's fields, as a program has put them together.

    `tools` is as in `load`. Raises InvalidWorkflow: its faults have paths, and no positions.
    """
    try:
        written = to_json(fields, inf_nan_mode="constants")
        read = from_json(written, allow_inf_nan=False)
        specification = Specification.model_validate_json(written, strict=True)
    except ValidationError as refused:
        raise InvalidWorkflow(form_faults(refused, read)) from None
    except ValueError as unfit:
        raise InvalidWorkflow([Fault("error", "syntax", (), f"the fields are no JSON: {unfit}")]) from None
    catalogue = None if tools is None else catalogue_of(tools)
    if errors := [fault for fault in faults_of(specification, catalogue) if fault.severity == "error"]:
        raise InvalidWorkflow(errors)
    return specification


def validated(path: str | Path, catalogue: Catalogue | None) -> tuple[WorkflowFile, tuple[Fault, ...]]:
    """Return a file as it was read, and its faults in the order of the file."""
    file = _read(Path(path))
    if file.specification is None:
        return file, file.faults[:FAULTS_MAX]
    found = [file.located(fault) for fault in faults_of(file.specification, catalogue)]
    found.sort(key=lambda fault: (fault.position is None, fault.position))
    if len(found) > FAULTS_MAX:
        more = Fault(
            "error", "too_many", (), f"there are {len(found) - FAULTS_MAX} more; correct these first"
        )
        found = [*found[:FAULTS_MAX], file.located(more)]
    return file, tuple(found)


def catalogue_of(modules: Iterable[str]) -> Catalogue:
    """Return the tools of modules. Raises ConfigurationError."""
    from tool_dispatcher.catalogue import load_tools, to_catalogue

    return to_catalogue(load_tools(",".join(modules)))


def _read(path: Path) -> WorkflowFile:
    try:
        with path.open("rb") as opened:
            content = opened.read(BYTES_MAX + 1)
        return read_file(content.decode("utf-8-sig"), str(path))
    except OSError as error:
        problem = f"it cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 text (byte {error.start + 1}); save it as UTF-8"
        if len(content) > BYTES_MAX:
            problem = f"it has more than {BYTES_MAX:,} bytes; split it"
    return WorkflowFile(str(path), None, None, (Fault("error", "unreadable", (), problem, "", str(path)),))
