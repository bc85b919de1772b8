"""The redaction of every form of its patterns and every word of its tables: every_form.json.

After an intended change, run `python -m tests.shared.redaction.test_every_form`, and review the output.
"""

from pathlib import Path

from antiphon_shared.redaction import (
    assigned_values,
    columns,
    credentials,
    harmless,
    lines_of_files,
    near_words,
    unnamed_values,
    url_encoded,
    values_in_text,
)
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_keys import ALWAYS

from tests.kept_forms import Reader, differences, readers_of, write
from tests.rows import each_row

KEPT = Path(__file__).with_name("every_form.json")
REDACTOR = Redactor(keys=ALWAYS)
_ALL = (
    assigned_values,
    columns,
    credentials,
    lines_of_files,
    near_words,
    unnamed_values,
    url_encoded,
    values_in_text,
)
READERS = (
    Reader("text", REDACTOR.text, _ALL),
    Reader("value of a secret key", lambda form: REDACTOR.text(f'password = "{form}"'), (harmless,)),
    *readers_of(
        harmless,
        "is_harmless",
        "is_code",
        "is_option_in_sentence",
        "looks_secret",
        "looks_random",
        "looks_generated",
        "looks_like_password",
        "looks_like_token",
        "looks_like_random_password",
    ),
    *readers_of(url_encoded, "as_meant", "decoded_runs"),
)


@each_row("reader", READERS, ids=str)
def test_the_reading_of_every_form_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
