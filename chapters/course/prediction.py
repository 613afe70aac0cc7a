"""What the policies say will happen next, from the facts recorded so far.

Each function of `PREDICTIONS` finds the last input of its policy in the facts, calls the policy with it, and returns
the decision with the text of the rule. What the run did with that input is not read.
"""

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from types import MappingProxyType
from typing import TypeVar

from chapters.course.facts import Fact
from chapters.course.wire import WireExchange
from harness.base.errors import HarnessError
from harness.engine.background.commands import commands_in
from harness.engine.loops.event_fold import BehaviourFold, LoopFold
from harness.engine.permissions.session_rules import surroundings_of
from harness.events import (
    AdmissionEvent,
    AdmissionLimitsSet,
    AgentCreated,
    AgentEnd,
    AgentEnded,
    Dispatched,
    DispatchLimitsSet,
    DropReason,
    Event,
    Fault,
    FaultOccurred,
    HookPoint,
    HookRan,
    JobChanged,
    JobFired,
    Message,
    MessageAdded,
    MovedToBackground,
    Notice,
    Origin,
    PollNoted,
    Projection,
    Reply,
    ReplyReceived,
    RequestSent,
    Rung,
    TaskChanged,
    TaskState,
    ToolCall,
    ToolEnded,
    ToolStarted,
    TransitionCode,
    WorkDropped,
    WorkEnd,
)
from harness.model import history
from harness.model.catalogue import known_card
from harness.model.fault_classifier import classify_stream_error
from harness.model.repair import repaired
from harness.model.tokens import TokenCounter
from harness.permissions import Mode, PermissionRequest, Permissions, RuleBook, RuleScope, Verdict
from harness.policies.admission.controller import AdmissionController, AdmissionLimits
from harness.policies.admission.slot_queue import Permit
from harness.policies.background.sleep_poll import note_due, polls
from harness.policies.breakers.breaker import BreakerLimits
from harness.policies.breakers.decisions import Call, PauseTurn, Probe, Skip
from harness.policies.breakers.dispatcher import BreakerReplay
from harness.policies.breakers.registry import BreakerRegistry
from harness.policies.loops.ladder import Abilities
from harness.policies.loops.limits import LoopThresholds
from harness.policies.loops.monitor import LoopMonitor
from harness.policies.loops.observations import Poll
from harness.policies.recovery.backoff import delay_s
from harness.policies.recovery.compaction import CompactionHealth, thresholds
from harness.policies.recovery.decisions import Compact, Continue, Drain, Resend, RunTools, Stop
from harness.policies.recovery.fault_decisions import response_to
from harness.policies.recovery.history_cut import drainable, drained
from harness.policies.recovery.policy import at_turn_end, before_request, decide, noted
from harness.policies.recovery.state import RecoveryLimits, Situation, TurnState
from harness.policies.recovery.transitions import TRANSITIONS
from harness.policies.schedule.decisions import Fire, look
from harness.policies.schedule.decisions import delay_s as job_delay_s
from harness.policies.schedule.job import MissedTimes, ScheduledJob, ScheduleLimits
from harness.policies.tasks.decisions import Refused, TaskDraft, claim, create
from harness.policies.tasks.graph import Standing, standings
from harness.policies.tasks.task import Actor, Task, TaskClaim, TaskLimits, number_of
from harness.practice.requests import messages
from harness.schedule import recurrence
from harness.tools import Effect, standard_tools
from harness.tools.background_commands import hangs, pace

F = TypeVar("F")


class PredictionError(HarnessError):
    """The facts before a question have no input of its policy."""


@dataclass(frozen=True, slots=True)
class Past:
    """The facts before a step, with their Unix times."""

    chapter: str
    """Name of the folder, whose demo has the permission rules."""
    facts: Sequence[tuple[Fact, float]]

    def until(self, *kinds: type) -> "Past":
        """The facts up to the last one of these types. Raises PredictionError without one."""
        for number in reversed(range(len(self.facts))):
            if isinstance(self.facts[number][0], kinds):
                return Past(self.chapter, self.facts[: number + 1])
        raise PredictionError(f"{self.chapter}: a question about {kinds[0].__name__} comes before the first one.")

    def last(self, kind: type[F]) -> F:
        """The last fact of a type. Raises PredictionError without one."""
        fact = self.until(kind).facts[-1][0]
        assert isinstance(fact, kind)
        return fact


@dataclass(frozen=True, slots=True)
class Prediction:
    """The decision of a policy."""

    value: str
    reason: str
    """The text of the rule, from the code of the policy."""
    rule: str
    """Where the rule is: a path, and a name in that file."""
    span: tuple[float, float] | None = None
    """For a wait: its bounds in seconds."""

    def fits(self, value: str) -> bool:
        """Whether an option with this value is right; a band such as "0-0.6" has to contain the whole wait."""
        if self.span is None:
            return value == self.value
        least, _, most = value.partition("-")
        return float(least) <= self.span[0] and self.span[1] <= float(most)


def _text_of(kind: type, member: str = "") -> str:
    """The first sentence about a class, or the docstring of one of its members, else its name; in one line."""
    if not member:
        return " ".join((inspect.getdoc(kind) or "").split()).partition(". ")[0].removesuffix(".") + "."
    [definition] = ast.parse(dedent(inspect.getsource(kind))).body
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    for one, following in pairwise(body):
        targets = one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AnnAssign) else []
        named = any(isinstance(target, ast.Name) and target.id == member for target in targets)
        if named and isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
            return " ".join(str(following.value.value).split())
    return member.lower().replace("_", " ")


# ── recovery ────────────────────────────────────────────────────────────────────────────────────

_RECOVERY = "harness/policies/recovery/"
LIMITS = RecoveryLimits()


def _failed(one: WireExchange) -> Fault | None:
    """The fault of an exchange that has no event; None: it was answered."""
    _, _, said = one.answer.partition(" ")
    name, _, message = said.partition(": ")
    if not name.endswith("_error"):
        return None
    return classify_stream_error({"error": {"type": name, "message": message}}, None)


def _fault(past: Past) -> Fault:
    fact = past.until(FaultOccurred, WireExchange).facts[-1][0]
    fault = fact.fault if isinstance(fact, FaultOccurred) else _failed(past.last(WireExchange))
    if fault is None:
        raise PredictionError(f"{past.chapter}: the last request before a question about a fault was answered.")
    return fault


def _response(past: Past) -> Prediction:
    response = response_to(_fault(past))
    return Prediction(response.name.lower(), str(response), f"{_RECOVERY}transitions.py:RESPONSES")


def _delay(past: Past) -> Prediction:
    """The bounds of the wait before the next retry: a random number of 0 and of 1."""
    facts = [fact for fact, _ in past.until(FaultOccurred).facts]
    fault = past.last(FaultOccurred).fault
    retry = 0
    for fact in facts:
        retry = retry + 1 if isinstance(fact, FaultOccurred) else 0 if isinstance(fact, ReplyReceived) else retry
    span = delay_s(retry, fault.retry_after_s, 0.0), delay_s(retry, fault.retry_after_s, 1.0)
    _, rule, *_ = (inspect.getdoc(delay_s) or "").split("\n\n")
    reason = " ".join(rule.split())
    return Prediction(f"{span[0]:g}-{span[1]:g}", reason, f"{_RECOVERY}backoff.py:delay_s", span)


def _endpoint(past: Past) -> Prediction:
    """The state of the breaker of the model."""
    past = past.until(FaultOccurred)
    state = TurnState(past.last(FaultOccurred).model)
    for fact, at in past.facts:
        situation = Situation(0.0, at, 0, 0, 0)
        match fact:
            case FaultOccurred(fault=fault, model=state.model):
                state = noted(state, fault, LIMITS, situation)
            case ReplyReceived(model=state.model, stop_reason=reason):
                state = noted(state, Reply(state.model, reason, ()), LIMITS, situation)
    rule = f"{_RECOVERY}state.py:RecoveryLimits.overloads_before_switch"
    return Prediction(state.endpoint.state, _text_of(RecoveryLimits, "overloads_before_switch"), rule)


def _transition(past: Past) -> Prediction:
    """Why the loop continues or ends, after the last reply or the objection of a stop hook."""
    past = past.until(ReplyReceived, WireExchange, HookRan)
    fact = past.facts[-1][0]
    done = Stop(TurnState(""), "answered", TransitionCode.COMPLETED)
    if isinstance(fact, HookRan):
        if fact.point is not HookPoint.STOP:
            raise PredictionError(f"{past.chapter}: the last hook before the question is not a stop hook.")
        return _row(at_turn_end(done, LIMITS, objection=fact.detail).code)
    one = past.last(WireExchange)
    reason = fact.stop_reason if isinstance(fact, ReplyReceived) else one.stop_reason
    blocks = one.came
    calls = tuple(
        ToolCall(str(block.get("id")), str(block.get("name")), dict(block.get("input") or {}))
        for block in blocks
        if block.get("type") == "tool_use"
    )
    card = known_card(one.model)
    situation = Situation(0.0, past.facts[-1][1], card.window, card.max_output, 0, card.thinks, card.lowers_effort)
    state = TurnState(one.model, raises=MappingProxyType({one.model: one.max_tokens}))
    return _row(decide(state, Reply(one.model, reason, blocks, calls), LIMITS, situation).code)


def _stream(past: Past) -> Prediction:
    """What follows a stream that broke: "resend", "continue", "run" or "stop"."""
    fact = past.last(FaultOccurred)
    past = past.until(FaultOccurred)
    card = known_card(fact.model)
    situation = Situation(0.0, past.facts[-1][1], card.window, card.max_output, 0, card.thinks, card.lowers_effort)
    decision = decide(TurnState(fact.model), fact.fault, LIMITS, situation)
    for kind, name in ((Resend, "resend"), (Continue, "continue"), (RunTools, "run"), (Stop, "stop")):
        if isinstance(decision, kind):
            return Prediction(name, f"{decision.reason}: {_text_of(kind)}", f"{_RECOVERY}decisions.py:{kind.__name__}")
    raise PredictionError(f"{past.chapter}: the fault before the question has another answer, {decision!r}.")


def _row(code: TransitionCode | None) -> Prediction:
    if code is None:
        raise PredictionError("The policy sends the same request again, which is no transition.")
    row = TRANSITIONS[code]
    return Prediction(code, row.trigger, f"{_RECOVERY}transitions.py:TRANSITIONS")


def _room(past: Past) -> Prediction:
    """How room is made in the history: "drain", "compact", "stop", or "send" if there is enough."""
    one = past.last(WireExchange)
    counter = TokenCounter()
    sent = (*messages(one.sent), *_since(past))
    ids = set(drainable(history.steps(sent)))
    old = [block for message in sent for block in message.content if block.get("tool_use_id") in ids]
    saved = sum(
        counter.count_message(Message("user", (block,))) - counter.count_message(Message("user", (drained(block, ""),)))
        for block in old
    )
    requests = [fact for fact, _ in past.facts if isinstance(fact, RequestSent)]
    card = known_card(one.model)
    refused = [fact.fault for fact, _ in past.facts if isinstance(fact, FaultOccurred) and fact.fault.limit]
    window = refused[-1].limit if refused and refused[-1].limit else requests[-1].window or card.window
    last = past.until(FaultOccurred, ReplyReceived).facts[-1][0]
    state = TurnState(one.model)
    if isinstance(last, FaultOccurred):
        size = last.fault.input_tokens or requests[-1].estimated_tokens
        situation = Situation(0.0, 0.0, window, card.max_output, size, drainable_tokens=saved)
        decision = decide(state, last.fault, LIMITS, situation)
    else:
        assert isinstance(last, ReplyReceived)
        grown = sum(counter.count_message(message) for message in _since(past))
        size = last.usage.prompt + grown
        situation = Situation(0.0, 0.0, window, card.max_output, size, drainable_tokens=saved)
        asked = before_request(state, CompactionHealth(), 0, LIMITS, situation)
        if asked is None:
            levels = thresholds(window, card.max_output)
            return Prediction("send", f"below {levels.compact:,} tokens", f"{_RECOVERY}compaction.py:thresholds")
        decision = asked
    rule = f"{_RECOVERY}decisions.py:{type(decision).__name__}"
    match decision:
        case Drain() | Compact() | Stop():
            return Prediction(type(decision).__name__.lower(), f"{decision.reason}: {_text_of(type(decision))}", rule)
        case _:
            raise PredictionError(f"{past.chapter}: the question about room comes before another decision.")


def _since(past: Past) -> tuple[Message, ...]:
    """Messages added since the last request of the turn."""
    number = max(number for number, (fact, _) in enumerate(past.facts) if isinstance(fact, WireExchange))
    return tuple(fact.message for fact, _ in past.facts[number:] if isinstance(fact, MessageAdded))


# ── breakers ────────────────────────────────────────────────────────────────────────────────────

_BREAKERS = "harness/policies/breakers/"


def _replayed(past: Past) -> BreakerReplay:
    tools = next((fact.tools for fact, _ in past.facts if isinstance(fact, DispatchLimitsSet)), ())
    replay = BreakerReplay(BreakerRegistry(tools))
    for fact, at in past.facts:
        if isinstance(fact, Event):
            replay.on_event(fact, at)
    return replay


def _breaker(past: Past) -> Prediction:
    """The state of the breaker of a tool after its last result."""
    past = past.until(ToolEnded)
    now = _replayed(past).registry.breaker(past.last(ToolEnded).tool)
    limit = _text_of(BreakerLimits, "threshold")
    reason = f"{now.why} ({now.failures}) → {now.state}; threshold {BreakerLimits().threshold}: {limit}"
    return Prediction(now.state, reason, f"{_BREAKERS}breaker.py:TRANSITIONS")


def _dispatch(past: Past) -> Prediction:
    """The decision about the first call of the last reply."""
    past = past.until(MessageAdded)
    message = past.last(MessageAdded).message
    [name, *_] = [str(block["name"]) for block in message.content if block.get("type") == "tool_use"]
    decision = _replayed(past).registry.decide(name)
    for kind in (Call, Skip, Probe, PauseTurn):
        if isinstance(decision, kind):
            rule = f"{_BREAKERS}decisions.py:{kind.__name__}"
            return Prediction(decision.dispatch, f"{decision.reason}: {_text_of(kind)}", rule)
    raise TypeError(f"{decision!r} is not a decision")


# ── loops ───────────────────────────────────────────────────────────────────────────────────────

_LOOPS = "harness/policies/loops/"


def _watched(past: Past) -> LoopMonitor:
    tools = {tool.name: tool for tool in standard_tools()}
    fold = LoopFold(LoopMonitor(), BehaviourFold(tools.get, Poll()))
    for fact, at in past.facts:
        if isinstance(fact, Event):
            tuple(fold.see(fact, at))
    return fold.orchestrator


def _results(past: Past) -> Past:
    """The facts up to the last results of tools."""
    for number in reversed(range(len(past.facts))):
        match past.facts[number][0]:
            case MessageAdded(origin=Origin.TOOL_RESULTS):
                return Past(past.chapter, past.facts[: number + 1])
    raise PredictionError(f"{past.chapter}: a question about a loop comes before the first results.")


def _loop(past: Past) -> Prediction:
    """Whether the last results complete a loop: "loop" or "none"."""
    due = _watched(_results(past)).due
    member = "copies_failing" if due is not None and due.failing else "copies"
    rule = f"{_LOOPS}limits.py:LoopThresholds.{member}"
    reason = f"{member} = {getattr(LoopThresholds(), member)}: {_text_of(LoopThresholds, member)}"
    if due is None:
        reason = f"{reason} {_text_of(Projection, Projection.INTERACTION.name)}"
    return Prediction("none" if due is None else "loop", reason, rule)


def _rung(past: Past) -> Prediction:
    """The next rung, where everything is possible but another path out of a plan."""
    monitor = _watched(_results(past))
    able = Abilities(retry=True, substitute="any", rollback=True, breaker=True, human=True)
    action = monitor.advise(able, 0.0)
    if action is None:
        raise PredictionError(f"{past.chapter}: no intervention is due at the question about one.")
    reason = f"{_text_of(Rung, action.rung.name)} ({action.number} of {action.quota})"
    return Prediction(action.rung, reason, "harness/events/loops.py:Rung")


# ── admission ───────────────────────────────────────────────────────────────────────────────────


def _admission(past: Past) -> Prediction:
    """The next event of the admission controller, such as "WorkQueued a3"."""
    limits = past.last(AdmissionLimitsSet)
    controller: AdmissionController[str] = AdmissionController(
        AdmissionLimits(limits.max_concurrent, limits.max_queue_size, limits.watch_cap)
    )
    for fact, at in past.facts:
        match fact:
            case AgentCreated(agent=agent):
                controller.open(agent, at)
                controller.ask(agent, agent, at)
            case AgentEnded(agent=agent, end=end) if end is not AgentEnd.NOT_STARTED:
                ending = WorkEnd.SUCCEEDED if end is AgentEnd.ANSWERED else WorkEnd.FAILED
                for permit in [permit for permit in controller.running if permit.key == agent]:
                    controller.release(Permit(agent, permit.number), ending, at)
                for key in controller.due_again(at):
                    controller.ask(key, key, at)
    seen = sum(isinstance(fact, AdmissionEvent) for fact, _ in past.facts)
    following = controller.drain_events()[seen:]
    if not following:
        raise PredictionError(f"{past.chapter}: nothing is asked of the admission controller before the question.")
    event = following[0]
    name = f"{type(event).__name__} {getattr(event, 'key', '')}".rstrip()
    rule = "harness/policies/admission/slot_queue.py:SlotQueue.ask"
    why = f" {_text_of(DropReason, event.reason.name)}" if isinstance(event, WorkDropped) else ""
    return Prediction(name, f"{_text_of(type(event))}{why}", rule)


# ── permissions ─────────────────────────────────────────────────────────────────────────────────


def _permission(past: Past) -> Prediction:
    """The decision about the call that was dispatched last: "allow", "ask" or "deny"."""
    past = past.until(Dispatched)
    wanted = past.last(Dispatched)
    blocks = [block for fact, _ in past.facts if isinstance(fact, MessageAdded) for block in fact.message.content]
    block = next(block for block in blocks if block.get("id") == wanted.call_id)
    demo = import_module(f"chapters.{past.chapter}.demo")
    book = RuleBook(surroundings_of(Path(str(demo.__file__)).parent / "workspace"))
    for verdict in Verdict:
        for text in getattr(demo, "RULES", {}).get(f"permissions_{verdict}", ()):
            book.add(book.parse(verdict, text, RuleScope.SESSION))
    tool = next(tool for tool in standard_tools() if tool.name == wanted.tool)
    given = dict(block.get("input") or {})
    line = tool.summarise(given)
    request = PermissionRequest(wanted.call_id, tool.name, Effect(tool.effect), line, line, given)
    decision = Permissions(Mode.ASK, book=book).decide(request)
    name = type(decision).__name__.lower()
    return Prediction(name, decision.why, "harness/permissions/policy.py:Permissions.decide")


# ── the task board ──────────────────────────────────────────────────────────────────────────────


def _board(past: Past) -> dict[int, Task]:
    """The tasks of the last batch, in the states that the changes since say."""
    created = past.until(TaskChanged).facts
    given = [fact.input for fact, _ in created if isinstance(fact, ToolStarted) and fact.tool == "task_create"]
    drafts = [
        TaskDraft(str(one["subject"]), needs=tuple(one.get("needs", ())), name=str(one.get("name", "")))
        for one in given[-1]["tasks"]
    ]
    made = create(drafts, {}, Actor(""), first=1, stored=0, now=0.0, limits=TaskLimits())
    if isinstance(made, Refused):
        raise PredictionError(f"{past.chapter}: the last batch before a question about the board was refused.")
    tasks = {task.number: task for task in made.tasks}
    for fact, _ in created:
        if isinstance(fact, TaskChanged) and (number := number_of(fact.task)) in tasks:
            held = TaskClaim(fact.actor, 1, 0.0) if fact.state is TaskState.IN_PROGRESS else None
            tasks[number] = tasks[number]._replace(state=fact.state, claim=held)
    return tasks


def _asked_for(past: Past, tool: str) -> tuple[dict[int, Task], Task]:
    """The board, and the task that the last call of a tool names."""
    calls = [fact for fact, _ in past.facts if isinstance(fact, ToolStarted) and fact.tool == tool]
    tasks = _board(past)
    if not calls or (task := tasks.get(number_of(str(calls[-1].input.get("id"))) or 0)) is None:
        raise PredictionError(f"{past.chapter}: no call of {tool} names a task before the question.")
    return tasks, task


def _claim(past: Past) -> Prediction:
    """What becomes of the claim of our agent: "granted" or "refused"."""
    tasks, task = _asked_for(past, "task_claim")
    decided = claim(task, tasks, Actor("we"), now=0.0, limits=TaskLimits())
    rule = "harness/policies/tasks/decisions.py:claim"
    if isinstance(decided, Refused):
        return Prediction("refused", decided.reason, rule)
    return Prediction("granted", _text_of(TaskClaim), rule)


def _deferral(past: Past) -> Prediction:
    """The tasks that are set aside when one fails, by their ids."""
    tasks, task = _asked_for(past, "task_update")
    after = standings({**tasks, task.number: task._replace(state=TaskState.FAILED, claim=None)})
    deferred = " ".join(f"t{number}" for number, one in after.items() if one.standing is Standing.DEFERRED)
    return Prediction(deferred, _text_of(Standing, "DEFERRED"), "harness/policies/tasks/graph.py:standings")


def _repair(past: Past) -> Prediction:
    """What becomes of calls at the end of the history that have no result: "error_result" or "removed"."""
    added = [fact.message for fact, _ in past.until(MessageAdded).facts if isinstance(fact, MessageAdded)]
    sent = repaired(added).messages
    told = [block for block in sent[-1].content if block.get("type") == "tool_result" and block.get("is_error")]
    rule = "harness/model/repair.py:repaired"
    _, reason, *_ = (inspect.getdoc(repaired) or "").split("\n\n")
    return Prediction("error_result" if told else "removed", " ".join(reason.split()), rule)


# ── background work ─────────────────────────────────────────────────────────────────────────────


def _poll(past: Past) -> Prediction:
    """What the result of the last shell command says of waiting: "noted" or "plain"."""
    lines = [fact.input["command"] for fact, _ in past.facts if isinstance(fact, ToolStarted) and fact.tool == "bash"]
    if not lines:
        raise PredictionError(f"{past.chapter}: no shell command runs before the question.")
    polled = 1 + sum(isinstance(fact, PollNoted) for fact, _ in past.facts)
    noted = polls(commands_in(str(lines[-1]))) and note_due(polled)
    about = inspect.getdoc(note_due if noted else polls) or ""
    return Prediction(
        "noted" if noted else "plain", about.split("\n\n")[0], "harness/policies/background/sleep_poll.py"
    )


def _hang(past: Past) -> Prediction:
    """What the result of a command that was moved at its time limit says of it: "hang" or "slow"."""
    moved = past.last(MovedToBackground)
    given = next(
        fact.input for fact, _ in past.facts if isinstance(fact, ToolStarted) and fact.call_id == moved.call_id
    )
    limit_s = float(given["timeout"])
    value = "hang" if hangs(moved.silent_s, limit_s) else "slow"
    return Prediction(value, pace(moved.silent_s, limit_s), "harness/tools/background_commands.py:hangs")


# ── the schedule ────────────────────────────────────────────────────────────────────────────────


def _planned(past: Past) -> tuple[ScheduledJob, recurrence.CronTimes, float]:
    """The recurring job made last, as its last fire left it; its times; and what the clock of the demo shows."""
    made: dict[str, Mapping[str, object]] = {}
    call: Mapping[str, object] = {}
    done, now = 0.0, 0.0
    if not any(isinstance(fact, JobChanged) for fact, _ in past.facts):
        raise PredictionError(f"{past.chapter}: no job is made before a question about the schedule.")
    zone = import_module(f"chapters.{past.chapter}.demo").ZONE
    for fact, _ in past.facts:
        match fact:
            case ToolStarted(tool="schedule_create", input=input):
                call = input
            case JobChanged(job=id, what="created"):
                made[id] = call
            case JobFired(job=id, due=due) if id == max(made):
                done = due
            case Notice(text=text) if clock := re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d", text):
                now = datetime.fromisoformat(clock[0]).replace(tzinfo=zone).timestamp()
    times = recurrence.parse_when(str(made[max(made)]["when"]), zone, 0.0) if made else None
    if not isinstance(times, recurrence.CronTimes):
        raise PredictionError(f"{past.chapter}: no recurring job is made before a question about the schedule.")
    number = int(max(made).removeprefix("c"))
    return ScheduledJob(number, str(times), zone.key, "", lasting=True, done_until=done), times, now


def _next(past: Past) -> Prediction:
    """The local time at which a job is due next, without its delay: "03:00"."""
    job, times, _ = _planned(past)
    at = datetime.fromtimestamp(next(times.after(job.done_until)), times.zone)
    reason = (inspect.getdoc(recurrence) or "").split("\n\n")[1].partition("\n(")[0]
    return Prediction(at.strftime("%H:%M"), " ".join(reason.split()), "harness/schedule/recurrence.py:CronTimes")


def _missed(past: Past) -> Prediction:
    """How a job fires for the times that passed: "once", "each" or "none"."""
    job, times, now = _planned(past)
    limits = ScheduleLimits()
    passed = recurrence.passed(
        times, job.done_until, now, job_delay_s(job.number, recurrence.period_s(times, now), limits)
    )
    match look(job, passed, now, resumed=False, limits=limits):
        case Fire(fire=fire):
            value = "once" if fire.missed == len(passed) - 1 else "each"
        case _:
            value = "none"
    return Prediction(value, _text_of(MissedTimes, job.missed.name), "harness/policies/schedule/decisions.py:look")


PREDICTIONS: Mapping[str, Callable[[Past], Prediction]] = MappingProxyType(
    {
        "response": _response,
        "delay": _delay,
        "endpoint": _endpoint,
        "transition": _transition,
        "stream": _stream,
        "room": _room,
        "breaker": _breaker,
        "dispatch": _dispatch,
        "loop": _loop,
        "rung": _rung,
        "admission": _admission,
        "permission": _permission,
        "poll": _poll,
        "hang": _hang,
        "next": _next,
        "missed": _missed,
        "claim": _claim,
        "deferral": _deferral,
        "repair": _repair,
    }
)
"""What a question may be about."""
