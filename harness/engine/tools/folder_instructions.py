"""Gives the model the instruction files of a folder below the workspace when it first works on a file there.

They follow the tool results of that step, so that nothing before them changes and the prompt cache stays valid. A file
in the history counts as read: a resumed session does not read it again. After a compaction or a rewind that removed
it, the next call does.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from harness.base.concurrency import in_thread
from harness.engine.conversation import Conversation
from harness.engine.instruction_files import MOST_CHARACTERS, NAMES, read_folder_instructions
from harness.events import Block, Notice, ToolCall
from harness.model.prompt import Instructions, folder_instruction_text, folder_instructions_in, shown_path
from harness.settings import Settings
from harness.tools.workspace import PathError, Workspace

FILE_TOOLS = frozenset({"read_file", "write_file", "edit_file"})
"""Tools that work on one file."""


class FolderInstructions:
    """Instruction files of folders for the conversation of one agent."""

    def __init__(self, settings: Settings, conversation: Conversation, at_first: Sequence[Instructions]) -> None:
        """`at_first`: the files in the system prompt."""
        self._settings = settings
        self._workspace = Workspace(settings.workspace)
        self._conversation = conversation
        self._at_first = frozenset(Path(one.path).resolve() for one in at_first)
        self._reported: set[str] = set()

    async def after_step(self, calls: Sequence[ToolCall], results: Sequence[Block]) -> tuple[Block, ...]:
        """What the model has to know behind these results; files that cannot be used are reported once."""
        touched = set(self._touched(calls, results)) if self._settings.instructions else set()
        if not touched:
            return ()
        before = list(folder_instructions_in(self._conversation.messages))
        shown = {path for _, paths in before for path in paths}
        # A call on an instruction file has shown or written its text already.
        known = self._at_first | touched | set(_of_same_folders(shown))
        room = max(0, MOST_CHARACTERS - sum(len(text) for text, _ in before))
        problems: list[str] = []
        found = await in_thread(
            partial(read_folder_instructions, self._settings, touched, known, room, problems.append)
        )
        for text in problems:
            if text not in self._reported:
                self._reported.add(text)
                self._conversation.emit(Notice("warning", text))
        masked = self._conversation.masking.text
        new = [one for one in found if masked(shown_path(one.path)) not in shown]
        if not new:
            return ()
        names = ", ".join(self._workspace.relative(Path(one.path)) for one in new)
        self._conversation.emit(Notice("info", f"Instructions of a folder were read: {names}."))
        return ({"type": "text", "text": folder_instruction_text(new)},)

    def _touched(self, calls: Sequence[ToolCall], results: Sequence[Block]) -> Iterator[Path]:
        """The files that these calls read or changed, links resolved."""
        failed = {block.get("tool_use_id") for block in results if block.get("is_error")}
        for call in calls:
            path = call.input.get("path")
            if call.name in FILE_TOOLS and call.id not in failed and isinstance(path, str):
                try:
                    yield self._workspace.resolve(path)
                except PathError:  # the session's outputs, or a file outside that the user allowed
                    continue


def _of_same_folders(shown: Iterable[str]) -> Iterator[Path]:
    """The instruction files of a folder, if any of them was shown: the others of the folder had the same text."""
    for path in map(Path, shown):
        folder = path.parent.parent if path.parent.name == ".claude" else path.parent
        yield from (folder / name for name in NAMES if path.name in NAMES)
