"""What a user does in a conversation besides prompting: shell commands, compaction, a new beginning."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType, MappingProxyType

from harness.base.concurrency import race, unless
from harness.base.errors import HarnessError
from harness.base.external_text import counted, sendable
from harness.base.files import read_regular, replace_atomically
from harness.engine.core import AgentCore
from harness.engine.decision_runner import DecisionRunner
from harness.engine.model.calls import ModelCalls
from harness.engine.permissions.asker import ask_permission
from harness.engine.rewind.rollback import Rollbacks
from harness.engine.worktrees import check_runner
from harness.events import OWN_COMMAND, Event, Notice, Origin, ToolEnded, ToolOutcome, ToolStarted, WorktreeLeft
from harness.model import notices
from harness.model.prompt import FURTHER_FOLDERS
from harness.permissions import PermissionRequest
from harness.processes import ProcessLimits
from harness.tools.bash import SECRETS, bash_tool, shell_command
from harness.tools.diff import unified_diff
from harness.tools.tool import Effect, ToolCancelled, ToolContext, ToolResult, category_of
from harness.tools.workspace import PathError, Workspace, added_folder
from harness.worktrees import WorktreeError, Worktrees
from harness.worktrees.merge_queue import MergeQueue


def _left_to_command(number: int, frame: FrameType | None) -> None:
    """The terminal sends the signal to the command as well. To ignore it here would ignore it there, too."""


TRUST = """\
Add only a folder whose files you trust: commands run in it, and its files are read to the model.
Its settings, hooks, skills and instructions are not read."""
TellAuthor = Callable[[str, str], Awaitable[None]]
"""Tells whoever works on a branch that it was given back; takes the branch and the output."""
MOST_BYTES = 1_000_000
"""Of a file that is offered."""
HANDLED_BY_COMMAND: Mapping[signal.Signals, Callable[[int, FrameType | None], None] | signal.Handlers] = (
    MappingProxyType({signal.SIGINT: _left_to_command, signal.SIGTSTP: signal.SIG_IGN})
)
"""Signals of the keyboard while a command has the terminal."""


class UserCommands:
    """Carries out commands of the user, one after another and never during a turn."""

    def __init__(
        self,
        core: AgentCore,
        decisions: DecisionRunner,
        calls: ModelCalls,
        rollbacks: Rollbacks,
        attached: dict[str, str],
    ) -> None:
        """`attached`: texts for the next prompt; `clear` drops them."""
        settings = core.settings
        self._core = core
        self._conversation = core.conversation
        self._signals = core.signals
        self._turns = core.turns
        self._decisions = decisions
        self._calls = calls
        self._rollbacks = rollbacks
        self._attached = attached
        self._workspace = Workspace(settings.workspace)
        self._outputs = core.outputs
        self._processes = core.shared.processes
        self._bash = bash_tool(ProcessLimits(time_s=settings.bash_timeout_s), settings.result_characters)

    def shell(self, command: str) -> AsyncGenerator[Event, None]:
        """Run a shell command of the user and yield its events; the model reads of it with the next request.

        It needs no permission, no breaker counts it, and practised faults leave it alone. `interrupt` ends it, and so
        does its time limit. Raises HarnessError for an empty command.
        """
        if not command.strip():
            raise HarnessError("There is no command; type for example !ls.")
        return self._turns.events(partial(self._shell, command))

    async def with_terminal(self, command: str) -> int:
        """Run a command line on our terminal, which must be free; the model does not learn of it.

        Ctrl+C belongs to the command. Ctrl+Z does nothing in it, because nothing could bring it back. Returns its exit
        code, or the negative number of the signal that ended it. Raises HarnessError if it cannot be started.
        """
        environment = {name: value for name, value in os.environ.items() if name not in SECRETS}
        before = {number: signal.signal(number, how) for number, how in HANDLED_BY_COMMAND.items()}
        process = None
        try:
            process = await asyncio.create_subprocess_exec(
                *shell_command(command, self._workspace.root), cwd=self._workspace.root, env=environment
            )
            return await process.wait()
        except (OSError, ValueError) as error:
            raise HarnessError(f"The command could not be started: {error}") from error
        finally:
            if process is not None and process.returncode is None:
                process.terminate()
            for number, handler in before.items():
                signal.signal(number, handler)

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Compact the history now; `focus` says what the summary should pay attention to."""
        return self._turns.events(partial(self._compact, focus))

    def clear(self) -> None:
        """Begin a new conversation. The journal keeps the old one."""
        self._conversation.replace((), "clear")
        self._attached.clear()
        self._calls.forget_conversation()

    def offer_file(self, name: str, text: str) -> AsyncGenerator[Event, None]:
        """Show what a file of the workspace would become, ask, and write it.

        Nothing is written without a yes, nor where the file has changed since the question. Raises HarnessError where
        no user is present.
        """
        return self._turns.events(partial(self._offer_file, name, text))

    async def _offer_file(self, name: str, text: str) -> None:
        self._signals.reset()
        file = self._workspace.resolve(name)
        before = _content(file)
        change = unified_diff(before.decode("utf-8", "replace"), text, name)
        if not change.lines:
            self._conversation.emit(Notice("info", f"{name} says the same already."))
            return
        what = f"change {name}" if before else f"write {name}, {counted(text.count(chr(10)), 'line')}"
        if not self._core.asker.present:
            raise HarnessError(
                f"{name} is not written: no user is present to agree. Type /init at a terminal, or keep the text."
            )
        request = PermissionRequest(f"offer-{name}", "init", Effect.WRITE, what, detail=str(change), input={})
        why = "the text above would be written"
        answer = await ask_permission(self._core.asker, self._conversation, self._signals.interrupt, request, why)
        if answer is None or answer.choice == "no":
            self._conversation.emit(Notice("info", f"{name} is not written."))
        elif _content(file) != before:
            self._conversation.emit(Notice("warning", f"{name} has changed meanwhile and is left as it is."))
        else:
            await self._rollbacks.keep_files()
            replace_atomically(file, text.encode())
            await self._rollbacks.end_turn()
            self._conversation.emit(Notice("info", f"{name} is written; sessions read it when they begin."))

    def add_folder(self, folder: Path) -> AsyncGenerator[Event, None]:
        """Ask whether tools may use a folder like the workspace, and let them; the model reads so with the next prompt.

        Raises HarnessError for a path that is no folder.
        """
        return self._turns.events(partial(self._add_folder, folder))

    async def _add_folder(self, folder: Path) -> None:
        self._signals.reset()
        rules = self._core.shared.rules
        try:
            resolved = added_folder(self._workspace.root / folder.expanduser())
        except PathError as error:
            raise HarnessError(str(error)) from error
        if any(map(resolved.is_relative_to, rules.workspace.roots)):
            raise HarnessError(f"{resolved} can be used already.")
        what, why = f"use {resolved} like the workspace", "its files can be read and, in the same way, changed"
        request = PermissionRequest(f"folder-{resolved}", "add-dir", Effect.WRITE, what, detail=TRUST, input={})
        answer = await ask_permission(self._core.asker, self._conversation, self._signals.interrupt, request, why)
        if answer is None or answer.choice == "no":
            remedy = "" if self._core.asker.present else " No user is present to ask; start with --add-dir."
            self._conversation.emit(Notice("info", f"{resolved} is not added.{remedy}"))
            return
        rules.add_folder(resolved)
        if self._core.shared.mcp is not None:
            await self._core.shared.mcp.roots_changed()
        self._attached["folders"] = f"<folders>\nThe user added folders. {_further(rules.workspace)}\n</folders>"

    def remove_worktree(self, worktrees: Worktrees, name: str) -> AsyncGenerator[Event, None]:
        """Show what would be lost with a worktree, ask, and remove it. Raises HarnessError where it cannot be."""
        return self._turns.events(partial(self._remove_worktree, worktrees, name))

    async def _remove_worktree(self, worktrees: Worktrees, name: str) -> None:
        self._signals.reset()
        tree, found = await worktrees.find(name), await worktrees.removal(name)
        if worktrees.uses(tree):
            raise WorktreeError(
                f"This session works in the worktree {name}; it goes away at its end if it is unchanged."
            )
        if not (found.free or found.forbidden):
            if not self._core.asker.present:
                raise WorktreeError(f"The worktree {name} is not removed: no user is present. {'; '.join(found.lines)}")
            request = PermissionRequest(
                *(f"worktree-{name}", "worktree", Effect.WRITE, f"remove the worktree {name}"),
                detail="\n".join(found.lines),
                input={},
                dangers=found.lost,
            )
            asking = (self._core.asker, self._conversation, self._signals.interrupt, request)
            answer = await ask_permission(*asking, "it holds what is not elsewhere", found.lines)
            if answer is None or answer.choice == "no":
                self._conversation.emit(Notice("info", f"The worktree {name} stays."))
                return
        kept = await worktrees.remove(name, found)
        held = (*found.kept, *found.lost)
        self._conversation.emit(WorktreeLeft(name, str(tree.path), removed=True, why=held, kept=kept))

    def merge_worktrees(
        self, worktrees: Worktrees, names: Sequence[str], tell: TellAuthor | None = None
    ) -> AsyncGenerator[Event, None]:
        """Merge the branches of these worktrees, or of all finished ones, behind the check; each decision is an event.

        `tell`: tells the author of a branch that is given back; None: the session has no members. Raises HarnessError.
        """
        return self._turns.events(partial(self._merge_worktrees, worktrees, names, tell))

    async def _merge_worktrees(self, worktrees: Worktrees, names: Sequence[str], tell: TellAuthor | None) -> None:
        self._signals.reset()
        shared = self._core.shared
        check = check_runner(self._core.settings, shared.rules, shared.processes)
        queue = MergeQueue(worktrees, check, self._conversation.emit)
        result = await unless(self._signals.interrupt, queue.run(names))
        if result is None:
            self._conversation.emit(Notice("warning", "The merge queue was interrupted; /worktree merge continues it."))
        elif tell is not None:
            for one in result.given_back:
                await tell(one.branch, one.detail)

    async def _compact(self, focus: str) -> None:
        await self._core.shared.open()
        self._signals.reset()
        await self._decisions.compact_by_hand(self._core.choice.model, focus)

    async def _shell(self, command: str) -> None:
        """Run the command until it ends or is interrupted; its children end with it."""
        conversation, tool, command = self._conversation, self._bash, sendable(command)
        self._signals.reset()
        call_id = f"{OWN_COMMAND}{conversation.state.own_commands + 1}"
        input = {"command": command}
        conversation.emit(ToolStarted(call_id, tool.name, tool.summarise(input), input))
        place = (self._workspace, self._outputs, call_id, self._processes)
        context = ToolContext(*place, show_output=conversation.emit)
        clock = asyncio.get_running_loop().time
        began = clock()
        running = asyncio.ensure_future(tool.run(context, tool.parse(input)))
        try:
            await race(running, self._signals.interrupt.wait())
        finally:
            await asyncio.wait({running})
            conversation.masking.file(context.output_file)
            self._report(call_id, command, _result(running), clock() - began)

    def _report(self, call_id: str, command: str, result: ToolResult, seconds: float) -> None:
        whole = str(result.full_output) if result.full_output else None
        self._conversation.emit(
            ToolEnded(
                *(call_id, self._bash.name, result.outcome, result.summary, seconds, result.detail, whole),
                detail_of=result.detail_of,
            )
        )
        note = sendable(notices.user_command_note(command, result.content))
        self._conversation.add("user", ({"type": "text", "text": note},), Origin.SHELL)


def _further(workspace: Workspace) -> str:
    return FURTHER_FOLDERS.format(", ".join(map(workspace.relative, workspace.added)))


def _content(file: Path) -> bytes:
    """What a file holds; empty: there is none. Raises HarnessError where it cannot be read."""
    try:
        return read_regular(file, MOST_BYTES)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise HarnessError(f"{file} cannot be read: {error.strerror or error}.") from error


def _result(ended: "asyncio.Future[ToolResult]") -> ToolResult:
    try:
        return ended.result()
    except ToolCancelled as cancelled:
        content = f"{cancelled.result.content}\n\n[interrupted by the user]".lstrip("\n")
        return replace(cancelled.result, content=content)
    except asyncio.CancelledError:
        return ToolResult("[interrupted by the user]", ToolOutcome.CANCELLED, "interrupted")
    except Exception as error:  # noqa: BLE001 (shown as the end of the command)
        text = f"The command could not be run: {type(error).__name__}: {error}"
        return ToolResult(text, ToolOutcome.BROKEN, text, category=category_of(error))
