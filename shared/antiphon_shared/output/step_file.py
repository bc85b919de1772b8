"""Steps as a YAML file. Pure.

steps:
  - name: discovery
    instructions: Find the components that the question needs.
    tools: [search, get_info]
  - name: configuration
    instructions: Configure them.
    tools: [get_details, validate]
    output: {type: object, required: [components]}
    validation_tools: [validate]
"""

from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from antiphon_shared.output.steps import Step, Steps
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.text.yaml_text import UnreadableYaml, YamlText, read_yaml
from antiphon_shared.values import Value


class _StepFile(Value):
    steps: Steps


_FILE: TypeAdapter[_StepFile] = TypeAdapter(_StepFile)
_FAULTS_MAX = 20


class UnfitSteps(ValueError):
    """A file without usable steps; the message has a line for each mistake, with its position."""


def read_steps(text: str) -> tuple[Step, ...]:
    """Return the steps of a file. Raises UnfitSteps."""
    try:
        yaml = read_yaml(text)
        return _FILE.validate_json(to_json(yaml.value), strict=True).steps
    except UnreadableYaml as error:
        raise UnfitSteps(str(error)) from None
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise UnfitSteps("\n".join(_fault_text(fault, yaml) for fault in faults[:_FAULTS_MAX])) from None


def _fault_text(fault: Any, yaml: YamlText) -> str:
    path = fault["loc"]
    name = ".".join(map(str, path)) or "the file"
    if fault["type"] == "extra_forbidden":
        fields = _StepFile.model_fields if len(path) == 1 else Step.model_fields
        return f"{yaml.position(path)}: {name}: there is no such field. {did_you_mean(str(path[-1]), fields)}"
    message = fault["msg"].removeprefix("Value error, ")
    return f"{yaml.position(path)}: {name}: {message}"
