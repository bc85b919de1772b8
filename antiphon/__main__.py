"""`python -m antiphon`: the same as `antiphon`."""

from antiphon.cli import app

if __name__ == "__main__":
    app()
