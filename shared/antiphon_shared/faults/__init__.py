"""Injected faults, which make a process fail at a named point. For development only.

    ANTIPHON_FAULTS="commit.before:kill@3, model.before:raise" ANTIPHON_FAULTS_ALLOWED=yes-this-is-no-production

`points` is the table of all points, `plan` parses the setting, `striking` executes it.
"""

from antiphon_shared.faults.striking import arm, pass_point

__all__ = ["arm", "pass_point"]
