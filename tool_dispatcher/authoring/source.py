"""Where an author wrote something: the file and line that an error names."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any


def source_of(function: Callable[..., Any], parameter: str = "") -> str:
    """`my_tools.py:3`: where the function is defined, or its parameter; empty where no file says so."""
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    if not isinstance(code, CodeType) or code.co_filename.startswith("<"):
        return ""
    return f"{shown_path(code.co_filename)}:{_line(code, parameter)}"


def shown_path(file: str) -> str:
    """A path as a person at the command line would write it."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file


def _line(code: CodeType, parameter: str) -> int:
    """The line of `def`, not that of its first decorator; or that of the parameter."""
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, ValueError):
        return code.co_firstlineno
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            named += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
            return first - 1 + next((one.lineno for one in named if one.arg == parameter), node.lineno)
    return code.co_firstlineno
