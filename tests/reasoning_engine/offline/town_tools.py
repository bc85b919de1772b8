"""A town's library, museum and railway: tools of other names and shapes than any example's."""

from typing import Any

from antiphon_shared.tools.calls import ToolError

from tests.reasoning_engine.offline.rounds import OfferedTool, Refused

_READERS = {"Ada Lovelace": 17, "Grace Hopper": 23}
_LOANS = {
    17: [
        {"title": "Sketch of the Analytical Engine", "due": "2026-12-01"},
        {"title": "Dune", "due": "2026-12-09"},
    ],
    23: [{"title": "Compilers by Hand", "due": "2026-11-30"}],
}
_BOOKS = [
    {"title": "Dune", "author": "Frank Herbert", "genre": "desert ecology", "shelf": "H-12"},
    {"title": "Sand Planets", "author": "Mira Oduya", "genre": "desert ecology", "shelf": "O-03"},
    {"title": "Harbour Lights", "author": "Jonas Berg", "genre": "romance", "shelf": "B-20"},
    {"title": "Whipping Star", "author": "Frank Herbert", "genre": "space opera", "shelf": "H-13"},
]
_EXHIBITS = {
    301: {"label": "Blue Whale Skeleton", "acquired": 1891, "material": "bone", "room": 4},
    302: {"label": "Roman Bread Oven", "acquired": 1956, "material": "clay", "room": 2},
}
_TRAINS = [
    {"from": "Oslo", "to": "Bergen", "departs": "2026-12-24T08:25", "price": 640},
    {"from": "Oslo", "to": "Bergen", "departs": "2026-12-24T12:03", "price": 890},
    {"from": "Bergen", "to": "Oslo", "departs": "2026-12-24T09:00", "price": 700},
]
booked: list[dict[str, Any]] = []


def _reader_card(full_name: str) -> Any:
    if full_name not in _READERS:
        names = ", ".join(f"'{name}'" for name in _READERS)
        raise Refused(
            ToolError(
                error_type="not_found",
                message=f"No reader {full_name}.",
                suggested_action=f"Known readers: {names}.",
            )
        )
    return {"reader": {"id": _READERS[full_name], "name": full_name}}


def _loans_of(reader_id: int) -> Any:
    return {"loans": _LOANS[reader_id]}


def _book_finder(text: str, limit: int = 5) -> Any:
    wanted = text.lower().split()
    return {"hits": [b for b in _BOOKS if all(word in str(b).lower() for word in wanted)][:limit]}


def _exhibit_numbers(keywords: list[str]) -> Any:
    wanted = " ".join(keywords).lower().split()
    return [
        {"exhibit_id": number, "label": exhibit["label"]}
        for number, exhibit in _EXHIBITS.items()
        if any(word in str(exhibit["label"]).lower() for word in wanted)
    ]


def _exhibit_card(exhibit_id: int) -> Any:
    return "\n".join(f"{key}: {value}" for key, value in _EXHIBITS[exhibit_id].items())


def _trains(origin: str, destination: str, day: str, max_price: float | None = None) -> Any:
    return [
        train
        for train in _TRAINS
        if (train["from"], train["to"]) == (origin, destination)
        and str(train["departs"]).startswith(day)
        and (max_price is None or float(str(train["price"])) <= max_price)
    ]


def _book_train(origin: str, destination: str, day: str) -> Any:
    booked.append({"origin": origin, "destination": destination, "day": day})
    return {"confirmation": "ZX-81", "day": day}


def _object(effect: str = "read", required: str = "", **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split() or list(properties),
        "x-orchestration": {"effect": effect},
    }


_STRING: dict[str, Any] = {"type": "string"}
_JOURNEY: dict[str, Any] = {
    "origin": _STRING,
    "destination": _STRING,
    "day": {"type": "string", "format": "date"},
}

TOWN_TOOLS = (
    OfferedTool("reader_card", "The library card of a reader.", _object(full_name=_STRING), _reader_card),
    OfferedTool(
        "loans_of",
        "Books a reader has on loan, with due dates.",
        _object(reader_id={"type": "integer"}),
        _loans_of,
    ),
    OfferedTool(
        "book_finder",
        "Books in the library, by words of title, author or genre.",
        _object(required="text", text=_STRING, limit={"type": "integer", "minimum": 1}),
        _book_finder,
    ),
    OfferedTool(
        "exhibit_numbers",
        "Find the numbers of museum exhibits by keywords.",
        _object(keywords={"type": "array", "items": _STRING}),
        _exhibit_numbers,
    ),
    OfferedTool(
        "exhibit_card",
        "What the museum knows of one exhibit: material, room, when it was acquired.",
        _object(exhibit_id={"type": "integer"}),
        _exhibit_card,
    ),
    OfferedTool(
        "trains",
        "Trains between two towns on a day.",
        _object(
            required="origin destination day",
            **_JOURNEY,
            max_price={"anyOf": [{"type": "number"}, {"type": "null"}]},
        ),
        _trains,
    ),
    OfferedTool("reserve_train", "Reserve a seat on a train.", _object("write", **_JOURNEY), _book_train),
)
