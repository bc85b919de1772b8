"""Injected faults: a process fails at a named point, as ANTIPHON_FAULTS says. For development only.

    ANTIPHON_FAULTS="commit.before:kill@3, model.before:raise" ANTIPHON_FAULTS_ALLOWED=yes-this-is-no-production

`points` is the table of all points, `plan` parses the setting, `striking` carries it out.
"""

from antiphon_shared.faults.striking import arm, pass_point

__all__ = ["arm", "pass_point"]
