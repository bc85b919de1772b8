"""Lines that many recordings share and that were already searched with the same rules. Pure."""

from collections.abc import Iterable

from antiphon_shared.tools.calls import Catalogue

from antiphon.recording.hashes import content_hash
from antiphon.recording.lines import CatalogueLine, ContentLine, EncodedLine
from antiphon.recording.redaction.json_paths import Path
from tool_dispatcher.authoring.secret import secret_paths

_KNOWN_MAX = 1_000


class KnownLines:
    """Catalogues and shared contents, by the hash of their lines."""

    def __init__(self) -> None:
        self._harmless: set[str] = set()
        self._marked: dict[str, dict[str, tuple[Path, ...]]] = {}

    def without_harmless(self, pairs: Iterable[EncodedLine]) -> tuple[list[EncodedLine], list[str]]:
        """Return the lines to search, and the names of the shared lines among them."""
        new: list[EncodedLine] = []
        names: list[str] = []
        for line, raw in pairs:
            if isinstance(line, CatalogueLine | ContentLine):
                name = content_hash(raw)
                if name in self._harmless:
                    continue
                names.append(name)
            new.append((line, raw))
        return new, names

    def add_harmless(self, names: Iterable[str]) -> None:
        """Note that these lines need no redaction by the rules, if no argument is marked secret."""
        if len(self._harmless) >= _KNOWN_MAX:
            self._harmless.clear()
        self._harmless.update(names)

    def marked(self, catalogue: Catalogue, raw: bytes) -> dict[str, tuple[Path, ...]]:
        """Return the paths to the arguments that are marked secret, by tool; `raw` is the encoded catalogue."""
        name = content_hash(raw)
        if name not in self._marked:
            if len(self._marked) >= _KNOWN_MAX:
                self._marked.clear()
            self._marked[name] = marked_arguments(catalogue)
        return self._marked[name]


def marked_arguments(catalogue: Catalogue) -> dict[str, tuple[Path, ...]]:
    """Return the paths to the arguments that are marked secret, by tool."""
    return {
        tool.name: tuple(map(Path.along, paths))
        for tool in catalogue.tools
        if (paths := secret_paths(tool.input_schema))
    }
