"""Hooks: user code or commands attached to fixed points of a session. Pure; `engine/hooks` runs them."""

from harness.events import HookPoint
from harness.hooks.definition import (
    Hook,
    HookAnswer,
    HookCall,
    HookError,
    HookFunction,
    Verdict,
    declared,
    hook,
    own_hooks,
)
from harness.hooks.merge import HookNote, MergedAnswer, in_one_line

__all__ = [
    "Hook",
    "HookAnswer",
    "HookCall",
    "HookError",
    "HookFunction",
    "HookNote",
    "HookPoint",
    "MergedAnswer",
    "Verdict",
    "declared",
    "hook",
    "in_one_line",
    "own_hooks",
]
