"""References within a JSON Schema. Pure."""

from antiphon_shared.values import Json, JsonSchema


def referred(reference: str, schema: JsonSchema) -> JsonSchema:
    """Return the part of a schema that a reference such as `#/$defs/City` names, or an empty schema."""
    part: Json = schema
    for step in reference.removeprefix("#").strip("/").split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        part = part if not name else part.get(name) if isinstance(part, dict) else None
    return part if isinstance(part, dict) else {}
