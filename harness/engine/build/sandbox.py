"""What holds the commands of a session to their profiles, by its settings and rules."""

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from harness.base.errors import SettingsError
from harness.base.files import home_folder
from harness.engine.permissions.session_rules import SessionRules
from harness.journal import state_folder
from harness.permissions import PermissionRule
from harness.processes.search_path import own_search_path
from harness.sandbox import SandboxLevel
from harness.sandbox.marked_files import Marks
from harness.sandbox.places import Places
from harness.sandbox.sandbox import Hosts, Sandbox
from harness.settings import Settings


def sandbox_for(settings: Settings, rules: SessionRules | None = None, hosts: Hosts | None = None) -> Sandbox:
    """The sandbox of a session. What it can enforce is found out when that is first asked.

    Args:
        rules: of the session; None: there is none, and only the state is asked.
        hosts: makes the way of a command to the hosts that it may reach.

    Raises SettingsError if the settings require more than there is.
    """
    sandbox = Sandbox(
        settings.sandbox,
        places=_places(rules, state_folder(settings.state_dir)) if rules else None,
        roots=lambda cwd: rules.workspace_at(cwd).roots if rules else (settings.workspace,),
        hosts=hosts,
        inherited=settings.sandbox_env,
        search_path=own_search_path(settings.workspace),
    )
    if settings.sandbox == "required" and sandbox.state.level is not SandboxLevel.FULL:
        state = sandbox.state.in_words
        raise SettingsError(
            f'sandbox = "required", but the sandbox here is {state}; to start without it: --sandbox auto.'
        )
    return sandbox


def _places(rules: SessionRules, state: Path) -> Callable[[], Places]:
    book = rules.permissions.book
    assert book is not None

    def is_obeyed(path: str) -> bool:
        return path == ours or book.around.run_or_obeyed(path)

    ours = os.path.realpath(state)  # perhaps in the workspace

    @lru_cache(maxsize=1)
    def places(_: tuple[PermissionRule, ...]) -> Places:
        return Places(str(home_folder()), os.environ, Marks(book.matters, is_obeyed), state / "visible-keys")

    return lambda: places(book.rules)  # a new rule may hide what was found before
