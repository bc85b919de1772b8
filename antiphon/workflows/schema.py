"""The JSON Schema of workflow files, for editors. Pure."""

from typing import Any

from antiphon_shared.workflows.specification import Specification


def file_schema() -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of a file. What is checked beyond its form, `validate` says."""
    schema = Specification.model_json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Antiphon workflows",
        "description": "Workflows of one domain. `antiphon workflows validate` checks more than their form.",
    }
