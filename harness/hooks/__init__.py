"""Hooks: what a person attaches to fixed points of a session, without touching the loop (lessons s04).

This room is pure: it says what a hook is, what it may answer, how several answers become one, and how a command's end
is read. `executor.hooking` asks the hooks.

* `values`     points, what a hook is told, what it may answer, the decorator
* `matching`   which tools a pattern means
* `combining`  how several answers become one, and which answer means something where
* `checking`   whether an answer can be used where it was given
* `commands`   what exit code, stdout and stderr of a command say
* `declared`   hooks as a settings file writes them
* `printed`    hooks as lines for a person
"""

from harness.events import HookPoint
from harness.hooks.declaration import declared
from harness.hooks.definition import Hook, HookAnswer, HookCall, HookError, HookFunction, Verdict, hook, own_hooks
from harness.hooks.merge import Combined, Said, combined, in_one_line

__all__ = [
    "Combined",
    "Hook",
    "HookAnswer",
    "HookCall",
    "HookError",
    "HookFunction",
    "HookPoint",
    "Said",
    "Verdict",
    "combined",
    "declared",
    "hook",
    "in_one_line",
    "own_hooks",
]
