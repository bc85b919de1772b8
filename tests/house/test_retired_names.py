"""Names that the glossary has replaced are not used again for modules, classes and functions."""

import ast
import re
from pathlib import Path

from tests.house.test_tidiness import PACKAGES, ROOT, ours

OURS = [name for name in ours() if name.startswith(tuple(f"{package}/" for package in PACKAGES))]

RETIRED = re.compile(
    r"(?:told|heard|desks?|drawer|doors?|passage|shut|standing|leave|barred|withheld|knots?|patiently|bury|buried|burial"
    r"|means|beside|rung|doubts?|remembered|leash|hearing|alone|under_way|asked|aside|drawn|found|given|kept|named"
    r"|places?|wanted|within|wholes?)"
)
"""Names that the glossary has replaced, as the whole name of a module or class."""
RETIRED_FUNCTIONS = re.compile(
    r"_*(?:told|said|hear|heard|bury|burial|doubt|doubting|telling|in_hand|in_doubt|out_of_order|withheld|barred|lost|taken"
    r"|given_up|concluded|lacking|summarized|asked|begun|of_outcome|of_retry|to_nobody)"
)
"""The same for functions and methods: words that hide their object, in place of what is returned or done."""
PLAIN_NAMES = ("coordinator/", "reasoning_engine/", "response_assembler/")
"""Packages without such functions."""


def test_modules_and_classes_have_no_retired_names() -> None:
    retired = {
        name: found
        for name in OURS
        if name.endswith(".py") and (found := [one for one in names_of(name) if RETIRED.fullmatch(one)])
    }
    assert retired == {}


def test_functions_have_no_retired_names() -> None:
    retired = {
        name: found
        for name in OURS
        if name.endswith(".py") and name.startswith(PLAIN_NAMES)
        if (found := [one for one in functions_of(name) if RETIRED_FUNCTIONS.fullmatch(one)])
    }
    assert retired == {}


def functions_of(file: str) -> list[str]:
    """Return the names of the functions and methods of a file."""
    nodes = ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8")))
    return [node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def names_of(file: str) -> list[str]:
    """Return the names of a module and of its classes in lower case, without underscores around them."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    classes = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return [name.strip("_").lower() for name in (Path(file).stem, *classes)]
