"""The format of what is stored and sent, by which processes of different releases work side by side. Pure.

A session keeps the format in which it was opened. A field that came later names its format with `since`, and is
left out wherever a session of an earlier format is written.
"""

from typing import Any

FORMAT = 2
"""The newest format that this release reads and writes. Sessions without a format have format 1."""


def since(format: int) -> dict[str, Any]:
    """Return what `Field(json_schema_extra=...)` takes for a field that `format` introduced."""
    return {"since": format}
