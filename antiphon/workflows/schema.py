"""The JSON Schema of workflow files, for editors. Pure."""

from antiphon_shared.values import JsonSchema
from antiphon_shared.workflows.specification import Specification
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema


def file_schema() -> JsonSchema:
    """Return the JSON Schema 2020-12 of a file. `validate` checks more than this form."""
    schema = Specification.model_json_schema(by_alias=True, schema_generator=_AnyOf)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Antiphon workflows",
        "description": "Workflows of one domain. `antiphon workflows validate` also checks rules "
        "that this schema cannot express.",
    }


class _AnyOf(GenerateJsonSchema):
    """A generator that writes anyOf for unions, as oneOf forbids a value that matches two forms."""

    def tagged_union_schema(self, schema: core_schema.TaggedUnionSchema) -> JsonSchema:
        generated = super().tagged_union_schema(schema)
        return {"anyOf" if name == "oneOf" else name: part for name, part in generated.items()}
