"""The tokens of conditions: texts, numbers, names, signs and references. Pure."""

import re
from dataclasses import dataclass

from antiphon_shared.workflows.references import BARE, BRACED, Reference, reference_of

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
      | (?P<int>0[xX][0-9a-fA-F]+|\d+)
      | (?P<text>[rR]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<sign>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"""\\(?:u([0-9a-fA-F]{4})|(["'\\nrt])|(.))""", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


class ConditionSyntax(ValueError):
    """Raised for a text that is not a condition; the message names the character."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} (character {offset + 1})")


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    offset: int
    reference: Reference | None = None


def tokens(text: str) -> list[Token]:
    read: list[Token] = []
    at = 0
    while at < len(text):
        if text[at] == "$":
            token, at = _variable(text, at)
            read.append(token)
            continue
        match = _TOKEN.match(text, at)
        if match is None:
            raise ConditionSyntax(f"{text[at : at + 20]!r} cannot be read", at)
        if match.lastgroup != "space":
            read.append(Token(str(match.lastgroup), match[0], at))
        at = match.end()
    return [*read, Token("end", "the end", at)]


def _variable(text: str, at: int) -> tuple[Token, int]:
    match = BARE.match(text, at) or BRACED.match(text, at)
    if match is None:
        raise ConditionSyntax("after $ comes a name, or {name.path}", at)
    reference, end = reference_of(match), match.end()
    if reference.path and text.startswith("(", end):  # the last part is the name of a function
        end = text.rindex(".", at, end)
        reference = Reference(reference.name, reference.path[:-1], reference.is_optional)
    elif not reference.path and not reference.is_optional and text.startswith("?", end):
        reference, end = Reference(reference.name, (), True), end + 1
    return Token("variable", text[at:end], at, reference), end


def unescaped(token: Token) -> str:
    text = token.text
    if text[0] in "rR":
        return text[2:-1]

    def one(match: re.Match[str]) -> str:
        if match[3]:
            raise ConditionSyntax(f"there is no escape {match[0]!r}", token.offset)
        return chr(int(match[1], 16)) if match[1] else _ESCAPED.get(match[2], match[2])

    return _ESCAPE.sub(one, text[1:-1])
