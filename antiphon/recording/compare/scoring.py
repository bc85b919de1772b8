"""The former path of `antiphon.replay.compare.scoring`, for one release."""

import warnings

from antiphon.replay.compare.scoring import Score

__all__ = ["Score"]

warnings.warn(
    "antiphon.recording.compare.scoring has moved: import antiphon.replay.compare.scoring.",
    DeprecationWarning,
    stacklevel=2,
)
