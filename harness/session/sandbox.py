"""What holds the commands of a session, as values for front ends."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from harness.permissions import RuleScope
from harness.sandbox import ProfileName, SandboxState
from harness.sandbox.sandbox import Sandbox, without_secrets


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """The sandbox as it is now."""

    state: SandboxState
    hosts: Mapping[str, RuleScope]
    """Hosts that commands reach without a question, and who allowed them for how long."""
    keys: int
    """Files and folders with keys that seem empty to commands; 0 where the state is not full."""
    variables: int
    """Variables that are not inherited because their names or values promise a secret."""


def sandbox_report(sandbox: Sandbox, hosts: Mapping[str, RuleScope], inherited: tuple[str, ...]) -> SandboxReport:
    """Tries anew what the machine can enforce, and looks at the disk; call it in a thread.

    `inherited`: patterns of variables that are inherited all the same.
    """
    sandbox.look_again()
    profile = sandbox.granted(ProfileName.LOOK)
    variables = len(os.environ) - len(without_secrets(os.environ, inherited))
    return SandboxReport(sandbox.state, dict(hosts), len(profile.hidden) if profile else 0, variables)
