"""The fenced blocks of a page, and one bash script that does what a reader would do with them."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", re.M | re.S)
_MARK = "=== block "


@dataclass(frozen=True)
class Block:
    """One fenced block: `sh`, `sh terminal=2`, `python file=NAME`, or `text` that a command shows."""

    language: str
    role: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    return [Block(*match) for match in _BLOCK.findall(page.read_text())]


def as_script(blocks: list[Block]) -> str:
    """Return a script: commands in order, other terminals in the background, files; a mark before each block."""
    lines = ["set -e"]
    for number, block in enumerate(blocks):
        lines.append(f"echo '{_MARK}{number}'")
        if block.role.startswith("file="):
            lines.append(f"cat > {block.role.removeprefix('file=')} <<'END-OF-FILE'\n{block.text}END-OF-FILE")
        elif block.role.startswith("terminal="):
            lines.append(f"bash -e -c {shlex.quote(block.text)} > {block.role}.log 2>&1 &")
        elif block.language == "sh":
            lines.append(block.text)
    return "\n".join(lines)


def outputs(shown: str) -> dict[int, str]:
    """Return the output of each block, by its number."""
    parts = re.split(rf"^{_MARK}(\d+)\n", shown, flags=re.M)
    return {int(number): text for number, text in zip(parts[1::2], parts[2::2], strict=True)}


def missing_output(blocks: list[Block], shown: dict[int, str]) -> list[str]:
    """Return lines that the page promises of a command, and that it did not show."""
    missing: list[str] = []
    command = -1
    for number, block in enumerate(blocks):
        if block.language == "sh" and not block.role:
            command = number
        elif block.language == "text":
            missing += [
                line for line in block.text.splitlines() if line.strip() not in shown.get(command, "")
            ]
    return missing
