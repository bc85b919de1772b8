"""The former path of `antiphon.replay.pytest_plugin`, for one release.

The report's header says so; a warning would stop test runs in which warnings are errors.
"""

pytest_plugins = ("antiphon.replay.pytest_plugin",)


def pytest_report_header() -> str:
    return "antiphon: `-p antiphon.recording.pytest_plugin` is now `-p antiphon.replay.pytest_plugin`"
