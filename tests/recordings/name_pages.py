"""Pages with names that occur in a given number of facts, the sources of the fields of shaped answers."""

from typing import Any

from response_assembler import shaped

NAMES_ONCE = [f"Holm{n:03}" for n in range(shaped._FIELDS_MAX + 1)]
NAMES_OFTEN = {
    **{"w" * length: 1 for length in (1, shaped._VALUE_CHARACTERS_MIN, shaped._VALUE_CHARACTERS_MIN + 1)},
    "Vik": shaped._SOURCES_MAX - 1,
    "Sund": shaped._SOURCES_MAX,
    "Nes": shaped._SOURCES_MAX + 1,
}
"""Names, and the number of facts that contain each."""

NAME_PAGES: dict[str, Any] = {
    "names often": [
        {"n": f"{name} {n}", "text": f"The harbour of {name} is told of in book {n}."}
        for name, often in NAMES_OFTEN.items()
        for n in range(often)
    ],
    "names once": [{"text": f"A harbour is named {name}."} for name in NAMES_ONCE],
}
