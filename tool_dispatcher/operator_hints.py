"""The operator's hints, which are added to the descriptions of the catalogue."""

from pathlib import Path

from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.relevance import BUILT_INS

VARIABLE = "ANTIPHON_TOOL_DISPATCHER_HINTS"


def add_hints(catalogue: Catalogue, source: str) -> Catalogue:
    """Return the catalogue with hints in its descriptions; an empty `source` leaves it unchanged.

    `source` is the path of a file, or a JSON object of hints. Raises ConfigurationError, which lists every mistake.
    """
    if not source:
        return catalogue
    from tool_dispatcher.authoring.hint_file import InvalidHints, read_hints, with_hints  # rarely needed

    is_value = source.lstrip().startswith("{")
    prefix = "" if is_value else f"{source}: "
    try:
        text = source if is_value else Path(source).read_text(encoding="utf-8-sig")
        hints = read_hints(text, {*catalogue.by_name, *BUILT_INS})
    except OSError as error:
        problems = [f"{prefix}the file cannot be read: {error.strerror}"]
    except UnicodeDecodeError as error:
        problems = [f"{prefix}the file is not UTF-8 text: {error}"]
    except InvalidHints as error:
        problems = [f"{prefix}{line}" for line in str(error).splitlines()]
    else:
        return Catalogue(tools=with_hints(catalogue.tools, hints), default_scopes=catalogue.default_scopes)
    problem = f"{VARIABLE}: some hints are invalid. Correct or remove them:"
    raise ConfigurationError("\n".join([problem, *problems]))
