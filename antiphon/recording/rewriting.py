"""Rewrite a recording as today's code would have written it: beside it first, then in its place."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import orjson

from antiphon.recording.changed import Change, changes
from antiphon.recording.files import read_lines, unpacked, write_lines
from antiphon.recording.lines import FORMAT, Line, encode_line
from antiphon.recording.replaying.report import Report
from antiphon.recording.update import updated
from antiphon.recording.verify import verify


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A recording as it would be today, in a file of its own, which whoever has asked for it takes or drops."""

    path: Path
    new: Path
    report: Report
    """Of the new one: it may differ where today's code decides on what the old one did not record."""

    def changes(self) -> list[Change]:
        """All that the new one says otherwise, whatever a verification makes of it. Raises UnreadableEvent."""
        return changes(read_lines(self.path), read_lines(self.new))

    def take(self) -> None:
        """Put it in the old one's place, at once and whole."""
        shutil.copymode(self.path, self.new)
        self.new.replace(self.path)

    def drop(self) -> None:
        self.new.unlink(missing_ok=True)


def rewritten(path: Path) -> Rewritten | None:
    """The recording at `path` as it would be today, in today's format; None when that is what it is.

    Raises TakesAnotherWay, UnreadableEvent and OSError, and leaves nothing behind then.
    """
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=path.name, delete=False) as file:
        new = Path(file.name)
    try:
        then, now = blake2b(), blake2b()
        write_lines(new, _hashed(updated(_hashed(read_lines(path), then)), now))
        if then.digest() == now.digest() and _is_of_todays_format(path):
            new.unlink()
            return None
        return Rewritten(path, new, verify(new))
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _is_of_todays_format(path: Path) -> bool:
    with unpacked(path) as file:
        return bool(orjson.loads(file.readline())["format"] == FORMAT)


def _hashed(lines: Iterable[Line], digest: "blake2b") -> Iterator[Line]:
    for line in lines:
        digest.update(encode_line(line) + b"\n")
        yield line
