"""Render the pictures given on standard input, as [name, Mermaid] pairs; write each one's SVG, or its error."""

import json
import sys

from mermaidx import render  # type: ignore[import-untyped]  # it has no types


def rendered(picture: str) -> str:
    try:
        return str(render(picture).svg())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    shown = {name: rendered(picture) for name, picture in json.load(sys.stdin)}
    sys.stdout.write(json.dumps(shown))
