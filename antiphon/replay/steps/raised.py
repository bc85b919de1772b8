"""An error of today's code, in words."""

import traceback


def raised(error: Exception) -> str:
    """Return an error in words, with the line of code that raised it."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    place = f"{frame.f_globals.get('__name__', '')}, line {line}"
    return f"{type(error).__name__}: {error} ({place})"
