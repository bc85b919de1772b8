"""What stands inside a fence, read back."""


def unfence(text: str) -> str:
    """The text that `fence` has indented, with its own lines; what it replaced stays replaced."""
    return text.replace("\n  ", "\n")
