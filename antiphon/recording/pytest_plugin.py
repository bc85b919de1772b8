"""The former path of `antiphon.replay.pytest_plugin`, for one release.

It says so in the report's header, and not by a warning, which would stop test runs where warnings are errors.
"""

pytest_plugins = ("antiphon.replay.pytest_plugin",)


def pytest_report_header() -> str:
    return "antiphon: `-p antiphon.recording.pytest_plugin` is now `-p antiphon.replay.pytest_plugin`"
