"""The operator's hints: read from a file when the catalogue is built."""

from pathlib import Path

from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.relevance import BUILT_INS

VARIABLE = "ANTIPHON_TOOL_DISPATCHER_HINTS"


def hinted(catalogue: Catalogue, file: str) -> Catalogue:
    """Return the catalogue with the hints of a file in its descriptions; without a file, the same catalogue.

    Raises ConfigurationError, which lists every mistake in the file.
    """
    if not file:
        return catalogue
    from tool_dispatcher.authoring.hint_file import UnfitHints, read_hints, with_hints  # rarely needed

    path = Path(file)
    try:
        hints = read_hints(path.read_text(encoding="utf-8-sig"), {*catalogue.by_name, *BUILT_INS})
    except OSError as error:
        faults = [f"{path}: it cannot be read: {error.strerror}"]
    except UnicodeDecodeError as error:
        faults = [f"{path}: it is not UTF-8 text: {error}"]
    except UnfitHints as error:
        faults = [f"{path}: {line}" for line in str(error).splitlines()]
    else:
        return catalogue.model_copy(update={"tools": with_hints(catalogue.tools, hints)})
    why = f"{VARIABLE}: not all hints can be used. Mend or take out what is named:"
    raise ConfigurationError("\n".join([why, *faults]))
