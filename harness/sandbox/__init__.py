"""What a command may read, write and reach, and who holds it to that.

`profile` describes it; `bubblewrap`, `landlock` and `seatbelt` enforce a description; `probe` finds out which of them
works on this machine; `Sandbox` is the one object that the rest of the program uses.
"""

from harness.sandbox.profile import (
    NOTHING_MORE,
    USUAL_TERMS,
    Access,
    Allowance,
    CommandTerms,
    Profile,
    ProfileName,
    SandboxDenial,
    SandboxError,
    SandboxLevel,
    SandboxState,
)

__all__ = [
    "NOTHING_MORE",
    "USUAL_TERMS",
    "Access",
    "Allowance",
    "CommandTerms",
    "Profile",
    "ProfileName",
    "SandboxDenial",
    "SandboxError",
    "SandboxLevel",
    "SandboxState",
]
