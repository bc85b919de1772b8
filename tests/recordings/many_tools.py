"""More tools than a model is shown at once."""

from antiphon import Tool, Toolset

_PLACES = ("harbour", "lighthouse", "chapel", "school", "shipyard", "mill", "bridge", "market")
_DEEDS = ("opening hours", "height in metres", "year of building", "owner", "state of repair")
_SCHEMA = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}


def _of(place: str, deed: str) -> Tool:
    def tell(arguments: dict[str, str], context: object) -> dict[str, str]:
        return {"told": f"The {deed} of the {place} of {arguments['town']}: {len(place) + len(deed)}."}

    name = f"{place}_{deed.replace(' ', '_')}"
    return Tool(name, f"Tells the {deed} of a town's {place}.", _SCHEMA, tell, effect="read")


forty = Toolset(*(_of(place, deed) for place in _PLACES for deed in _DEEDS))
