"""The rewriting of a recording by today's code into a new file, which then replaces the old one."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import orjson

from antiphon.recording.files import read_lines, unpacked, write_lines
from antiphon.recording.lines import FORMAT, Line, encode_line
from antiphon.replay.event_changes import Change, changes
from antiphon.replay.report import Report
from antiphon.replay.update import updated
from antiphon.replay.verify import verify


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A recording rewritten into a new file, which the caller then takes or drops."""

    path: Path
    new: Path
    report: Report
    """The verification of the new file; it may diverge if the old file lacks the input of a decision."""

    def changes(self) -> list[Change]:
        """Return all differences of the new recording. Raises UnreadableEvent."""
        return changes(read_lines(self.path), read_lines(self.new))

    def take(self) -> None:
        """Replace the old file by the new one, atomically."""
        shutil.copymode(self.path, self.new)
        self.new.replace(self.path)

    def drop(self) -> None:
        self.new.unlink(missing_ok=True)


def rewritten(path: Path) -> Rewritten | None:
    """Return the recording at `path` rewritten by today's code, in today's format; None if nothing changes.

    Raises DecidesDifferently, UnreadableEvent and OSError, and leaves no file behind then.
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
