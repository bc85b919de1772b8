"""Text from any source, made safe to show in a terminal. Pure.

A tool, a model or a client may write characters that control a terminal: set its clipboard (OSC 52) or title,
clear the screen, move the cursor, or reverse the direction of text. Tab and line break stay.
"""

import re

_SEQUENCE = re.compile(
    r"""
    (?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])               # OSC, DCS and their like, if they are closed
    [^\x07\x1b\x90\x98\x9c\x9d\x9e\x9f]{0,8192}(?:\x07|\x1b\\|\x9c)
    | (?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]           # CSI: colours, cursor, clearing
    | \x1b[ -/]{0,8}[0-Z\\\x60-~]                         # other escapes of two signs and more
    """,
    re.VERBOSE,
)
_STEERING = "\\x7f-\\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\\ud800-\\udfff"
_UNSAFE = re.compile(f"[\\x00-\\x08\\x0b-\\x1f{_STEERING}]")
_UNSAFE_IN_JSON = re.compile(f"[{_STEERING}]")


def harmless(text: str) -> str:
    """Return the text without escape sequences and control characters; tab and line break stay."""
    if _UNSAFE.search(text) is None:
        return text
    plain = text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    return _UNSAFE.sub("", _SEQUENCE.sub("", plain))


def visible(text: str) -> str:
    """Return the text with an escape such as `\\x1b` for each character that `harmless` removes."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def harmless_json(text: str) -> str:
    """Return equivalent JSON, with an escape for each character that JSON allows and a terminal obeys."""
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
