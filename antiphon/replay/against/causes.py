"""The causes of a changed decision: code that today's step ran, and that differs between the two versions."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, FrameType
from typing import Literal

from antiphon_shared.events import COMPONENTS
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.files import read_lines
from antiphon.recording.lines import EventLine, RecordLine
from antiphon.replay.against.changes import StepChange
from antiphon.replay.steps.repeat import Replay

CAUSES_MAX = 5
_PACKAGES = (*COMPONENTS, "antiphon_shared")
"""The packages that decide; code that verifies steps is not a cause."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A function, or the value of a name in a module or class."""

    kind: Literal["function", "name"]
    code: str
    """The code without its docstring, which has no influence on decisions."""
    uses: frozenset[str] = frozenset()
    """The names that the code refers to."""


class Sources:
    """The comparison of today's source with the other source, part by part."""

    def __init__(self, then: Path, now: Path) -> None:
        self._then, self._now = then, now

    def causes(self, recording: Path, step: StepChange) -> tuple[str, ...]:
        """Return the differing code that today's step ran, such as `coordinator/batches.py: next_round`.

        Functions come first, then constants and fields, at most CAUSES_MAX. Without any, return the differences
        in the whole component, as code that ran or data that was read before the step may be the cause.
        """
        if not self._differing:
            return ()
        try:
            ran = _code_run(recording, step)
        except UnreadableEvent:
            return ()
        causes = (*self._functions(ran), *self._names(ran))
        return (causes or tuple(self._in_component(step.component)))[:CAUSES_MAX]

    def _functions(self, ran: set[CodeType]) -> Iterator[str]:
        for file, changed in self._changed.items():
            path = str(_file(self._now, file))
            run_here = {_qualified(code) for code in ran if code.co_filename == path}
            yield from (f"{file}: {name}" for name in changed if name in run_here)

    def _names(self, ran: set[CodeType]) -> Iterator[str]:
        used = {name for code in ran for name in code.co_names}
        for file, changed in self._changed.items():
            parts = _parts(_read(self._now, file))
            reached = _reached(used, parts)
            yield from (
                f"{file}: {name}"
                for name in changed
                if name in parts and parts[name].kind == "name" and _short(name) in reached
            )

    def _in_component(self, component: str) -> Iterator[str]:
        for file in self._differing:
            if file.startswith(f"{component}/"):
                names = self._changed.get(file, [])
                yield from (f"{file}: {name}" for name in names) if names else (file,)

    @cached_property
    def _changed(self) -> dict[str, list[str]]:
        """Return the names of the differing parts, by file of code."""
        names = {}
        for file in self._differing:
            if file.endswith(".py"):
                then, now = _parts(_read(self._then, file)), _parts(_read(self._now, file))
                names[file] = sorted(name for name in {*then, *now} if then.get(name) != now.get(name))
        return names

    @cached_property
    def _differing(self) -> list[str]:
        """Return the differing files, each as package and path."""
        files = {
            f"{package}/{path.relative_to(folder).as_posix()}"
            for root in (self._then, self._now)
            for package in _PACKAGES
            if (folder := _folder(root, package)).is_dir()
            for path in folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        return sorted(file for file in files if _read(self._then, file) != _read(self._now, file))


def _folder(root: Path, package: str) -> Path:
    """Return the folder of a package, which may be below `shared`, as in a working tree."""
    nested = root / "shared" / package
    return nested if nested.is_dir() else root / package


def _file(root: Path, file: str) -> Path:
    package, _, inside = file.partition("/")
    return _folder(root, package) / inside


def _read(root: Path, file: str) -> bytes:
    try:
        return _file(root, file).read_bytes()
    except OSError:
        return b""


def _code_run(recording: Path, step: StepChange) -> set[CodeType]:
    """Return the code that runs today when the step is repeated. Raises as reading a recording does."""
    replay, ran, cause = Replay(), set[CodeType](), None

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            ran.add(frame.f_code)

    for line in read_lines(recording):
        if isinstance(line, EventLine) and line.n == step.event:
            cause = line.event.id
        if not (isinstance(line, RecordLine) and line.record.of == cause):
            replay.read(line)
            continue
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            replay.read(line)
        finally:
            sys.setprofile(before)
        break
    return ran


def _parts(source: bytes) -> dict[str, _Part]:
    """Return the parts of a module by qualified name; an empty dict if it cannot be parsed."""
    try:
        return dict(_walk(ast.parse(source).body, ""))
    except (SyntaxError, ValueError):
        return {}


def _walk(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, _Part]]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if ast.get_docstring(node) is not None:
                    node.body = node.body[1:]
                yield f"{prefix}{node.name}", _Part("function", ast.dump(node))
            case ast.ClassDef():
                yield from _walk(node.body, f"{prefix}{node.name}.")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                uses = frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name))
                yield f"{prefix}{name}", _Part("name", ast.dump(node), uses)


def _reached(used: set[str], parts: dict[str, _Part]) -> set[str]:
    """Return the used names, and the names that their definitions use in turn."""
    reached, waiting = set(used), [name for name in parts if _short(name) in used]
    while waiting:
        unvisited = parts[waiting.pop()].uses - reached
        reached |= unvisited
        waiting += [name for name in parts if _short(name) in unvisited]
    return reached


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _qualified(code: CodeType) -> str:
    """Return the name of the outermost function that the code belongs to."""
    return code.co_qualname.partition(".<locals>")[0]
