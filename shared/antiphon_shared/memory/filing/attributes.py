"""Words by which a sentence, or a record's field, names an attribute with one value. Pure: tables.

An attribute that may have several values at once (the films of a director, the towns that a ferry calls at)
is left out on purpose.
"""

import re

ROLES = frozenset((
    "ceo", "cfo", "cto", "coo", "president", "chair", "chairman", "chairwoman", "chairperson", "director", "head",
    "mayor", "king", "queen", "capital", "author", "owner", "winner", "manager", "coach", "captain", "editor",
    "minister", "governor", "principal", "dean", "leader", "headquarters", "spouse", "wife", "husband", "mother",
    "father", "successor", "predecessor", "currency", "assignee", "operator", "publisher", "architect", "composer",
    "founder", "birthplace", "treasurer", "teacher", "instructor", "referee", "supervisor", "trainer", "host",
    "chancellor", "conductor", "commander", "secretary", "landlord", "speaker", "champion",
))  # fmt: skip  # a text, not a column
"""Roles with one holder, a person or a place."""
NO_SINGLE_ROLE = frozenset((
    "vice", "deputy", "assistant", "former", "co", "acting", "previous", "next", "second", "third", "other", "another",
    "associate", "honorary", "regional", "cultural", "first", "past", "interim", "ex",
))  # fmt: skip  # a text, not a column
"""Words before a role that make it another role, or one with several holders."""
HELD_BY = {
    ("written", "by"): "author", ("composed", "by"): "composer", ("directed", "by"): "director",
    ("designed", "by"): "architect", ("owned", "by"): "owner", ("operated", "by"): "operator",
    ("run", "by"): "operator", ("headed", "by"): "head", ("led", "by"): "leader",
    ("edited", "by"): "editor", ("managed", "by"): "manager",
    ("assigned", "to"): "assignee", ("born", "in"): "birthplace", ("based", "in"): "headquarters",
    ("headquartered", "in"): "headquarters", ("invented", "by"): "inventor", ("discovered", "by"): "discoverer",
    ("married", "to"): "spouse", ("founded", "by"): "founder", ("won", "by"): "winner", ("chaired", "by"): "chair",
    ("published", "by"): "publisher",
}  # fmt: skip  # a table
"""Participles that a holder's name follows: `is written by`."""
DATED = {
    "founded": "founded", "established": "founded", "born": "born", "opened": "opened", "released": "released",
    "launched": "launched", "signed": "signed", "completed": "completed", "due": "due", "died": "died",
    "inaugurated": "opened", "ratified": "ratified", "abolished": "abolished", "scheduled": "held", "held": "held",
    "discovered": "discovered", "invented": "invented", "adopted": "adopted", "married": "married",
    "demolished": "demolished", "published": "published", "incorporated": "incorporated",
}  # fmt: skip  # a table
"""Participles that a date follows: `was founded in`."""
MEASURED = {
    "long": "length", "high": "height", "tall": "height", "deep": "depth", "wide": "width", "old": "age",
    "heavy": "weight", "thick": "thickness",
}  # fmt: skip  # a table
COUNTED = {
    "employs": "employees", "employed": "employees", "seats": "seats", "weighs": "weight", "weighed": "weight",
    "costs": "price", "cost": "price", "lasts": "duration", "lasted": "duration", "takes": "duration",
    "took": "duration", "covers": "area", "covered": "area",
    "has": "", "have": "", "had": "", "holds": "", "held": "", "owns": "", "owned": "", "contains": "",
    "contained": "", "comprises": "",
}  # fmt: skip  # a table
"""The counted attribute of each verb before a number; empty if the noun after the number names it."""
PAST = frozenset((
    "was", "were", "employed", "weighed", "cost", "lasted", "took", "covered", "had", "held", "owned", "contained",
))  # fmt: skip  # a text, not a column
TIMELESS = frozenset((
    "born", "died", "founded", "birthplace", "author", "architect", "founder", "inventor", "discoverer", "composer",
    "director", "publisher", "winner", "opened", "released", "launched", "signed", "completed", "ratified", "abolished",
    "held", "discovered", "invented", "adopted", "married", "demolished", "published", "incorporated", "due", "began",
    "started", "ended", "closed",
))  # fmt: skip  # a text, not a column
"""Attributes for which `was` means the same as `is`."""
_SAME = {
    form: attribute
    for attribute, forms in {
        "employees": "employee_count headcount staff number_of_employees num_employees staff_count people",
        "height": "elevation altitude", "price": "cost fee", "weight": "mass",
        "founded": "founded_in year_founded established founding_year founding_date inception foundation founded_on",
        "born": "birth_date date_of_birth birthday dob birth_year birthdate", "died": "death_date date_of_death",
        "birthplace": "place_of_birth birth_place born_in", "author": "writer written_by",
        "headquarters": "hq headquarters_location head_office", "ceo": "chief_executive chief_executive_officer",
        "status": "state availability", "opened": "opening_date opened_on", "released": "release_date released_on",
        "due": "due_date deadline", "held": "takes_place", "director": "directed_by", "operator": "operated_by",
        "capacity": "seating_capacity",
    }.items()
    for form in forms.split()
}  # fmt: skip  # a table
_UNIT_ENDINGS = (
    "km", "m", "cm", "mm", "kg", "g", "usd", "eur", "gbp", "percent", "pct", "minutes", "min", "hours", "seconds", "s",
    "ms", "c", "f", "l", "m2", "km2", "sqm",
)  # fmt: skip  # a text, not a column
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STATES = (
    ("open", "closed|shut"), ("in stock", "sold out|out of stock"), ("available", "unavailable|sold out|out of stock"),
    ("paid", "unpaid|overdue"), ("free", "paid|occupied|taken|full"), ("up|running|online", "down|offline"),
    ("active|enabled|on|running", "inactive|disabled|suspended|off|deactivated"), ("full", "empty"),
    ("approved|accepted", "rejected|declined|denied"), ("shipped|delivered", "cancelled|canceled|refunded"),
    ("confirmed", "cancelled|canceled|unconfirmed"), ("alive", "dead"), ("legal|allowed|permitted",
     "illegal|forbidden|prohibited|banned"), ("valid", "invalid|expired"), ("safe", "unsafe|dangerous"),
    ("true|correct", "false|incorrect|wrong"), ("locked", "unlocked"), ("in order|working", "out of order|broken"),
    ("mandatory|required|compulsory", "optional|voluntary"), ("public", "private|secret"),
    ("permanent", "temporary"), ("present", "absent"), ("solved|resolved|fixed", "unsolved|unresolved"),
    ("in service", "out of service"), ("passed", "failed"), ("guilty", "innocent|acquitted"),
)  # fmt: skip  # a table
_SIDES = [(one.split("|"), other.split("|")) for one, other in _STATES]
OPPOSITES = {
    word: frozenset(
        other for one, its in (*_SIDES, *((b, a) for a, b in _SIDES)) if word in one for other in its
    )
    for word in {word for sides in _SIDES for side in sides for word in side}
}
"""The states that exclude each state."""


def canonical(name: str) -> str:
    """Return the attribute that a word or a record's field names: `yearFounded`, `length_km`, `staff`."""
    words = _CAMEL.sub("_", name).lower().replace(" ", "_").replace("-", "_")
    if state_of_field(name) in OPPOSITES:
        return "status"
    if words in _SAME:
        return _SAME[words]
    stem, _, unit = words.rpartition("_")
    if stem and unit in _UNIT_ENDINGS:
        words = stem
    return _SAME.get(words, words)


def state_of_field(name: str) -> str:
    """Return the state that a field such as `in_stock` or `is_open` is named after."""
    return name.lower().removeprefix("is_").replace("_", " ")


def unit_of_field(name: str) -> str:
    """Return the unit that a field's name ends in; empty if it names none."""
    unit = _CAMEL.sub("_", name).lower().rpartition("_")[2]
    return unit if unit in _UNIT_ENDINGS else ""


DATES = frozenset(DATED.values()) | {"born", "began", "ended", "closed"}
"""Attributes whose value is a date."""
SINGLE_VALUED = (
    ROLES | DATES | frozenset(HELD_BY.values()) | frozenset(MEASURED.values()) | frozenset(_SAME.values())
    | frozenset(filter(None, COUNTED.values())) | {"population", "capacity", "pages"}
)  # fmt: skip  # one set
"""Attributes that have one value each, in any record."""
