"""The operator's hints: read when the catalogue is built."""

from pathlib import Path

from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.relevance import BUILT_INS

VARIABLE = "ANTIPHON_TOOL_DISPATCHER_HINTS"


def add_hints(catalogue: Catalogue, given: str) -> Catalogue:
    """Return the catalogue with hints in its descriptions; without any, the same catalogue.

    `given` is a file, or the hints themselves as a JSON object. Raises ConfigurationError, which lists every mistake.
    """
    if not given:
        return catalogue
    from tool_dispatcher.authoring.hint_file import InvalidHints, read_hints, with_hints  # rarely needed

    is_value = given.lstrip().startswith("{")
    at = "" if is_value else f"{given}: "
    try:
        text = given if is_value else Path(given).read_text(encoding="utf-8-sig")
        hints = read_hints(text, {*catalogue.by_name, *BUILT_INS})
    except OSError as error:
        faults = [f"{at}the file cannot be read: {error.strerror}"]
    except UnicodeDecodeError as error:
        faults = [f"{at}the file is not UTF-8 text: {error}"]
    except InvalidHints as error:
        faults = [f"{at}{line}" for line in str(error).splitlines()]
    else:
        return Catalogue(tools=with_hints(catalogue.tools, hints), default_scopes=catalogue.default_scopes)
    why = f"{VARIABLE}: some hints are invalid. Correct or remove them:"
    raise ConfigurationError("\n".join([why, *faults]))
