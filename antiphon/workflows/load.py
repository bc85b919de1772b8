"""The loading and validation of workflow files."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.file import validated
from antiphon_shared.workflows.form import form_problems
from antiphon_shared.workflows.problem import Problem
from antiphon_shared.workflows.specification import Specification
from antiphon_shared.workflows.validate import problems_of
from pydantic import ValidationError
from pydantic_core import from_json, to_json


class InvalidWorkflow(AntiphonError):
    """A workflow file is unusable. `problems` holds all its errors."""

    code = "invalid_workflow"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def load(path: str | Path, *, tools: Iterable[str] | None = None) -> Specification:
    """Return the specification of a file.

    Args:
        path: A YAML or JSON file.
        tools: Modules with tools, as in ANTIPHON_TOOLS; with None, calls are not checked against their tools.

    Raises:
        InvalidWorkflow: with every error of the file.
    """
    file, problems = validated(path, _catalogue(tools))
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors or file.specification is None:
        raise InvalidWorkflow(errors)
    return file.specification


def validate(
    source: str | Path | Specification, *, tools: Iterable[str] | None = None
) -> tuple[Problem, ...]:
    """Return all errors and warnings of a file or a specification; for a file with their positions.

    `tools` is as in `load`.
    """
    catalogue = _catalogue(tools)
    if isinstance(source, Specification):
        return tuple(problems_of(source, catalogue))
    return validated(source, catalogue)[1]


def build(fields: Mapping[str, object], *, tools: Iterable[str] | None = None) -> Specification:
    """Return the specification of a file's fields, which a program has put together.

    `tools` is as in `load`. Raises InvalidWorkflow: its problems have paths, and no positions.
    """
    try:
        written = to_json(fields, inf_nan_mode="constants")
        read = from_json(written, allow_inf_nan=False)
        specification = Specification.model_validate_json(written, strict=True)
    except ValidationError as refused:
        raise InvalidWorkflow(form_problems(refused, read)) from None
    except ValueError as unfit:
        raise InvalidWorkflow([Problem("error", "syntax", (), f"the fields are not JSON: {unfit}")]) from None
    problems = problems_of(specification, _catalogue(tools))
    if errors := [problem for problem in problems if problem.severity == "error"]:
        raise InvalidWorkflow(errors)
    return specification


def _catalogue(tools: Iterable[str] | None) -> Catalogue | None:
    return None if tools is None else catalogue_of(tools)


def catalogue_of(modules: Iterable[str]) -> Catalogue:
    """Return the tools of modules. Raises ConfigurationError."""
    from tool_dispatcher.catalogue import load_tools, to_catalogue

    return to_catalogue(load_tools(",".join(modules)))
