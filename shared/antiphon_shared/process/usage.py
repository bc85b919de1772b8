"""The command line of a component's process, which takes no arguments."""

from argparse import ArgumentParser, RawDescriptionHelpFormatter

_MORE = """\
It is configured by environment variables. ANTIPHON_REDIS_URL names the Redis; `antiphon settings` lists them all.
`antiphon run NAME` runs a component from any directory, and `antiphon up` runs all five components.
"""


def refuse_arguments(description: str) -> None:
    """Print help for `--help`, and exit with code 2 on any other argument.

    Args:
        description: the docstring of the program: "`python -m NAME`: what it does."
    """
    command, _, purpose = description.partition(": ")
    ArgumentParser(
        prog=command.strip("`"),
        description=purpose[0].upper() + purpose[1:],
        epilog=_MORE,
        formatter_class=RawDescriptionHelpFormatter,
    ).parse_args()
