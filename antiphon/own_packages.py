"""The check that no folder or file of a project shadows a component, as these are top-level packages."""

from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

from antiphon_shared.events import COMPONENTS
from antiphon_shared.process.errors import ConfigurationError

HINT = (
    "Rename it, or remove its folder from the front of Python's import path: `antiphon run` and "
    "`antiphon up` put the current directory last; PYTHONPATH and the folder of a running script "
    "come first."
)
_HOME = Path(__file__).resolve().parents[1]
"""The folder in which this package and the components are installed or checked out."""


def check_components(names: Iterable[str] = COMPONENTS) -> None:
    """Raise ConfigurationError if a file shadows one of our packages; the message names the file."""
    for name in names:
        if (message := shadowing_message(name)) is not None:
            raise ConfigurationError(message, hint=HINT)


def import_error(error: ImportError) -> ImportError:
    """Return the error to raise for a failed import, which names the file that shadows a package, if any."""
    messages = (shadowing_message(name) for name in COMPONENTS)
    return next((ImportError(f"{fault} {HINT}") for fault in messages if fault is not None), error)


def shadowing_message(name: str) -> str | None:
    """Return a sentence that names the folder or file that shadows our top-level package `name`, or None."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # a module that was added to sys.modules may have no spec
        return f"{name}: the imported module of this name is not Antiphon's package."
    file = _file(spec)
    if file is None:
        return f"{name}: Antiphon's package of this name is not installed."
    if file.parent == _HOME / name:
        return None
    shadow = file.parent if file.name == "__init__.py" else file
    return f"{shadow} would be imported in place of Antiphon's own package {name!r}."


def _file(spec: ModuleSpec | None) -> Path | None:
    """Return the path of a package's `__init__.py`, even if that is missing; of a module, its file."""
    if spec is None:
        return None
    if spec.origin is not None:
        return Path(spec.origin).resolve()
    return next(
        (Path(folder).resolve() / "__init__.py" for folder in spec.submodule_search_locations or ()), None
    )
