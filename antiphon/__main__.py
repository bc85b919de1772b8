"""The program: `antiphon`, the same as `python -m antiphon`."""

import sys


def main() -> None:
    """Run the command line. Ctrl-C ends it with code 130, also while its modules are imported."""
    try:
        from antiphon.cli import app  # takes most of the time until the start

        app()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
