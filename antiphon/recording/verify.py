"""The former path of `antiphon.replay.verify`, for one release."""

import warnings

from antiphon.replay.verify import Verification, verify, verify_lines

__all__ = ["Verification", "verify", "verify_lines"]

warnings.warn(
    "antiphon.recording.verify has moved: import antiphon.replay.verify.", DeprecationWarning, stacklevel=2
)
