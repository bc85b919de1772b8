"""The house's rules for every file."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

from antiphon_shared.events.session import QueryOptions

from tests.rows import each_row

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
LINES_MAX = 300
FUNCTION_LINES_MAX = 50
POSITIONAL_PARAMETERS_MAX = 6

MACHINE_PATH = re.compile(r"(?<![\w.:/<>{}-])/(?:home|Users|root|work|mnt|workspace)(?:/|(?=[\s\"'`:]|$))")
REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|index-url|find-links|conda\.anaconda|artifactory\.\w|nexus\.",
    re.I,
)
MAY_NAME_THEM = {
    "tests/house/test_tidiness.py",
    *(f"tests/shared/redaction/{name}_seen.txt" for name in ("first", "later", "last", "fresh")),
}
"""This file, which says what is looked for, and secrets as they stand in files and commands of every day."""


def ours() -> list[str]:
    """Return every text file of the repository: those that git tracks, and those that it would."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        names = [str(path.relative_to(ROOT)) for path in _walk(ROOT)]
    return [name for name in names if name not in MAY_NAME_THEM and b"\0" not in (ROOT / name).read_bytes()]


def _walk(folder: Path) -> list[Path]:
    """List files without git, as in an unpacked archive: everything except caches and environments."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.name.startswith(".") and path.name != "__pycache__":
            found += _walk(path)
        elif path.is_file():
            found.append(path)
    return found


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {match[0]}"
        for name in ours()
        for number, line in enumerate((ROOT / name).read_text(errors="replace").splitlines(), 1)
        for match in pattern.finditer(line)
    ]


def test_no_file_holds_a_path_of_one_machine() -> None:
    assert lines_with(MACHINE_PATH) == []


def test_no_file_names_a_package_registry() -> None:
    assert lines_with(REGISTRY) == []


@each_row(
    ("line", "is_found"),
    [
        ('open("/home/ann/x")', True),
        ("cd /root/project", True),
        ("/work/main", True),
        ("see /Users/ann", True),
        ("redis://redis:6379/work", False),
        ("shared/root/x", False),
        ("/usr/bin/env bash", False),
        ("PYTHON=/path/to/python3.11", False),
    ],
)
def test_the_search_for_machine_paths_finds_them(line: str, is_found: bool) -> None:
    assert (MACHINE_PATH.search(line) is not None) is is_found


def code_of_rooms() -> list[str]:
    rooms = tuple(f"{package}/" for package in PACKAGES)
    return [name for name in ours() if name.endswith((".py", ".lua")) and name.startswith(rooms)]


def test_no_file_is_too_long_to_read() -> None:
    counts = {name: len((ROOT / name).read_text().splitlines()) for name in code_of_rooms()}
    assert {name: count for name, count in counts.items() if count > LINES_MAX} == {}


def test_no_function_is_too_long_to_read() -> None:
    long = {
        f"{name} {function}": count
        for name in code_of_rooms()
        if name.endswith(".py")
        for function, count in functions_in((ROOT / name).read_text())
        if count > FUNCTION_LINES_MAX
    }
    assert long == {}


def test_no_function_has_too_many_positional_parameters() -> None:
    many = {
        f"{name} {function}": count
        for name in code_of_rooms()
        if name.endswith(".py")
        for function, count in positional_parameters_in((ROOT / name).read_text())
        if count > POSITIONAL_PARAMETERS_MAX
    }
    assert many == {}


def positional_parameters_in(source: str) -> list[tuple[str, int]]:
    """Return every function and method, with the number of its positional parameters; `self` does not count."""
    functions = definitions_in(source)
    names = ((node.name, [one.arg for one in node.args.posonlyargs + node.args.args]) for node in functions)
    return [(name, len(found) - (found[:1] in (["self"], ["cls"]))) for name, found in names]


def test_positional_parameters_are_counted_without_self_and_keywords() -> None:
    source = "class A:\n    def b(self, c, d, *, e): pass\ndef f(g, /, h): pass\n"
    assert sorted(positional_parameters_in(source)) == [("b", 2), ("f", 2)]


def functions_in(source: str) -> list[tuple[str, int]]:
    """Return every function and method, with its lines from `def` to the end."""
    return [
        (node.name, (node.end_lineno or node.lineno) - node.lineno + 1) for node in definitions_in(source)
    ]


def definitions_in(source: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        node
        for node in statements_in(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and every statement in it; `ast.walk` takes five times as long, as it looks into expressions."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from statements_in(child)


def test_the_lines_of_functions_are_counted_without_decorators_and_with_docstrings() -> None:
    source = (
        'class A:\n    @property\n    def b(self):\n        """C."""\n        return 1\nasync def d(): pass\n'
    )
    assert sorted(functions_in(source)) == [("b", 3), ("d", 1)]


def test_every_folder_of_tests_is_a_package() -> None:
    """Otherwise a folder of tests hides the component it tests."""
    folders = {path.parent for path in (ROOT / "tests").rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_constraints_hold_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*", line)] == []
    assert {name_of(line) for line in dependencies()} <= {name_of(line) for line in pins}


def test_the_readme_gives_the_reason_for_each_dependency() -> None:
    """In a table: `| package | why |`."""
    rows = re.findall(r"^\|([^|]+)\| *[^|\s][^|]*\|$", (ROOT / "README.md").read_text(), re.M)
    explained = {name_of(word) for cell in rows for word in re.findall(r"[A-Za-z0-9_.-]+", cell)}
    assert {name_of(line) for line in dependencies()} - explained == set()


def dependencies() -> list[str]:
    """Return every package that pyproject.toml asks for, extras included."""
    extras = PROJECT["project"]["optional-dependencies"]
    return [*PROJECT["project"]["dependencies"], *(line for extra in extras.values() for line in extra)]


def name_of(requirement: str) -> str:
    """Return a distribution's normalized name."""
    name = re.split(r"[\[<>=!~; ]", requirement)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_page_on_submitting_names_every_option_of_a_query() -> None:
    page = (ROOT / "docs" / "submitting.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.M)) == set(QueryOptions.model_fields)
