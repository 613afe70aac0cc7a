"""The table from event to line, for every front end and for exported pages."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from harness.base.clock import time_of_day
from harness.base.external_text import counted
from harness.events import (
    ADDED_FOLDER,
    AdmissionClosed,
    BreakerChanged,
    BreakerState,
    BudgetReached,
    CascadeChanged,
    CascadePhase,
    ChangeReason,
    CompactionEnded,
    CompactionStarted,
    ConversationBreakerChanged,
    Dispatch,
    Dispatched,
    DropReason,
    Event,
    FailureCharged,
    FaultOrdered,
    HistoryRepaired,
    HistoryReplaced,
    HookFailed,
    HookOutcome,
    HookRan,
    Intervened,
    JobChanged,
    JobFired,
    JobMissed,
    LateResult,
    LoopAnswered,
    LoopAsked,
    LoopChoice,
    LoopFound,
    LoopLeft,
    LoopPolicySet,
    McpServerChanged,
    McpState,
    MergeDecided,
    ModelSwitched,
    Notice,
    OutputCapChanged,
    PermissionAnswered,
    PermissionAsked,
    PhaseStarted,
    PlanHandedOver,
    PlanReminded,
    Projection,
    QuestionAnswered,
    QuestionAsked,
    RejectionReason,
    RequestHeld,
    ResultLabelled,
    RetryBudgetSpent,
    RetryEnded,
    RetryScheduled,
    RolledBack,
    Rung,
    SandboxFound,
    SandboxRefused,
    SessionResumed,
    SettingChanged,
    SilenceHint,
    Source,
    TaskChanged,
    TaskState,
    ThinkingOmitted,
    ToolOutcome,
    Transition,
    TransitionCode,
    TurnEnded,
    WaitAnswered,
    WaitOffered,
    WebUsed,
    WorkDropped,
    WorkRejected,
    WorktreeEntered,
    WorktreeLeft,
)
from harness.policies.breakers.health_table import BREAKER_WORDS
from harness.session import RUNGS, described
from harness.ui.folds.model import held_in_words
from harness.ui.lines.line import Line, Tone, dollars, priced, seconds

LATE_S = 60.0
"""A fire that is later than this says so."""
EXPLAINED = frozenset(
    {
        TransitionCode.MAX_OUTPUT_TOKENS_EFFORT,
        TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY,
        TransitionCode.TOKEN_BUDGET_CONTINUATION,
        TransitionCode.COLLAPSE_DRAIN_RETRY,
    }
)
"""Transitions that no other event reports."""


def line_of(event: Event) -> Line | None:
    """The line for an event that reports trouble, a change or a wait; None for all others."""
    match event:
        case RetryScheduled():
            return Line("↻", _retry(event), Tone.TROUBLE)
        case RetryBudgetSpent(retries=retries, requests=requests):
            used = f"{counted(retries, 'retry', 'retries')} for {counted(requests, 'request')}"
            return Line("✗", f"no more retries: the agents together have used all they share, {used}", Tone.TROUBLE)
        case RequestHeld():
            return Line("◌", f"{event.model} waits: {held_in_words(event)}", Tone.TROUBLE)
        case RetryEnded(why="asked"):
            return Line("↻", "trying now")
        case WaitOffered():
            return Line("◌", f"the server asks for a wait of {seconds(event.seconds)}: {event.detail}", Tone.TROUBLE)
        case WaitAnswered(choice):
            return Line("◌", {"wait": "waiting", "switch": "asking another model", "stop": "not waiting"}[choice])
        case ModelSwitched():
            return Line("→", f"{event.to_model} answers instead of {event.from_model}: {event.reason}", Tone.TROUBLE)
        case SettingChanged():
            return Line("→", _setting(event))
        case FaultOrdered():
            return Line("↯", f"fault injected: {event.typed}", Tone.TROUBLE)
        case OutputCapChanged():
            return Line("↻", f"output cap {event.from_cap:,} → {event.to_cap:,} tokens: {event.reason}", Tone.TROUBLE)
        case Transition(code=code) if code in EXPLAINED:
            return Line("↻", event.reason, Tone.TROUBLE)
        case CompactionStarted():
            return Line("◌", f"compacting a history of about {event.tokens_before:,} tokens")
        case CompactionEnded():
            return _compacted(event)
        case PermissionAnswered(answer="always", tool=tool):
            return Line("·", f"{tool} will not ask for this again")
        case TaskChanged(task=task, subject=subject, what="expire", text=why, state=state):
            now = "open again" if state is TaskState.PENDING else "set aside after too many attempts"
            return Line("○", f"{task} is {now} ({why}): {subject}", Tone.TROUBLE)
        case PlanHandedOver():
            return Line("→", "a new conversation carries out the plan")
        case PlanReminded(steps=steps, left=left):
            return Line("·", f"reminded the model of its plan after {counted(steps, 'step')}; open: {'; '.join(left)}")
        case BudgetReached(percent=percent, cost_usd=cost, budget_usd=budget):
            text = f"{percent} % of the budget is spent: {dollars(cost)} of {dollars(budget)}"
            return Line("$", text, Tone.QUIET if percent < 80 else Tone.TROUBLE)
        case HistoryRepaired(repairs=repairs):
            return Line("·", f"history repaired before sending: {'; '.join(_repairs(repairs))}")
        case HistoryReplaced(reason="media" | "thinking" as reason):
            return Line("·", f"history sent without {reason}")
        case WebUsed(tool=tool, asked=asked, failed=failed):
            mark, word, tone = ("✗", "failed, ", Tone.TROUBLE) if failed else ("✓", "", Tone.QUIET)
            return Line(mark, f"{' '.join(f'{tool} {asked}'.split())}: {word}{event.outcome}", tone)
        case ThinkingOmitted(reason=reason):
            return Line("·", f"earlier thinking is left out from here on: {reason}")
        case SilenceHint():
            silence = f"silent for {seconds(event.silent_s)} ({event.phase})"
            return Line("◌", f"the model is {silence}; asks again in {seconds(event.gives_up_in_s)}", Tone.TROUBLE)
        case Notice(level="info", text=text):
            return Line("·", text)
        case Notice(level=level, text=text):
            return Line("!", f"{level}: {text}", Tone.BAD if level == "error" else Tone.TROUBLE)
        case _:
            return next(filter(None, (line(event) for line in _OF_SUBJECTS)), None)


def _repairs(repairs: Sequence[str]) -> Iterator[str]:
    """The repairs without numbers of messages and ids of calls, equal ones once; the journal has them in full."""
    kinds = Counter(re.sub(r"^message \d+: |,? of the call \S+$", "", one) for one in repairs)
    return (f"{kind} ({count} times)" if count > 1 else kind for kind, count in kinds.items())


def _setting(event: SettingChanged) -> str:
    match event:
        case SettingChanged(name=setting, value=folder) if setting == ADDED_FOLDER:
            return f"{folder} can be used like the workspace"
        case SettingChanged(name="sandbox_hosts", value=hosts, removed=True):
            return f"commands in the sandbox ask about {hosts} again"
        case SettingChanged(name="sandbox_hosts", value=hosts):
            return f"commands in the sandbox may reach {hosts}"
        case _:
            return f"{event.name.replace('_', ' ')} is now {'without ' if event.removed else ''}{event.value}"


def _retry(event: RetryScheduled) -> str:
    status = f" ({event.status})" if event.status else ""
    what = "" if event.scope == "model" else f" of the {event.scope}"
    due = f"retry{what} {event.attempt} of {event.max_attempts} in {seconds(event.delay_s)}"
    category = event.category.replace("_", " ")
    detail = f", {event.detail}" if event.detail.lower() != category else ""
    return f"{due}: {category}{status}{detail}"


def _compacted(event: CompactionEnded) -> Line:
    sizes = f"about {event.tokens_before:,} → {event.tokens_after:,} tokens"
    if not event.succeeded and event.tokens_after < event.tokens_before:
        return Line("→", f"the oldest part was cut without a summary: {sizes} ({event.detail})", Tone.TROUBLE)
    if not event.succeeded:
        return Line("✗", f"compaction failed: {event.detail}", Tone.TROUBLE)
    if event.tokens_after >= event.tokens_before:
        return Line("✗", f"compaction gained nothing: {sizes}", Tone.TROUBLE)
    detail = f" ({event.detail})" if event.detail else ""
    if event.drained:
        return Line("✓", f"shortened {counted(len(event.drained), 'old tool result')}: {sizes}{detail}")
    return Line("✓", f"compacted by {event.method}: {sizes}{detail}")


# ── breakers ────────────────────────────────────────────────────────────────────────────────────

BY_HAND = frozenset({ChangeReason.TRIPPED, ChangeReason.ISOLATED, ChangeReason.RELEASED, ChangeReason.RESET})


def _breaker_line(event: Event) -> Line | None:
    match event:
        case Dispatched(dispatch=Dispatch.PROBE):
            return Line("◌", event.detail, Tone.TROUBLE)
        case Dispatched(in_place_of=skipped) if skipped:
            return Line("→", f"{event.tool} in place of {skipped}")
        case BreakerChanged() if event.before is not event.after or event.why in BY_HAND:
            return _breaker_changed(event)
        case FailureCharged() if event.cost and event.budget - 1 <= event.consumed <= event.budget:
            left = "one more failure pauses the turn" if event.consumed < event.budget else "the turn pauses"
            return Line("!", f"failure budget: {event.consumed} of {event.budget} used; {left}", Tone.TROUBLE)
        case CascadeChanged():
            return _cascade(event)
        case LateResult():
            return Line("·", f"a result of {event.tool} came too late to count")
        case ResultLabelled():
            return Line("!", f"{event.tool}: the result is {event.label}: {event.evidence}", Tone.TROUBLE)
        case _:
            return None


def _breaker_changed(event: BreakerChanged) -> Line | None:
    name = event.key.removeprefix("model:")
    match event.why:
        case ChangeReason.THRESHOLD | ChangeReason.PROBE_FAILED:
            times = "once" if event.failures == 1 else f"{event.failures} times in a row"
            probe = f"; tried again from step {event.probe_at} on" if event.probe_at is not None else ""
            detail = f" ({event.detail})" if event.detail else ""
            if event.key != name:  # another model answers, if there is one; else this one is asked again
                return Line("✗", f"{name} failed {times}{detail}", Tone.BAD)
            return Line("✗", f"{name} is paused: it failed {times}{detail}{probe}", Tone.BAD)
        case ChangeReason.PROBE_SUCCEEDED:
            return Line("✓", f"{name} works again")
        case ChangeReason.PROBE_GIVEN:
            return None  # reported by the decision about the call, or by the turn that begins on its own model
        case ChangeReason.PROBE_LOST | ChangeReason.PROBE_RELEASED:
            return Line("→", f"{name} stays paused: the try did not show whether it works", Tone.TROUBLE)
        case _:
            tone = Tone.QUIET if event.after is BreakerState.CLOSED else Tone.TROUBLE
            return Line("→", f"{name} is {BREAKER_WORDS[event.after]}: {event.why.value.replace('_', ' ')}", tone)


def _cascade(event: CascadeChanged) -> Line:
    tools = ", ".join(event.tools)
    match event.phase:
        case CascadePhase.SUSPECTED:
            return Line("!", f"{tools} fail in the same way: {event.root}", Tone.TROUBLE)
        case CascadePhase.SYSTEMIC:
            probed = event.probe_at is not None
            when = f"one of them is tried from step {event.probe_at} on" if probed else "/confirm when it is over"
            return Line("✗", f"{tools} fail from one cause: {event.root}; {when}", Tone.BAD)
        case CascadePhase.RECOVERING:
            return Line("◌", f"the cause seems to be over; still to be tried: {tools}", Tone.TROUBLE)
        case CascadePhase.OVER:
            return Line("✓", "all tools that failed together work again")


# ── loops ───────────────────────────────────────────────────────────────────────────────────────

PROJECTIONS: Mapping[Projection, str] = MappingProxyType(
    {
        Projection.ACTION: "same calls",
        Projection.INTERACTION: "same calls, same results",
        Projection.ERROR: "same error",
        Projection.NODE: "same places",
        Projection.STATE: "same state",
        Projection.STAGNATION: "same call among others",
        Projection.POLL: "asked too often",
        Projection.TEXT: "same text",
    }
)
"""What repeats."""
REPORTED_BY_OTHERS = (Rung.ROLLBACK, Rung.HUMAN, Rung.STOP)
"""Rungs with an event of their own that says more."""
ANSWERS = {
    LoopChoice.CONTINUE: "you let it continue",
    LoopChoice.OFF: "you turned loop intervention off for this session",
    LoopChoice.ROLL_BACK: "you send it back to before the loop",
    LoopChoice.STOP: "you stop it",
}
MOST_PATHS = 5
"""Files that are named; the rest is counted."""


def _loop_line(event: Event) -> Line | None:
    match event:
        case LoopFound(loop=loop, relapse=relapse):
            heading = f"{'possible ' if loop.weak else ''}loop{' again' if relapse else ''}"
            return Line("⟳", f"{heading}: {described(loop)}", Tone.TROUBLE)
        case Intervened(applied=False):
            return Line("○", f"{_rung(event)} is not possible: {event.detail}")
        case Intervened(rung=rung) if rung not in REPORTED_BY_OTHERS:
            return Line("↳", f"{_rung(event)}: {event.detail}", Tone.TROUBLE)
        case LoopAsked(loop=loop):
            return Line("?", f"what to do about {described(loop)}", Tone.TROUBLE)
        case LoopAnswered(choice=choice):
            return Line("·", ANSWERS[choice])
        case LoopLeft(projection=projection, freed_by=freed_by):
            what = PROJECTIONS[projection]
            if freed_by is None:
                return Line("·", f"the loop is over ({what})")
            return Line("✓", f"out of the loop ({what}) after: {RUNGS[freed_by]}")
        case RolledBack():
            return Line("↩", _rolled_back(event), Tone.TROUBLE)
        case LoopPolicySet(enabled=False):
            return Line("→", "loop intervention is off; loops are only reported")
        case LoopPolicySet(changed=changed) if changed:
            return Line("→", f"loop detection changed from default: {', '.join(changed)}")
        case _:
            return None


def _rung(event: Intervened) -> str:
    of = f" {event.number} of {event.quota}" if event.quota > 1 else ""
    return f"{RUNGS[event.rung]}{of}"


def _rolled_back(event: RolledBack) -> str:
    parts = []
    if event.why == "loop":
        parts.append(f"rolled back to the end of step {event.step}: the model does not see later messages")
    if event.files_restored:
        parts.append(f"{_THEN[event.why].format(turn=event.turn)}: {_listed(event.files_restored)}")
    else:
        parts.append("files stay as they are")
    if event.not_undone:
        parts.append(f"not undone: {_listed(event.not_undone)}")
    if event.why == "rewind" and event.files_restored:
        parts.append("/rewind undo restores them")
    return "; ".join(parts)


_THEN = {
    "loop": "as they were then",
    "rewind": "as they were before turn {turn}",
    "undo": "as they were before the rewind",
}


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_PATHS
    return ", ".join(names[:MOST_PATHS]) + (f" and {more:,} more" if more > 0 else "")


# ── hooks ───────────────────────────────────────────────────────────────────────────────────────

_HOOK_OUTCOMES = {
    HookOutcome.ADDED: "added context",
    HookOutcome.CHANGED: "changed the input",
    HookOutcome.ALLOWED: "allowed it",
    HookOutcome.ASKED: "wants you to be asked",
    HookOutcome.DENIED: "did not allow it",
    HookOutcome.BLOCKED: "objects",
    HookOutcome.STOPPED: "ends the turn",
}


def _hook_line(event: Event) -> Line | None:
    """Effects of a hook, and its first failure."""
    match event:
        case HookRan(outcome=outcome) if outcome in _HOOK_OUTCOMES:
            detail = f": {event.detail}" if event.detail else ""
            ends = outcome is HookOutcome.STOPPED
            return Line("·", f"{_hook(event)} {_HOOK_OUTCOMES[outcome]}{detail}", Tone.TROUBLE if ends else Tone.QUIET)
        case HookFailed(times=1):
            required = "it is required, so this counts as a no"
            then = required if event.required else "the turn continues; reported once"
            return Line("!", f"{_hook(event)} failed: {event.why} ({then})", Tone.TROUBLE)
        case _:
            return None


def _hook(event: HookRan | HookFailed) -> str:
    return f"hook {event.name} ({event.point.replace('_', ' ')})"


# ── the schedule ────────────────────────────────────────────────────────────────────────────────


def _job_line(event: Event) -> Line | None:
    match event:
        case JobFired(job=job, prompt=prompt, due=due, missed=missed, due_local=local, late_s=late_s):
            late = f", {seconds(late_s)} late" if late_s >= LATE_S else ""
            more = f", in place of {missed} more" if missed else ""
            return Line("→", f"{job} fires (due {local or time_of_day(due)}{late}{more}): {prompt}")
        case JobMissed(job=job, prompt=prompt, due=due):
            what = f"{job} was due at {time_of_day(due)}, while no session ran: {prompt}"
            return Line("?", f"{what}; /cron run {job} or /cron delete {job}", Tone.TROUBLE)
        case JobChanged(job=job, what="paused" | "skipped" | "over" as what, text=text):
            return Line("·", f"{job} {what}: {text}" if text else f"{job} {what}", Tone.QUIET)
        case _:
            return None


# ── worktrees and plan scripts ──────────────────────────────────────────────────────────────────


def _worktree_line(event: Event) -> Line | None:
    match event:
        case WorktreeEntered(name=name, path=path, branch=branch, base=base, uncommitted=mine, carried=carried):
            where = f"{branch or 'detached HEAD'}, from {base[:10]}"
            files = f"your {counted(mine, 'uncommitted file')}"
            without = f"; without {files} (--carry-changes takes them into a new worktree)"
            left = "" if not mine else f"; with {files}" if carried else without
            return Line("·", f"worktree {name} ({where}) in {path}{left}")
        case PermissionAsked(summary=summary, detail=(_, *_) as detail):
            return Line("?", f"{summary}? {'; '.join(detail)}", Tone.TROUBLE)
        case WorktreeLeft():
            return Line("·", left_line(event))
        case PhaseStarted(name=name):
            return Line("▸", name)
        case MergeDecided(branch=branch, what=what, detail=detail):
            tone = Tone.TROUBLE if what in ("conflict", "red", "given back") else Tone.QUIET
            text = " ".join(filter(None, (branch, what)))
            return Line("⎇", f"{text}: {detail}" if detail else text, tone)
        case _:
            return None


def left_line(event: WorktreeLeft) -> str:
    """What became of a worktree that a session has left, and why."""
    if event.removed:
        held = f"; it held {'; '.join(event.why)}" if event.why else ""
        kept = f"; {event.kept} keeps what git had of it" if event.kept else ""
        return f"worktree {event.name} is removed{held}{kept}"
    return f"worktree {event.name} stays in {event.path}: {'; '.join(event.why) or 'you keep it'}"


# ── admission ───────────────────────────────────────────────────────────────────────────────────


def _admission_line(event: Event) -> Line | None:
    """Work that will not be done, or not for a while."""
    match event:
        case WorkDropped(key=key, deferred=False, reason=DropReason.PAUSED):
            return Line("!", f"{key} not started: it failed too often and is paused", Tone.TROUBLE)
        case WorkDropped(key=key, deferred=False, reason=DropReason.QUEUE_FULL):
            return Line("!", f"{key} not started: the queue is full", Tone.TROUBLE)
        case WorkRejected(key=key, reason=RejectionReason.SHUTTING_DOWN):
            return Line("!", f"{key} not started: shutting down", Tone.TROUBLE)
        case WorkRejected(key=key):
            return Line("!", f"{key} not started: it has ended", Tone.TROUBLE)
        case ConversationBreakerChanged(before=before, after=after) if before is after:
            return None
        case ConversationBreakerChanged(key=key, after=BreakerState.OPEN):
            until = f" until {time_of_day(event.until)}" if event.until is not None else ""
            return Line("‖", f"{key} is paused{until}: it failed {event.failures} times in a row", Tone.TROUBLE)
        case ConversationBreakerChanged(key=key, after=BreakerState.CLOSED):
            return Line("✓", f"{key} works again")
        case AdmissionClosed(dropped=dropped) if dropped:
            return Line("!", f"{counted(dropped, 'queued piece', 'queued pieces')} of work dropped", Tone.TROUBLE)
        case _:
            return None


# ── the sandbox ─────────────────────────────────────────────────────────────────────────────────


def _sandbox_line(event: Event) -> Line | None:
    """What a command was refused."""
    match event:
        case SandboxRefused(subject=subject, why=why):
            return Line("⊘", f"the sandbox refused {subject}{f': {why}' if why else ''}", Tone.TROUBLE)
        case _:
            return None


# ── MCP servers ─────────────────────────────────────────────────────────────────────────────────


def _mcp_line(event: Event) -> Line | None:
    """Servers that are reached for the first time are no news; what goes wrong is, and its end."""
    match event:
        case McpServerChanged(server=server, state=McpState.READY, starts=starts, detail=detail):
            if detail:
                return Line("·", f"MCP server {server}: {detail}")
            return Line("✓", f"MCP server {server} is there again") if starts > 1 else None
        case McpServerChanged(server=server, state=McpState.FAILED, detail=detail):
            return Line("✗", f"MCP server {server} cannot be used: {detail}", Tone.TROUBLE)
        case McpServerChanged(server=server, state=McpState.SIGN_IN, detail=detail):
            return Line("!", f"MCP server {server}: {detail}", Tone.TROUBLE)
        case McpServerChanged(server=server, state=McpState.CONNECTING, detail=detail) if detail:
            return Line("↻", f"MCP server {server} is started again: {detail}", Tone.TROUBLE)
        case _:
            return None


_OF_SUBJECTS = (
    _breaker_line,
    _loop_line,
    _hook_line,
    _job_line,
    _worktree_line,
    _admission_line,
    _sandbox_line,
    _mcp_line,
)


# ── what a live terminal shows in another way ───────────────────────────────────────────────────


def recorded_line(event: Event) -> Line | None:
    """Further lines for a record: questions and answers, the resumption of the session, a sandbox that is not full."""
    match event:
        case SandboxFound(level=level, why=why) if level != "full":
            return Line("·", f"sandbox: {level}{f': {why}' if why else ''}")
        case SessionResumed():
            return Line("·", f"resumed with {event.model}")
        case PermissionAsked():
            why = f" ({event.why})" if event.why else ""
            who = f"agent {event.agent}" if event.agent else "it"
            shown = f": {'; '.join(event.detail)}" if event.detail else ""
            return Line("?", f"may {who} run {event.tool} {event.summary}{why}{shown}", Tone.TROUBLE)
        case QuestionAsked(question=question, options=options):
            labels = " | ".join(option.label for option in options)
            return Line("?", f"{question}{f' [{labels}]' if labels else ''}", Tone.TROUBLE)
        case QuestionAnswered(how="text", answer=""):
            return Line("?", "answered: no")
        case QuestionAnswered(how="withdrawn"):
            return Line("?", "no longer asked: its command has ended")
        case QuestionAnswered(how="declined", by=by):
            return Line("?", "declined" if by == "user" else "not answered: no user is present")
        case QuestionAnswered(answer=answer, by=by):
            return Line("?", f"answered{'' if by == 'user' else ' by the settings'}: {answer}")
        case _:
            return None


# ── the ends of calls and turns ─────────────────────────────────────────────────────────────────

OUTCOMES: Mapping[ToolOutcome, tuple[str, str, Tone]] = MappingProxyType(
    {
        ToolOutcome.OK: ("✓", "ok", Tone.QUIET),
        ToolOutcome.ERROR: ("✗", "failed", Tone.TROUBLE),
        ToolOutcome.BROKEN: ("✗", "broke", Tone.BAD),
        ToolOutcome.INVALID: ("✗", "not run", Tone.TROUBLE),
        ToolOutcome.DENIED: ("○", "not allowed", Tone.TROUBLE),
        ToolOutcome.CANCELLED: ("○", "interrupted", Tone.TROUBLE),
        ToolOutcome.SKIPPED: ("○", "skipped", Tone.TROUBLE),
    }
)
"""Mark, word and tone of each outcome of a call."""
STOPPED = frozenset({TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS})


def ending_line(end: TurnEnded) -> Line:
    """The end of a turn, with its duration, requests and cost."""
    cost = f", {priced(end.cost_usd, end.unpriced)}" if end.cost_usd or end.unpriced else ""
    totals = f"{seconds(end.duration_s)}, {counted(end.requests, 'request')}{cost}"
    if end.code is TransitionCode.COMPLETED:
        return Line("·", totals)
    if end.code in STOPPED:
        return Line("○", f"interrupted; partial results are kept ({totals})", Tone.TROUBLE)
    if end.code is TransitionCode.FAILURE_BUDGET_PAUSED:
        return Line("‖", f"{end.reason} ({totals})", Tone.TROUBLE)
    if end.code is TransitionCode.LOOP_STOPPED:
        return Line("⟳", f"{end.reason} ({totals})", Tone.TROUBLE)
    return Line("✗", f"{end.reason} ({end.code}; {totals})", Tone.BAD)


def source_lines(sources: Iterable[Source]) -> tuple[Line, ...]:
    """The pages that an answer cites, numbered."""
    texts = (" ".join(f"{source.title} {source.url}".split()) for source in sources)
    return tuple(Line(f"[{number}]", text) for number, text in enumerate(texts, 1))
