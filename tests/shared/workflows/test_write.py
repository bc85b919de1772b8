"""A specification that is written out is read back as the same."""

from antiphon_shared.workflows.form import read_file
from antiphon_shared.workflows.write import as_yaml
from hypothesis import given
from hypothesis import strategies as st

from antiphon.workflows import build, load
from tests.antiphon.conftest import ROOT

TRICKY = [
    *(
        "on",
        "yes",
        "no",
        "null",
        "true",
        "~",
        "",
        " ",
        "012",
        "0x1f",
        "1e5",
        "1.0",
        "-1",
        "1_000",
        "1:30",
        ".5",
        "+1",
    ),
    *(
        "2030-01-01",
        "a: b",
        "a #b",
        "# a",
        "- a",
        "? a",
        "*a",
        "&a",
        "!a",
        "%a",
        "@a",
        "`a`",
        "|",
        ">",
        "<<",
        "=",
    ),
    *(
        "{",
        "[a]",
        "a, b",
        "'",
        '"',
        "\\",
        "a\nb",
        "a\n",
        "\ta",
        "a\u0085b",
        "a\u2028b",
        "\ufeffa",
        "é",
        "🛫",
        "$a",
    ),
    *("\x1b]52;c;x\x07", "\u202eb", "\x00", "\x7f", "a" * 300, "a b " * 100, "$$", "null ", "${a.b}"),
]


def read_back(args: dict[str, object]) -> object:
    graph = {"n": {"call": "t", "args": {"x": [args]}}}
    fields = {"domain": "d", "version": "1", "workflows": {"w": {"description": "W", "graph": graph}}}
    specification = build(fields)
    text = as_yaml(specification)
    file = read_file(text, "w.yaml")
    assert file.problems == (), text
    assert file.specification == specification, text
    return text


def test_texts_that_yaml_reads_otherwise_are_quoted() -> None:
    for text in TRICKY:
        read_back({"key": text.replace("$", "$$"), text: 1})


def test_control_characters_are_written_as_escapes() -> None:
    text = str(read_back({"key": "a\u202eb\x9b"}))
    assert '"a\\U0000202Eb\\x9B"' in text or '"a\\U0000202Eb\\U0000009B"' in text


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text().map(lambda text: text.replace("$", "$$"))
)


@given(st.dictionaries(st.text(), VALUES))
def test_any_values_are_read_back(args: dict[str, object]) -> None:
    read_back(args)


def test_the_longer_example_is_read_back() -> None:
    specification = load(ROOT / "examples/travel/workflows.yaml")
    assert read_file(as_yaml(specification), "travel").specification == specification
