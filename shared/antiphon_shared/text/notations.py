"""The readings of figures whose notation is not known: `1.250` is 1250 in German and 1.25 in English. Pure."""

import re

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


def readings_in(text: str) -> frozenset[str]:
    """Return every number of a text in all its readings; for dates and versions each part too."""
    numbers = set(_DIGITS.findall(text))
    return frozenset(form for written in numbers for form in (*readings(written), *_parts(written)))


def readings(written: str) -> set[str]:
    """Return the readings of a number: `1,250.50` as 1250.5; `1.250` as 1250 and as 1.25; other texts unchanged."""
    forms = set()
    for point, comma in ((".", ","), (",", ".")):
        integer, _, rest = written.partition(point)
        groups = integer.split(comma)
        if (rest.isdecimal() or not rest) and all(len(group) == 3 for group in groups[1:]):
            forms.add(_bare(f"{''.join(groups)}.{rest}"))
    return forms or {written}


def _parts(written: str) -> list[str]:
    parts = re.split("[.,]", written)
    return [_bare(part) for part in parts] if len(parts) > 2 else []


def _bare(number: str) -> str:
    integer, _, rest = number.partition(".")
    return ".".join(filter(None, [integer.lstrip("0") or "0", rest.rstrip("0")]))
