"""Errors for a module of tools that cannot be used: the problem, its location, and the remedy."""

import pkgutil
import sysconfig
import traceback
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

from antiphon_shared.process.errors import ConfigurationError

from tool_dispatcher.authoring.failures import readable
from tool_dispatcher.authoring.source import display_path

_PACKAGE_FOLDER = str(Path(__file__).resolve().parent)
_STANDARD_LIBRARY = sysconfig.get_path("stdlib")


def import_failure(name: str, entry: str, error: BaseException) -> ConfigurationError:
    """Return the error for the module `name`, from the entry `entry`, whose import raised `error`."""
    if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
        return _absent(name, error.name)
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        where = f"{display_path(error.filename)}:{error.lineno}: "
    else:
        where = f"{location}: " if (location := location_of(error)) else ""
    hint = "Correct the error there."
    if isinstance(error, ModuleNotFoundError):
        hint = f"Install {error.name} into the environment that runs Antiphon."
    message = readable(getattr(error, "msg", error), 500)
    return ConfigurationError(
        f"tools: {entry} cannot be imported: {where}{type(error).__name__}: {message}.", hint=hint
    )


def location_of(error: BaseException) -> str:
    """Return `file:line` of the author's code that raised an error; empty if the traceback has none of it."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "site-packages" in frame.filename
        or not frame.filename.startswith(("<", _PACKAGE_FOLDER, _STANDARD_LIBRARY))
    ]
    own = [frame for frame in frames if "site-packages" not in frame.filename] or frames
    return f"{display_path(own[-1].filename)}:{own[-1].lineno}" if own else ""


def no_tools(entry: str, module: ModuleType) -> ConfigurationError:
    """Return the error for a module without tools; if a file has the same name, the error names it."""
    file = getattr(module, "__file__", None) or "built in"
    local_file = Path.cwd() / f"{module.__name__.replace('.', '/')}.py"
    if local_file.is_file() and Path(file) != local_file:
        return ConfigurationError(
            f"tools: {entry} is {file}, not the {local_file.name} of the current directory.",
            hint="Rename your file: modules of the current directory are imported last, so that they "
            "cannot shadow others.",
        )
    return ConfigurationError(
        f"tools: {entry} ({display_path(file)}) has no tool at its top level.",
        hint='Decorate its functions with @tool(effect="read") or @tool(effect="write"), or name another module.',
    )


def module_name_of(path: str) -> str:
    """Return the dotted name of a module for the path of its file; an example if the path gives none."""
    parts = [part for part in path.removesuffix(".py").split("/") if part not in ("", ".", "..")]
    return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else "my_tools"


def _absent(name: str, missing: str) -> ConfigurationError:
    modules = [module.name for module in pkgutil.iter_modules([str(Path.cwd())])]
    nearest = get_close_matches(name, modules, n=1)
    suggestion = f" Did you mean {nearest[0]}?" if nearest else ""
    if name.startswith("examples."):
        suggestion = f" Did you mean antiphon.{name}?"
    return ConfigurationError(
        f"tools: {name} cannot be imported: module {missing!r} is not installed, not on PYTHONPATH, "
        f"and not in the current directory, {Path.cwd()}.",
        hint=f"Change to the folder that contains it, install it, or add its folder to PYTHONPATH.{suggestion}",
    )
