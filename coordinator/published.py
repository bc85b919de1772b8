"""Steps that the operator publishes. They are read from files at start-up, and queries name them."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from antiphon_shared.bus.submissions import Unacceptable
from antiphon_shared.events import AnyEvent, QuerySubmitted
from antiphon_shared.output.steps import Step, StepsName
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.text.nearest import did_you_mean
from pydantic import TypeAdapter, ValidationError

VARIABLE = "ANTIPHON_COORDINATOR_STEPS"
_ENDINGS = (".yaml", ".yml")
_NAME: TypeAdapter[str] = TypeAdapter(StepsName)

Published = Mapping[str, tuple[Step, ...]]
"""Steps by their name."""


def read_published(paths: Iterable[str]) -> Published:
    """Return the steps of files and folders, by name. Raises ConfigurationError, which names every fault."""
    from antiphon_shared.output.step_file import UnfitSteps, read_steps  # most deployments publish none

    published: dict[str, tuple[Step, ...]] = {}
    files: dict[str, Path] = {}
    faults: list[str] = []
    for path in _files(paths, faults):
        try:
            name = _NAME.validate_python(path.stem)
            if name in files:
                faults.append(f"{path}: {files[name]} has the same name {name!r}; rename one of them")
            files.setdefault(name, path)
            published[name] = read_steps(path.read_text(encoding="utf-8"))
        except ValidationError:
            faults.append(
                f"{path}: the name must consist of 1 to 64 letters, digits, '.', '_' or '-', followed "
                f"by {_ENDINGS[0]}"
            )
        except UnicodeDecodeError as error:
            faults.append(f"{path}: the file is not UTF-8 text: {error}")
        except OSError as error:
            faults.append(f"{path}: the file cannot be read: {error.strerror}")
        except UnfitSteps as error:
            faults += [f"{path}: {line}" for line in str(error).splitlines()]
    if faults:
        why = f"{VARIABLE}: some steps are invalid. Correct or remove them:"
        raise ConfigurationError("\n".join([why, *faults]))
    return published


def _files(paths: Iterable[str], faults: list[str]) -> Iterator[Path]:
    """Yield the files, each once, in their order; a folder without such files is a fault."""
    files: dict[Path, None] = {}
    for path in map(Path, paths):
        if not path.is_dir():
            files[path] = None
            continue
        try:
            inside = sorted(one for one in path.iterdir() if one.suffix in _ENDINGS and one.is_file())
        except OSError as error:
            faults.append(f"{path}: the file cannot be read: {error.strerror}")
            continue
        if not inside:
            faults.append(f"{path}: the folder contains no file that ends in {' or '.join(_ENDINGS)}")
        files.update(dict.fromkeys(inside))
    yield from files


def with_published(event: AnyEvent, published: Published) -> AnyEvent:
    """Return a query with the published steps that it names. Raises Unacceptable when none have that name."""
    query = event.data
    if not isinstance(query, QuerySubmitted) or not isinstance(name := query.options.steps, str):
        return event
    if name not in published:
        raise Unacceptable(
            f"options.steps: no published steps are named {name!r}.",
            hint=did_you_mean(
                name, sorted(published), "No steps are published: set ANTIPHON_COORDINATOR_STEPS."
            ),
        )
    options = query.options.model_copy(update={"steps": published[name]})
    return event.model_copy(
        update={"data": query.model_copy(update={"options": options, "steps_name": name})}
    )
