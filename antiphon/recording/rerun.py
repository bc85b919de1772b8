"""The former path of `antiphon.replay.rerun`, for one release."""

import warnings

from antiphon.replay.rerun import rerun

__all__ = ["rerun"]

warnings.warn(
    "antiphon.recording.rerun has moved: import antiphon.replay.rerun.", DeprecationWarning, stacklevel=2
)
