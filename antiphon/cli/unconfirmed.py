"""The output about a decision, an answer or values that no coordinator has confirmed."""

from antiphon.cli.output import stderr, stdout
from antiphon.confirmation import unconfirmed

EXIT_UNCONFIRMED = 4


def show_confirmation(is_confirmed: bool) -> None:
    """Tell the person in a dialogue if what they sent is not confirmed."""
    if not is_confirmed:
        stderr().print(f"  sent; {unconfirmed()}", style="yellow")


def print_unconfirmed(sent: str, *, is_json: bool) -> int:
    """Print that `sent`, the beginning of a sentence, is not confirmed; return the exit code."""
    if not is_json:
        stdout().print(f"{sent}; not confirmed.")
    stderr().print(f"antiphon: {unconfirmed()}", style="yellow")
    return EXIT_UNCONFIRMED
