"""The worktrees of a workspace, and the project's check on merged ones, held like a command of the model."""

import os
from functools import partial
from pathlib import Path

from harness.base.concurrency import in_thread
from harness.engine.permissions.session_rules import SessionRules
from harness.journal import slug_of_tree, state_folder
from harness.processes import Processes
from harness.processes.outcome import ProcessLimits
from harness.sandbox import ProfileName
from harness.sandbox.git_places import main_tree
from harness.settings import Settings
from harness.tools.bash import shell_command, shell_environment
from harness.worktrees import WorktreeError, Worktrees
from harness.worktrees.merge_queue import MOST_CHARACTERS, CheckResult, RunCheck


def worktrees_for(settings: Settings, processes: Processes, session: str) -> Worktrees:
    """The worktrees of the repository around the workspace, also where that is one of them."""
    state, workspace = state_folder(settings.state_dir), settings.workspace.resolve()
    if slug_of_tree(workspace, state):
        workspace = main_tree(workspace) or workspace
    return Worktrees(processes, workspace, state, session, trusted=settings.trust_folder is True)


def check_runner(settings: Settings, rules: SessionRules, processes: Processes) -> RunCheck | None:
    """Runs `check_command` in a tree, in the profile WORK of that tree where the sandbox is full; None: it is unset."""
    if settings.check_command is None:
        return None

    async def run(tree: Path) -> CheckResult:
        rules.add_tree(tree)
        sandbox, command = processes.sandbox, settings.check_command or ""
        granted = await in_thread(partial(sandbox.granted, ProfileName.WORK, tree))
        held = granted is not None or sandbox.choice == "required"
        profile = ProfileName.WORK if held else ProfileName.FREE
        end = bytearray()

        def keep(data: bytes) -> None:
            end.extend(data)
            del end[: -4 * MOST_CHARACTERS]

        try:
            ended = await processes.run(
                shell_command(command, tree),
                cwd=tree,
                environment=shell_environment(os.environ, tree, profile),
                sink=keep,
                limits=ProcessLimits(time_s=settings.check_timeout_s),
                profile=profile,
            )
        except (OSError, ValueError) as error:
            raise WorktreeError(f"check_command {command!r} cannot be run: {error}.") from error
        how = f"ended at its time limit of {settings.check_timeout_s:g} s" if ended.timed_out else "exit code"
        code = "" if ended.timed_out else f" {ended.exit_code}"
        output = f"{end.decode('utf-8', 'replace')}\n{command}: {how}{code}"
        return CheckResult(ended.exit_code == 0 and not ended.timed_out, output)

    return run
