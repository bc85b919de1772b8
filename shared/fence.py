"""The fence around what tools returned, which nothing inside can close, open or imitate. Pure.

<result call="toolu_1" tool="search" round="1" trust="untrusted">
F1 A statement.
</result>
"""

import re

_LOOK_ALIKE = r"(?![\x00-\x7f])\w"
"""Any letter beyond ASCII may be drawn like one of ours."""
_FENCE = re.compile(
    r"[<＜﹤](?=[\W_]{0,32}+"
    + r"[\W_]{0,4}+".join(f"(?:{letter}|{_LOOK_ALIKE})" for letter in "result")
    + r"(?![a-zA-Z0-9]))",
    re.IGNORECASE,
)


def fence(text: str) -> str:
    """Tool output as text that cannot imitate the fence around it, by spaces, case or look-alike letters.

    The first character of whatever could pass for a fence becomes `&lt;`, and every line after the first is
    indented by two spaces, so that it cannot begin like a line of ours; the rest is verbatim.
    """
    return _FENCE.sub("&lt;", "\n  ".join(text.splitlines()))
