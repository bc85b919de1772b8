"""Pages of the forms that patterns distinguish; see pattern_forms.py."""

from collections.abc import Sequence
from typing import Any

from tests.recordings.pattern_forms import forms_in

_OF_A_PAGE = 160
FILED_FORMS = forms_in(
    "shared/antiphon_shared/memory/filing", "shared/antiphon_shared/memory/intent", "context_synthesizer"
)
NOTED_FORMS = forms_in(
    "shared/antiphon_shared/memory/note", "coordinator", "shared/antiphon_shared/text/words"
)
SHOWN_FORMS = forms_in("shared/antiphon_shared/text/fence", "context_synthesizer/render")
ANSWERED_FORMS = forms_in("response_assembler", "shared/antiphon_shared/text/citations")


def _page(forms: Sequence[str]) -> str:
    """Return a page with each form alone, as a line of its own, and within a sentence."""
    sentences = (f"The mole of kind {_shown(n)} has {form} in all." for n, form in enumerate(forms))
    return "# Forms\n\n" + "\n\n".join(part for pair in zip(forms, sentences, strict=True) for part in pair)


def _shown(n: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in str(n))


_FILED = {
    f"forms {at}": _page(FILED_FORMS[at : at + _OF_A_PAGE]) for at in range(0, len(FILED_FORMS), _OF_A_PAGE)
}
FILED = tuple(_FILED)
"""The names of the pages of what is filed."""
FORM_PAGES: dict[str, Any] = {
    **_FILED,
    "shown forms": [{"text": f"{form} lamps {form}", form: n} for n, form in enumerate(SHOWN_FORMS)],
}
