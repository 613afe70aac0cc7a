"""Beginning and end of a turn: announcements, the prompt with its facts, the last events."""

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from harness import skills
from harness.base.concurrency import in_thread, shielded, unless
from harness.base.external_text import sendable
from harness.checkpoints.git import GitError, ask
from harness.engine.hooks import SubmittedPrompt
from harness.engine.parts import AgentParts
from harness.engine.tools.attachments import attached
from harness.engine.turn import Turn
from harness.events import Block, Message, ModelSwitched, Notice, Origin, Transition, TransitionCode
from harness.media.mentions import mentions
from harness.memory import RECALL
from harness.model import notices, prompt
from harness.model.invariants import paused
from harness.policies.recovery import Continue, Stop, at_answer, before_turn
from harness.skills import SKILL

LedEnd = tuple[TransitionCode, str, str]
"""How a turn ended that a program led: the code, the reason in one line, the answer."""
GIT_S = 2.0
"""Seconds for the question of the branch."""
_ON_A_BRANCH = re.compile(r"refs/heads/(?P<name>[^\s~^:?*\[\\\x00-\x20\x7f]{1,200})\n?")


def begin(parts: AgentParts, text: str | None, model: str) -> Turn:
    """A new turn, which asks `model` first. Requests of the user from before it are dropped."""
    conversation, now = parts.core.conversation, parts.core.clock.now()
    parts.core.signals.reset()
    if not parts.breakers.announced:
        parts.breakers.announce()
    if not parts.loops.announced:
        parts.loops.announce()
    _report_notices(parts)
    parts.core.shared.rules.begin_turn()
    parts.tools.freshness.begin_turn(now)
    conversation.begin_turn(sendable(text or ""))
    if parts.models.asked != model:
        conversation.emit(ModelSwitched(parts.models.asked, model, "a new turn begins"))
        parts.models.use(model)
    if problem := parts.calls.effort_problem(model):
        conversation.emit(Notice("warning", problem))
    fallbacks = tuple(other for other in parts.core.settings.fallback_models if other != model)
    state = parts.decisions.fresh_state(model, fallbacks)
    return Turn(conversation.turn, state, _working_time(parts), conversation.spend, conversation.step)


def _working_time(parts: AgentParts) -> float:
    """Seconds on a clock that pauses while a question waits for the user."""
    return parts.core.clock.now() - parts.core.shared.asker.waited_s


async def submit(parts: AgentParts, turn: Turn, text: str | None, *, arrivals: bool) -> Stop | None:
    """Add the prompt to the history, with the facts that belong to it; Stop if a hook refuses it.

    `arrivals`: the turn delivers results from the background, perhaps a scheduled prompt.
    """
    conversation, signals = parts.core.conversation, parts.core.signals
    submitted = await parts.hooks.submit(text) if parts.hooks is not None else SubmittedPrompt(text or "")
    if stop := before_turn(turn.state, interrupted=signals.interrupt.is_set(), refused=submitted.refused):
        conversation.begin_step()
        return stop
    if text is not None:
        await join_steering(parts, turn, earlier=True)
        facts = await in_thread(partial(turn_facts, parts.core.settings.workspace, conversation.messages))
        memories = await _memory_changes(parts)
        servers = await _server_changes(parts)
        beside = _texts(facts, parts.plan_mode.notice(), memories, servers, *parts.attached.values(), submitted.context)
        parts.attached.clear()
        named = await _prompt_blocks(parts, submitted.prompt, f"{turn.number}")
        conversation.add("user", (*beside, *named), Origin.PROMPT)
    await parts.deliver(scheduled=arrivals)
    return None


async def _prompt_blocks(parts: AgentParts, text: str, key: str) -> tuple[Block, ...]:
    """What the user typed, behind the files that it names with `@`; `key` is for the ids of their calls."""
    named = mentions(text) if "@" in text else ()
    files = await attached(parts, named, key) if named else ()
    return (*files, *_texts(sendable(text)))


async def before_request(parts: AgentParts, turn: Turn) -> Stop | None:
    """Wait for the retry that is due, and add what the user typed meanwhile; Stop after an interruption."""
    await parts.decisions.wait(turn)
    last = parts.core.conversation.messages[-1:]
    if not (turn.state.continuations or any(map(paused, last))):  # the rest of a reply comes first
        await join_steering(parts, turn)
    if parts.core.signals.interrupt.is_set():
        return Stop(turn.state, "interrupted", TransitionCode.ABORTED_STREAMING)
    return None


async def join_steering(parts: AgentParts, turn: Turn, *, earlier: bool = False) -> bool:
    """Add the texts that the user gave to the turn to the history, each in a message of its own; False: none was added.

    None joins a turn that is about to end. `earlier`: only those that an earlier turn left.
    """
    conversation, inbox, joined = parts.core.conversation, parts.steering, False
    while inbox is not None and (queued := next(iter(inbox.waiting), None)) is not None:
        if parts.core.signals.interrupt.is_set() or parts.stopped_by_hook or parts.breakers.paused:
            break
        if earlier and queued.number > inbox.before_turn:
            break
        submitted = await parts.hooks.submit(queued.text) if parts.hooks else SubmittedPrompt(queued.text)
        blocks = await _prompt_blocks(parts, submitted.prompt, f"{turn.number}-s{queued.number}")
        if parts.core.signals.interrupt.is_set() or queued not in inbox.waiting:
            continue  # stopped, or taken back meanwhile
        if submitted.refused:
            inbox.take_back([queued.number])
            conversation.emit(Notice("warning", f"not sent: {submitted.refused}"))
        else:
            content = (*_texts(submitted.context), *blocks)
            inbox.deliver(queued, partial(conversation.add, "user", content, Origin.STEERING))
            turn.steered()
            joined = True
    return joined


async def may_end(parts: AgentParts, turn: Turn, stop: Stop) -> Stop | Continue:
    """What becomes of a turn that would end: a text of the user continues it, or else a stop hook may."""
    decision = await _steered(parts, turn, stop)
    if isinstance(decision, Stop) and parts.hooks is not None:
        decision = await parts.hooks.may_end(turn, decision)
        decision = await _steered(parts, turn, decision) if isinstance(decision, Stop) else decision
    return decision


async def _steered(parts: AgentParts, turn: Turn, stop: Stop) -> Stop | Continue:
    answered = stop.code is TransitionCode.COMPLETED
    return at_answer(stop, steered=answered and await join_steering(parts, turn))


async def end(parts: AgentParts, turn: Turn, stop: Stop) -> None:
    """Leave a note for the model after an end that was not its own, and emit the last events."""
    conversation = parts.core.conversation
    await parts.rollbacks.end_turn()
    if note := _note(parts, stop.code):
        conversation.add("user", _texts(note), Origin.REPAIR)
    if stop.code is TransitionCode.FAILURE_BUDGET_PAUSED:
        parts.breakers.pause()
    conversation.emit(Transition(conversation.step, stop.code, stop.reason))
    if stop.code is TransitionCode.COMPLETED and (tool := _written_call(parts, stop.keep)):
        text = (
            f"The model wrote its call of {tool} as text, so nothing was run: the server does not translate the calls"
        )
        conversation.emit(
            Notice("warning", f"{text} of this model; set its parser of tool calls, or use another model.")
        )
    if parts.board is not None and stop.code in GIVES_TASKS_BACK:
        await parts.board.turn_ended(f"the turn of its agent ended: {stop.reason}")
    _report_notices(parts)
    conversation.emit(turn.ended(stop, conversation, _working_time(parts)))


async def led(parts: AgentParts, text: str, work: Callable[[], Coroutine[None, None, LedEnd]]) -> None:
    """A turn that a program leads in place of the model: `work` is cancelled when the user interrupts it."""
    core, conversation = parts.core, parts.core.conversation
    core.shared.retries.begin_turn()
    await core.shared.open()
    turn = begin(parts, text, core.choice.model)
    working = asyncio.ensure_future(work())
    try:
        ended = await unless(core.signals.interrupt, working)
    finally:
        await shielded(asyncio.wait({working}))  # its subagents come to their ends
    code, reason, answer = ended or (TransitionCode.ABORTED_TOOLS, "interrupted", "")
    if answer:
        turn.add(_texts(answer))
    if code is TransitionCode.COMPLETED and answer:
        conversation.add("user", _texts(sendable(text)), Origin.PROMPT)
        conversation.add("assistant", _texts(sendable(answer)), Origin.REPLY)
    _report_notices(parts)
    conversation.emit(turn.ended(Stop(turn.state, reason, code), conversation, _working_time(parts)))


GIVES_TASKS_BACK = frozenset(
    {
        TransitionCode.FAILURE_BUDGET_PAUSED,
        TransitionCode.LOOP_STOPPED,
        TransitionCode.WAIT_LIMIT,
        TransitionCode.BUDGET_EXHAUSTED,
        TransitionCode.MODEL_ERROR,
        TransitionCode.API_ERROR,
        TransitionCode.MAX_TURNS,
    }
)
"""Ends of a turn after which others may take the tasks that the agent holds."""


def skill_changes(parts: AgentParts) -> str:
    """Changes of the skills since a resumed session listed them in its system prompt; empty: none."""
    if parts.toolbox.get(SKILL) is None:
        return ""
    return skills.change_notice(parts.lists.skills, parts.core.shared.skills.skills, list(_history_texts(parts)))


def _note(parts: AgentParts, code: TransitionCode) -> str:
    match code:
        case TransitionCode.ABORTED_STREAMING | TransitionCode.ABORTED_TOOLS:
            return notices.INTERRUPTION_NOTE
        case TransitionCode.FAILURE_BUDGET_PAUSED:
            return notices.PAUSE_NOTE
        case TransitionCode.LOOP_STOPPED:
            return notices.LOOP_NOTE
        case TransitionCode.WAIT_LIMIT:
            return notices.WAIT_NOTE
        case _:
            return notices.HOOK_STOPPED_NOTE if parts.stopped_by_hook else ""


_CALL_AS_TEXT = re.compile(
    r"""(?:^|\n|>)\s*(?:
        (?:<tool_call>|\[TOOL_CALLS\]\s*\[?|<\|(?:python_tag|tool_call)\|>)\s*\{[^\n]{0,40}?\s*"name"\s*:\s*"(?P<json>\w+)".*[\]}]
        |<(?:function=|invoke\s+name=")(?P<tag>\w+)"?>.*</(?:function|invoke)>
    )\s*(?:</\w+>\s*|<\|\w+\|>\s*)*$""",
    re.DOTALL | re.VERBOSE,
)
"""The end of an answer in the forms of Hermes and Qwen, Mistral, Llama, and Claude. Within quotes or a block of code
something follows, so an answer about such calls is none."""


def _written_call(parts: AgentParts, content: Sequence[Block]) -> str:
    """The tool of this agent whose call an answer ends with as text, as a server leaves it that knows no tool calls;
    empty: there is none."""
    text = str(content[-1].get("text", "")) if content else ""
    found = _CALL_AS_TEXT.search(text[-20_000:]) if text.rstrip().endswith(("}", "]", ">")) else None
    name = found and (found["json"] or found["tag"])
    return name if name and parts.toolbox.get(name) is not None else ""


async def _memory_changes(parts: AgentParts) -> str:
    """Memories added and forgotten since the system prompt was made, where the history does not mention them."""
    if parts.toolbox.get(RECALL) is None:
        return ""
    return await shielded(asyncio.to_thread(parts.core.shared.memory.changes, list(_history_texts(parts))))


async def _server_changes(parts: AgentParts) -> str:
    """Tools of MCP servers that the model has not been told of. Those that are there in time are listed in the first
    request."""
    if parts.mcp is None:
        return ""
    await parts.mcp.prepare()
    parts.calls.tools = parts.toolbox.specs()
    return parts.mcp.notice()


def _history_texts(parts: AgentParts) -> Iterator[str]:
    for message in parts.core.conversation.messages:
        yield from (str(block["text"]) for block in message.content if block.get("type") == "text")


def _report_notices(parts: AgentParts) -> None:
    """What happened to shared parts is reported in the turns of the session's agent."""
    if not parts.core.is_subagent:
        for text in parts.core.shared.take_notices():
            parts.core.conversation.emit(Notice("warning", text))


def _texts(*texts: str) -> tuple[Block, ...]:
    return tuple({"type": "text", "text": text} for text in texts if text)


# ── facts of the moment ─────────────────────────────────────────────────────────────────────────


def turn_facts(workspace: Path, messages: Sequence[Message]) -> str:
    """Date and branch as text for the newest prompt; empty when the history already says the same.

    They are not part of the system prompt, where each change would invalidate the prompt cache.
    """
    today = datetime.now().astimezone().date().isoformat()
    facts = prompt.turn_facts(today=today, branch=_branch(workspace))
    texts = (block.get("text") for message in reversed(messages) for block in reversed(message.content))
    last = next((text for text in texts if isinstance(text, str) and text.startswith(prompt.FACTS)), "")
    return "" if facts == last else facts


def _branch(workspace: Path) -> str:
    """The branch that is checked out; empty outside a repository and on a detached head, and without git.

    git is asked, because a worktree, a submodule or a reftable keeps its branch elsewhere than `.git/HEAD`. The
    repository chooses the name and the model reads it, so only what git accepts as a branch name passes
    (https://git-scm.com/docs/git-check-ref-format): no sentence can be placed there.
    """
    try:
        head = ask("symbolic-ref", "--quiet", "HEAD", cwd=workspace, time_s=GIT_S).printed.decode()
    except (GitError, UnicodeDecodeError):
        return ""
    found = _ON_A_BRANCH.fullmatch(head)
    return found["name"] if found else ""
