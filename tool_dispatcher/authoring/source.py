"""The location of an author's definition, for errors: file and line."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any


def source_of(function: Callable[..., Any], parameter: str = "") -> str:
    """Return where a function or its parameter is defined, such as `my_tools.py:3`; empty if no file is known."""
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None)
    if not isinstance(code, CodeType) or code.co_filename.startswith("<"):
        return ""
    return f"{display_path(code.co_filename)}:{_line(code, parameter)}"


def display_path(file: str) -> str:
    """Return a path, relative if it is below the current directory."""
    path, current = Path(file), Path.cwd()
    return str(path.relative_to(current)) if path.is_relative_to(current) else file


def _line(code: CodeType, parameter: str) -> int:
    """Return the line of the parameter, if it exists, else that of `def`, below the decorators."""
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, ValueError):
        return code.co_firstlineno
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = node.args
            parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            parameters += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
            return first - 1 + next((one.lineno for one in parameters if one.arg == parameter), node.lineno)
    return code.co_firstlineno
