"""Messages as GitHub's workflow commands, which it shows next to the files of a change. Pure.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""


def annotation(level: str, message: str, **properties: object) -> str:
    """Return a command of a level (`error`, `warning` or `notice`), with properties such as `file` and `line`."""
    pairs = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{level} {pairs}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
