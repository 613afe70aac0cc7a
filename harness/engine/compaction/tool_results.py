"""The whole texts of tool results that are shown in short: files that the model can read."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from harness.events import Block, Message
from harness.policies.recovery.shrink import DRAINED_ABOVE, Round, drained, pointing
from harness.tools.files import replace_atomically


class WholeResults:
    """Keeps the whole of a result on disk before it becomes shorter in the history."""

    def __init__(self, place: Callable[[str], Path]) -> None:
        """`place` is the output file of a call; what is kept lies beside it."""
        self._place = place

    def drained(self, message: Message, call_id: str) -> Message | None:
        """The message with that result in short; None: it could not be kept on disk, so it is not taken out."""
        content = list(message.content)
        for at, block in enumerate(content):
            if block.get("tool_use_id") == call_id and isinstance(block["content"], list):
                content[at] = drained(block, "")
            elif block.get("tool_use_id") == call_id:
                if (file := self._keep(call_id, block["content"])) is None:
                    return None
                content[at] = drained(block, str(file))
        return replace(message, content=tuple(content))

    def recoverable(self, before: Sequence[Round], after: Sequence[Round]) -> tuple[Round, ...]:
        """The rounds `after` they were cut, where each result that lost something names a file with the whole of it.

        The model may not have read it yet: without the file it would make the same call again.
        """
        whole = {
            block["tool_use_id"]: block["content"]
            for group in before
            for message in group
            for block in message.content
            if block.get("type") == "tool_result" and isinstance(block.get("content"), str)
        }

        def pointed(block: Block) -> Block:
            text, shown = whole.get(block.get("tool_use_id", "")), block.get("content")
            if text is None or not isinstance(shown, str) or shown == text or len(text) <= DRAINED_ABOVE:
                return block
            file = self._keep(block["tool_use_id"], text)
            return block if file is None else {**block, "content": pointing(shown, str(file))}

        return tuple(
            tuple(replace(message, content=tuple(map(pointed, message.content))) for message in group)
            for group in after
        )

    def _keep(self, call_id: str, text: str) -> Path | None:
        """A file that holds the whole of a result from now on; never one that holds another text already."""
        place, whole = self._place(call_id), text.encode("utf-8", "backslashreplace")
        for number in count():
            file = place.with_suffix(f".old-{number}.txt" if number else ".old.txt")
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                if not file.exists():
                    replace_atomically(file, whole, private=True)
                    return file
                if file.read_bytes() == whole:
                    return file
            except OSError:
                break
        return None
