"""The five components are top-level packages, which a folder of the same name in a project may shadow."""

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
    """Raise ConfigurationError, which names the file that shadows one of our packages."""
    for name in names:
        if (fault := shadowing_message(name)) is not None:
            raise ConfigurationError(fault, hint=HINT)


def import_error(error: ImportError) -> ImportError:
    """Return the error to raise for a failed import. It names the file that hides the package, if any."""
    faults = (shadowing_message(name) for name in COMPONENTS)
    return next((ImportError(f"{fault} {HINT}") for fault in faults if fault is not None), error)


def shadowing_message(name: str) -> str | None:
    """Return a sentence that names the folder or file that shadows our top-level package `name`, or None."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # a module put into sys.modules by hand may have no spec
        return f"{name}: the imported module of this name is not Antiphon's package."
    found = _file(spec)
    if found is None:
        return f"{name}: Antiphon's package of this name is not installed."
    if found.parent == _HOME / name:
        return None
    place = found.parent if found.name == "__init__.py" else found
    return f"{place} would be imported in place of Antiphon's own package {name!r}."


def _file(spec: ModuleSpec | None) -> Path | None:
    """Return the file of a package, or its folder where it has no `__init__.py`."""
    if spec is None:
        return None
    if spec.origin is not None:
        return Path(spec.origin).resolve()
    return next(
        (Path(place).resolve() / "__init__.py" for place in spec.submodule_search_locations or ()), None
    )
