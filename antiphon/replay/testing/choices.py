"""The options of a test run: the folder of recordings, the mode of recording, and the collection of the folder."""

import os
from pathlib import Path

import pytest

from antiphon.recording.recording_paths import ENDINGS

MARKER = "recording"


def path_of(request: pytest.FixtureRequest) -> Path | None:
    """Return the path of the recording that the marker names, next to the test or in the folder."""
    marker = request.node.get_closest_marker(MARKER)
    if marker is None or len(marker.args) != 1:
        return None
    test_file, folder = request.path.parent / str(marker.args[0]), folder_of(request.config)
    return test_file if folder is None or test_file.exists() else folder / str(marker.args[0])


def allowed_in(request: pytest.FixtureRequest) -> str:
    """Return the reason why steps of the test's recording may go unchecked; empty if they may not."""
    marker = request.node.get_closest_marker(MARKER)
    own = marker.kwargs.get("allow_unchecked") if marker is not None else None
    return str(own or request.config.option.antiphon_allow_unchecked)


def mode_of(config: pytest.Config) -> str:
    return str(config.option.antiphon_record)


def folder_of(config: pytest.Config) -> Path | None:
    """Return the folder of recordings; it is relative to the current directory or to pytest's root."""
    configured: str | None = config.option.antiphon_recordings
    if configured is None:
        return None
    folders = [folder / configured for folder in (config.invocation_params.dir, config.rootpath)]
    return next((folder for folder in folders if folder.is_dir()), folders[0]).resolve()


def problem_of(folder: Path) -> str:
    """Return the reason why the folder has nothing to verify; empty if it has recordings."""
    if not folder.is_dir():
        return "is not a folder"
    names = (name for *_, inside in os.walk(folder) for name in inside)
    return "" if any(name.endswith(ENDINGS) for name in names) else "contains no recordings"


def is_wanted(config: pytest.Config) -> bool:
    """Return whether recordings are collected in addition to the requested tests.

    If the folder is set in an ini file and the user names tests, only those tests run. The workers of pytest-xdist
    receive their tests.
    """
    if hasattr(config, "workerinput"):
        return False
    return is_named(config) or config.args_source is not pytest.Config.ArgsSource.ARGS


def is_named(config: pytest.Config) -> bool:
    """Return whether the folder is set on the command line, not in an ini file."""
    return any(str(one).startswith("--antiphon-recordings") for one in config.invocation_params.args)


def is_within(folder: Path, config: pytest.Config) -> bool:
    """Return whether the folder is collected anyway."""
    paths = ((config.invocation_params.dir / one.partition("::")[0]).resolve() for one in config.args)
    return any(folder == one or one in folder.parents for one in paths)
