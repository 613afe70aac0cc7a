"""Makes a history shorter: old results drained, a summary by the model, or a cut that needs no model."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Literal

from harness.base.files import replace_atomically
from harness.engine.compaction.summarizer import Summarizer, SummaryResult
from harness.engine.core import AgentCore
from harness.engine.model.calls import ModelCalls
from harness.events import Block, CompactionEnded, CompactionStarted, Json, Message
from harness.model import history, notices
from harness.model.prompt import folder_instructions_in
from harness.permissions import Mode
from harness.policies.recovery import TurnState
from harness.policies.recovery.compaction import TAIL_SHARE, TAIL_TOKENS, CompactionHealth, tail_length
from harness.policies.recovery.history_cut import (
    DRAINED_ABOVE,
    Round,
    drainable,
    drained,
    joined_end,
    middle_cut,
    pointing,
    shrink,
)
from harness.tools.propose_plan import PROPOSE_PLAN
from harness.tools.read_file import ReadFileArguments
from harness.tools.tool import ToolContext
from harness.tools.toolbox import Toolbox
from harness.tools.workspace import Workspace

Trigger = Literal["reactive", "auto", "manual"]
REQUEST_CHARACTERS = 8_000
"""The newest request of the user stays verbatim up to this length."""
RESTORED_FILES = 5
FILE_TOKENS = 5_000
FILES_TOKENS = 50_000
FILE_S = 10.0
"""Seconds for reading one of them."""
FILES_SHARE = 0.1
"""Share of the window for files that are read again after a summary."""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """How a compaction went."""

    state: TurnState
    """Retries of the summary count in the turn."""
    health: CompactionHealth


class Compactor:
    """Shortens one conversation."""

    def __init__(
        self,
        core: AgentCore,
        calls: ModelCalls,
        toolbox: Toolbox,
        open_tasks: Callable[[], Awaitable[str]] | None = None,
        ongoing: Callable[[], Awaitable[Iterable[Json]]] | None = None,
    ) -> None:
        """`open_tasks` returns the open tasks of a board as lines; None: there is no board. `ongoing` returns the work
        in the background, as stop hooks see it."""
        self._core = core
        self._calls = calls
        self._conversation = core.conversation
        self._toolbox = toolbox
        self._workspace = core.settings.workspace
        self._outputs = core.outputs
        self._processes = core.shared.processes
        self._open_tasks = open_tasks
        self._tasks_now = ""
        self._ongoing = ongoing
        self._work_now = ""
        self._whole = ResultFiles(lambda call_id: self._context(call_id).output_file)

    # ── draining ────────────────────────────────────────────────────────────────────────────────

    def drain(self, model: str, tokens: int, trigger: Trigger) -> None:
        """Shorten old tool results, oldest first, until `tokens` are saved; the whole texts go to disk."""
        messages = list(self._conversation.messages)
        before = self._calls.estimate(model, messages)
        self._conversation.emit(CompactionStarted(trigger, before))
        places = {
            block["tool_use_id"]: at
            for at, message in enumerate(messages)
            for block in message.content
            if block.get("type") == "tool_result"
        }
        ids: list[str] = []
        saved = 0
        for call_id in drainable(history.steps(messages)):
            if saved >= tokens:
                break
            at = places[call_id]
            if (shorter := self._whole.drained(messages[at], call_id)) is not None:
                saved += self._calls.saved(model, messages[at], shorter)
                messages[at] = shorter
                ids.append(call_id)
        if ids:
            self._replace(history.repaired(history.without_thinking(messages)).messages, "truncation")
            after, detail = self._calls.estimate(model, self._conversation.messages), "their whole text is on disk"
        else:
            after, detail = before, "old tool results could not be kept on disk, so they stay"
        ended = CompactionEnded("truncation", before, after, succeeded=bool(ids), detail=detail, drained=tuple(ids))
        self._conversation.emit(ended)

    # ── compaction ──────────────────────────────────────────────────────────────────────────────

    async def compact(
        self,
        state: TurnState,
        health: CompactionHealth,
        *,
        trigger: Trigger,
        refused: int | None = None,
        limit: int | None = None,
        focus: str = "",
        only_cut: bool = False,
    ) -> CompactionResult:
        """Replace the history by a summary and its newest rounds.

        When no summary can be had, an overflow is ended by a cut. Otherwise, and where nothing would be gained,
        the history stays as it is: it is never given up for less than it has to be.

        Args:
            refused: size of the refused prompt where the server named it, in its own count.
            limit: the limit that was passed, in the same count.
            focus: what the summary should pay attention to.
            only_cut: ask for no summary.
        """
        before = self._conversation.messages
        situation = self._calls.situation(state.model)
        size = situation.prompt_tokens
        self._conversation.emit(CompactionStarted(trigger, size))
        window = limit or situation.window
        if only_cut:
            summary = SummaryResult(state, "still too long after a summary", too_long=True)
        else:
            summary = await Summarizer(self._core, self._calls).ask(state, window, refused, focus)
        state = summary.state
        if self._core.signals.interrupt.is_set():
            self._conversation.emit(CompactionEnded("summary", size, size, succeeded=False, detail="interrupted"))
            return CompactionResult(state, health)
        self._tasks_now = await self._open_tasks() if self._open_tasks else ""
        ongoing = await self._ongoing() if self._ongoing else ()
        self._work_now = notices.restated_work(ongoing, _skills_read(before), _instructions_read(before))
        must_fit = trigger == "reactive" or summary.too_long
        method: Literal["summary", "truncation"] = "summary"
        messages: tuple[Message, ...] = before
        if summary.text is not None:
            messages = await self._restart(before, summary.text, min(window, size))
        elif must_fit:
            messages, method = self._cut(before, window, size), "truncation"
        messages = history.repaired(messages).messages
        after = self._calls.estimate(state.model, messages)
        if must_fit or (summary.text is not None and after < size):
            self._replace(messages, "compaction" if method == "summary" else "truncation")
            detail = summary.how
        else:
            why = summary.how if summary.text is None else "the summary would be no shorter"
            after, detail = size, f"{why}; the history stays as it is"
        done = summary.text is not None and (after < size or must_fit)
        if trigger != "manual":
            health = health.ended(size, after) if summary.text is not None else health.failed()
        elif done:
            health = health.rearmed()
        self._conversation.emit(CompactionEnded(method, size, after, done, detail))
        return CompactionResult(state, health)

    async def _restart(self, before: Sequence[Message], summary: str, room: int) -> tuple[Message, ...]:
        """The summary, the newest request verbatim, the files in use as they are now, and the newest rounds."""
        tail_budget = min(TAIL_TOKENS, int(room * TAIL_SHARE))
        rounds = joined_end(history.steps(history.without_thinking(history.without_server_tools(before))))
        sizes = [sum(self._calls.count(message) for message in group) for group in rounds]
        kept = min(tail_length(sizes, tail_budget), len(rounds) - 1)
        older, tail = rounds[: len(rounds) - kept], rounds[len(rounds) - kept :]
        if not tail and rounds[-1][-1].role == "user":
            older, tail = _before_last_reply(rounds[-1])
        tail = self._whole.recoverable(tail, shrink(tail, tail_budget, self._calls.count).rounds)
        blocks: list[Block] = [_text(notices.summary_message(summary))]
        if request := _newest_request(older, self._conversation.state.steered):
            blocks.append(_text(notices.latest(request)))
        blocks.extend(self._plan())
        blocks.extend([_text(text) async for text in self._files(older, min(FILES_TOKENS, int(room * FILES_SHARE)))])
        return (Message("user", tuple(blocks)), *(message for group in tail for message in group))

    async def _files(self, older: Sequence[Round], budget: int) -> AsyncIterator[str]:
        """The files that were read or written last, read again."""
        reader = self._toolbox.get("read_file")
        if reader is None or reader.arguments is not ReadFileArguments:
            return  # one of somebody else's making is run for the model only, and where it is allowed
        context = self._context("restored")
        for path in _files_in_use(older)[:RESTORED_FILES]:
            try:
                async with asyncio.timeout(FILE_S):
                    result = await reader.run(context, reader.parse({"path": path}))
            except TimeoutError:  # the disk does not answer: the summary has to do without this file
                continue
            text = f"{path} as it is now:\n\n{middle_cut(result.content, FILE_TOKENS * 3)}"
            size = self._calls.count(Message("user", (_text(text),)))
            if result.outcome == "ok" and size <= budget:
                budget -= size
                yield text

    def _cut(self, before: Sequence[Message], window: int, size: int) -> tuple[Message, ...]:
        """The deterministic last resort: it always gives something shorter."""
        plain = history.without_server_tools(history.without_media(before))
        rounds = joined_end(history.steps(history.without_thinking(plain)))
        raw = sum(self._calls.count(message) for message in before)
        scale = raw / size if size else 1.0
        budget = int(min(window // 2, size // 2) * scale)
        shrunk = shrink(rounds, budget, self._calls.count)
        kept = self._whole.recoverable(rounds, shrunk.rounds)
        messages = [message for group in kept for message in group]
        lead = notices.dropped_steps(shrunk.dropped) if shrunk.dropped else ""
        request = _newest_request(rounds[: shrunk.dropped], self._conversation.state.steered)
        if request:
            lead += f"\n\n{notices.latest(request)}"
        return (Message("user", (_text(lead), *self._plan())), *messages) if lead else tuple(messages)

    def _plan(self) -> Iterator[Block]:
        """Plan mode while it is on, the plan and the open tasks of the board, word for word, where something of them is
        left to do; and what runs in the background, with the skills and instruction files that were read."""
        if self._core.shared.rules.mode is Mode.PLAN:
            yield _text(notices.plan_mode_on(proposes=self._toolbox.get(PROPOSE_PLAN) is not None))
        if plan := notices.restated_plan(self._conversation.plan):
            yield _text(plan)
        if self._tasks_now:
            yield _text(notices.restated_tasks(self._tasks_now))
        if self._work_now:
            yield _text(self._work_now)

    def _context(self, call_id: str) -> ToolContext:
        return ToolContext(Workspace(self._workspace), self._outputs, call_id, self._processes)

    def _replace(self, messages: Sequence[Message], reason: Literal["compaction", "truncation"]) -> None:
        self._conversation.replace(messages, reason)
        self._calls.forget_sizes()


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _before_last_reply(group: Round) -> tuple[tuple[Round, ...], tuple[Round, ...]]:
    """The only round, with unanswered results, split before its calls."""
    at = max((at for at, message in enumerate(group) if message.role == "assistant"), default=len(group))
    return (group[:at],), (group[at:],) if group[at:] else ()


def _newest_request(rounds: Sequence[Round], steered: Collection[str]) -> str:
    """The last request of the user in these rounds, cut in the middle when it is very long; behind it what the user
    added while it was worked on (`steered`), as something that was read: alone it would be obeyed once more."""
    added: list[str] = []
    for message in reversed([message for group in rounds for message in group]):
        texts = [block["text"] for block in reversed(message.content) if block.get("text") in steered]
        if message.role == "user" and texts:
            added += texts
        results = any(block.get("type") == "tool_result" for block in message.content)
        if message.role == "user" and not (results or texts) and (request := _request_in(message)):
            later = "".join(f"\n\n{notices.ADDED_MEANWHILE}{text}" for text in reversed(added))
            return middle_cut(request + later, REQUEST_CHARACTERS)
    return ""


def _request_in(message: Message) -> str:
    """The request in a message; of one that an earlier compaction wrote, the request that it repeats."""
    texts = [str(block.get("text", "")) for block in message.content]
    for text in texts:
        if (repeated := notices.restated_request(text)) is not None:
            return repeated
    ours = any(text.startswith(notices.REWRITTEN_HISTORY) for text in texts)
    return "" if ours else message.text.strip()


def _files_in_use(rounds: Sequence[Round]) -> list[str]:
    """Paths that were read or written, newest first, each once."""
    paths = [
        block["input"]["path"]
        for group in rounds
        for message in group
        for block in message.content
        if block.get("type") == "tool_use" and block.get("name") in ("read_file", "write_file", "edit_file")
        if isinstance(block.get("input"), dict) and isinstance(block["input"].get("path"), str)
    ]
    return list(dict.fromkeys(reversed(paths)))


def _skills_read(messages: Sequence[Message]) -> list[str]:
    """Names of the skills that were read, each once, also before an earlier compaction."""
    names: list[str] = []
    for message in messages:
        for block in message.content:
            input = block.get("input")
            if block.get("type") == "tool_use" and block.get("name") == "skill" and isinstance(input, dict):
                names += [str(input["name"])] if input.get("name") else []
            else:
                names += _restated(notices.SKILLS_READ, block)
    return list(dict.fromkeys(names))


def _instructions_read(messages: Sequence[Message]) -> list[str]:
    """Paths of the instruction files of folders, each once, also from before an earlier compaction."""
    blocks = (block for message in messages for block in message.content)
    before = (path for block in blocks for path in _restated(notices.INSTRUCTIONS_READ, block))
    return list(dict.fromkeys((*before, *(path for _, paths in folder_instructions_in(messages) for path in paths))))


def _restated(lead: str, block: Block) -> list[str]:
    """What an earlier compaction listed behind `lead`."""
    found = str(block.get("text", "")).partition(lead)[2].partition("\n")[0]
    return found.split(", ") if found else []


class ResultFiles:
    """Keeps the whole of a result on disk before it becomes shorter in the history."""

    def __init__(self, place: Callable[[str], Path]) -> None:
        """`place` is the output file of a call; results are written beside it."""
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
