"""How much a statement matters, whatever it is about: boilerplate little. Pure."""


def salience_of(text: str, is_json: bool) -> float:
    return 0.5
