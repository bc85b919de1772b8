"""Errors and warnings about a workflow file. Pure."""

from dataclasses import dataclass
from typing import Literal

from antiphon_shared.text.yaml_text import Position

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """An error or a warning, with its position and a way to correct it."""

    severity: Literal["error", "warning"]
    code: str
    """A stable name for programs."""
    path: Path
    message: str
    hint: str = ""
    file: str = ""
    position: Position | None = None

    def __str__(self) -> str:
        """Return `trip.yaml:12:5: error: workflows.book.graph.a.args.x: <message>. <hint>.`."""
        location = f"{self.file}:" if self.file else ""
        if self.position:
            location += f"{self.position.line}:{self.position.column}:"
        return f"{location} {self.severity}: {self.text}".strip()

    @property
    def text(self) -> str:
        prefix = f"{'.'.join(map(str, self.path))}: " if self.path else ""
        hint = f" {self.hint}." if self.hint else ""
        return f"{prefix}{self.message}.{hint}"


def error(path: Path, code: str, message: str, hint: str = "") -> Problem:
    """Return an error; the hint may end with a full stop."""
    return Problem("error", code, path, message, hint.rstrip("."))


def warning(path: Path, code: str, message: str, hint: str = "") -> Problem:
    """Return a warning; the hint may end with a full stop."""
    return Problem("warning", code, path, message, hint.rstrip("."))
