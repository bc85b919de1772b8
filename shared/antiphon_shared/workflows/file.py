"""Reads and checks of workflow files. Pure."""

from collections.abc import Iterable
from pathlib import Path

from antiphon_shared.text.yaml_text import BYTES_MAX
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.form import WorkflowFile, read_file
from antiphon_shared.workflows.problem import Problem, error
from antiphon_shared.workflows.specification import Specification
from antiphon_shared.workflows.validate import problems_of

PROBLEMS_MAX = 200
"""Bound on the problems of one file that are reported."""
ENDINGS = (".yaml", ".yml", ".json")
"""Suffixes of the files that are read in a folder."""


def read_workflows(
    paths: Iterable[str | Path], catalogue: Catalogue | None = None
) -> tuple[list[Specification], list[Problem]]:
    """Return the specifications of files and folders, and the problems of each file and of all together.

    Without a catalogue, calls are not checked against their tools.
    """
    specifications: list[Specification] = []
    files, problems = files_of(paths)
    domains: dict[str, str] = {}
    names: dict[str, str] = {}
    for path in files:
        file, file_problems = validated(path, catalogue)
        problems += file_problems
        one = file.specification
        if one is None:
            continue
        specifications.append(one)
        if one.domain in domains:
            why = f"{domains[one.domain]} has the domain {one.domain} too"
            problems.append(file.located(error(("domain",), "domain_clash", why, "Put them into one file")))
            continue
        domains[one.domain] = str(path)
        for name in one.workflows:
            if name in names:
                why = f"{names[name]} has a workflow {name} too, and a workflow is run by its name alone"
                clash = error(("workflows", name), "workflow_clash", why, "Rename one of them")
                problems.append(file.located(clash))
            names.setdefault(name, str(path))
    return specifications, problems


def validated(path: str | Path, catalogue: Catalogue | None) -> tuple[WorkflowFile, tuple[Problem, ...]]:
    """Return the content of a file, and its problems in the order of the file."""
    file = _read(Path(path))
    problems = [*file.problems]
    if file.specification is not None:
        problems += map(file.located, problems_of(file.specification, catalogue))
    problems.sort(key=lambda problem: (problem.position is None, problem.position))
    if len(problems) > PROBLEMS_MAX:
        why = f"there are {len(problems) - PROBLEMS_MAX} more; correct these first"
        problems = [*problems[:PROBLEMS_MAX], file.located(error((), "too_many", why))]
    return file, tuple(problems)


def _read(path: Path) -> WorkflowFile:
    try:
        with path.open("rb") as opened:
            content = opened.read(BYTES_MAX + 1)
        return read_file(content.decode("utf-8-sig"), str(path))
    except FileNotFoundError:
        return WorkflowFile(str(path), None, None, (_missing(path, "it does not exist"),))
    except OSError as failed:
        problem = f"it cannot be read: {failed.strerror}"
    except UnicodeDecodeError as failed:
        problem = f"it is not UTF-8 text (byte {failed.start + 1}); save it as UTF-8"
        if len(content) > BYTES_MAX:
            problem = f"it has more than {BYTES_MAX:,} bytes; split it"
    return WorkflowFile(str(path), None, None, (_unreadable(path, problem),))


def files_of(paths: Iterable[str | Path]) -> tuple[list[Path], list[Problem]]:
    """Return the files, and those in the folders, each once, in their order; a folder without any is a problem."""
    unique: dict[Path, None] = {}
    problems: list[Problem] = []
    for path in map(Path, paths):
        if not path.is_dir():
            unique[path] = None
            continue
        try:
            inside = sorted(one for one in path.iterdir() if one.suffix in ENDINGS and one.is_file())
        except OSError as failed:
            problems.append(_unreadable(path, f"it cannot be read: {failed.strerror}"))
            continue
        if not inside:
            why = f"the folder holds no file that ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
            problems.append(_missing(path, why))
        unique.update(dict.fromkeys(inside))
    return list(unique), problems


def _missing(path: Path, message: str) -> Problem:
    return Problem("error", "missing", (), message, "", str(path))


def _unreadable(path: Path, message: str) -> Problem:
    return Problem("error", "unreadable", (), message, "", str(path))
