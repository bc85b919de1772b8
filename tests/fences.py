"""What stands inside a fence, read back."""


def unfence(text: str) -> str:
    """Return the text that `fence` has indented, with its own lines; replaced characters stay replaced."""
    return text.replace("\n  ", "\n")
