"""A command that the person runs in the middle of a conversation; the model learns of it with the next request."""

import asyncio
from pathlib import Path

from harness.base.surrogates import sendable
from harness.engine.conversation import Conversation
from harness.engine.signals import Signals
from harness.events import OWN_COMMAND, Origin, ToolEnded, ToolOutcome, ToolStarted
from harness.model import prompt
from harness.processes import Limits, Processes
from harness.tools.bash import bash_tool
from harness.tools.tool import ToolContext, ToolResult, category_of
from harness.tools.workspace import Workspace


class OwnCommands:
    """Runs what the person typed, by the tool bash, but as their own act: no permission is asked, no breaker counts
    it, and no practised fault breaks it."""

    def __init__(
        self,
        conversation: Conversation,
        signals: Signals,
        *,
        workspace: Path,
        outputs: Path,
        processes: Processes,
        time_s: float,
        result_characters: int,
    ) -> None:
        """
        Args:
            workspace: the folder that commands start in.
            outputs: folder for output too long for the history.
            processes: starts the commands.
            time_s: seconds after which a command is ended.
            result_characters: most characters of output that the model is told.
        """
        self._conversation = conversation
        self._signals = signals
        self._workspace = Workspace(workspace)
        self._outputs = outputs
        self._processes = processes
        self._tool = bash_tool(Limits(time_s=time_s), result_characters)

    async def run(self, command: str) -> None:
        """Run the command until it ends or is interrupted; its children end with it."""
        conversation, tool, command = self._conversation, self._tool, sendable(command)
        self._signals.reset()
        conversation.own_commands += 1
        call_id = f"{OWN_COMMAND}{conversation.own_commands}"
        input = {"command": command}
        conversation.emit(ToolStarted(call_id, tool.name, tool.summarise(input), input))
        context = ToolContext(self._workspace, self._outputs, call_id, self._processes)
        began = asyncio.get_running_loop().time()
        running = asyncio.ensure_future(tool.run(context, tool.parse(input)))
        interrupted = asyncio.ensure_future(self._signals.interrupt.wait())
        try:
            await asyncio.wait({running, interrupted}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            interrupted.cancel()
            running.cancel()
            (ended,) = await asyncio.gather(running, return_exceptions=True)
            self._conversation.masking.file(context.output_file)
            self._tell(call_id, command, _result(ended), asyncio.get_running_loop().time() - began)

    def _tell(self, call_id: str, command: str, result: ToolResult, seconds: float) -> None:
        whole = str(result.full_output) if result.full_output else None
        self._conversation.emit(
            ToolEnded(
                *(call_id, self._tool.name, result.outcome, result.summary, seconds, result.detail, whole),
                detail_of=result.detail_of,
            )
        )
        note = sendable(prompt.own_command_note(command, result.content))
        self._conversation.add("user", ({"type": "text", "text": note},), Origin.SHELL)


def _result(ended: ToolResult | BaseException) -> ToolResult:
    match ended:
        case ToolResult():
            return ended
        case asyncio.CancelledError():
            return ToolResult("[interrupted by the person]", ToolOutcome.CANCELLED, "interrupted")
        case _:
            text = f"The command could not be run: {type(ended).__name__}: {ended}"
            return ToolResult(text, ToolOutcome.BROKEN, text, category=category_of(ended))
