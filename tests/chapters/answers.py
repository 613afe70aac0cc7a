"""What a run did about a question of a step, read from its facts."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from chapters.course import Fact, WireExchange
from harness.events import (
    AgentCreated,
    BreakerChanged,
    CompactionEnded,
    Dispatched,
    FailureCharged,
    Intervened,
    JobFired,
    LoopFound,
    MailReturned,
    MailSent,
    MergeDecided,
    PermissionAsked,
    PollNoted,
    RequestChanged,
    RetryScheduled,
    SessionResumed,
    TaskChanged,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    Transition,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    WorktreeEntered,
    WorktreeLeft,
)
from harness.events.admission import WorkAdmitted, WorkDropped, WorkQueued, WorkRejected

MADE = {"drain": "truncation", "compact": "summary"}
AFTER_A_BREAK = {"max_output_tokens_recovery": "continue", "next_turn": "run", "completed": "stop"}
RETRIES = ("retry", "retry_then_switch", "retry_fresh")


def first(facts: Sequence[Fact], *kinds: type) -> Fact:
    return next(fact for fact in facts if isinstance(fact, kinds))


def did(about: str, before: Sequence[Fact], after: Sequence[Fact], value: str) -> bool:
    """Whether the run did what an option with this value says; `after` begins with the fact of the step."""
    match about:
        case "delay":
            wait = first(after, RetryScheduled)
            least, most = map(float, value.split("-"))
            return isinstance(wait, RetryScheduled) and least <= wait.delay_s <= most
        case "response":
            asked = [fact for fact in (*before, *after) if isinstance(fact, WireExchange)]
            failed = next(one for one in reversed(asked[: _sent(before)]) if one.answer != "200")
            again = asked[asked.index(failed) + 1]
            return value in RETRIES and again.sent == failed.sent
        case "endpoint" | "breaker":
            change = first(after, BreakerChanged)
            return isinstance(change, BreakerChanged) and change.after == value
        case "dispatch":
            call = first(after, Dispatched)
            return isinstance(call, Dispatched) and call.dispatch == value
        case "transition":
            code = first(after, Transition, WireExchange, TurnStarted)
            if isinstance(code, Transition):
                return code.code == value
            return value == ("completed" if isinstance(code, TurnStarted) else "next_turn")
        case "stream":
            follows = first(after, RetryScheduled, Transition)
            return value == (AFTER_A_BREAK.get(follows.code) if isinstance(follows, Transition) else "resend")
        case "room":
            made = first(after, CompactionEnded)
            return isinstance(made, CompactionEnded) and MADE.get(value) == made.method
        case "loop":
            turn = max(number for number, fact in enumerate(before) if isinstance(fact, TurnStarted))
            return value == ("loop" if any(isinstance(fact, LoopFound) for fact in before[turn:]) else "none")
        case "rung":
            taken = first(after, Intervened)
            return isinstance(taken, Intervened) and taken.rung == value
        case "admission":
            kinds = (WorkAdmitted, WorkQueued, WorkDropped, WorkRejected)
            event = first(after, *kinds)
            return isinstance(event, kinds) and f"{type(event).__name__} {event.key}" == value
        case "claim":
            answered = first(after, ToolEnded)
            assert isinstance(answered, ToolEnded)
            return value == ("granted" if answered.outcome is ToolOutcome.OK else "refused")
        case "deferral":
            failed_task = first(after, TaskChanged)
            assert isinstance(failed_task, TaskChanged)
            return value.split() == list(failed_task.deferred)
        case "repair":
            sent = first(after, WireExchange)
            assert isinstance(sent, WireExchange)
            ran = any(isinstance(fact, ToolStarted) for fact in after[: after.index(sent)])
            return value == ("run_again" if ran else "error_result" if sent.failed_results else "removed")
        case "poll":
            result = first(after, ToolEnded)
            noted = any(isinstance(fact, PollNoted) for fact in after[: after.index(result)])
            return value == ("noted" if noted else "plain")
        case "hang":
            read = next(fact for fact in after if isinstance(fact, WireExchange)).last
            return value == ("hang" if "seems to hang" in read else "slow" if "seems to be slow" in read else "")
        case "next":
            fire = first(after, JobFired)
            assert isinstance(fire, JobFired)
            return value[:2] == datetime.fromtimestamp(fire.due, ZoneInfo("Europe/Berlin")).strftime("%H")
        case "missed":
            fire = first(after, JobFired)
            assert isinstance(fire, JobFired)
            return value == ("once" if fire.missed else "each")
        case "names":
            sent = first(after, WireExchange)
            assert isinstance(sent, WireExchange)
            return ("none", "one", "two").index(value) == sum("berth_free" in name for name in sent.offered)
        case "tool_list":
            tools = [fact.sent["tools"] for fact in (*before, *after[:1]) if isinstance(fact, WireExchange)][-2:]
            return value == ("same" if tools[0] == tools[1] else "more")
        case "charges":
            charged = [fact for fact in (*before, *after) if isinstance(fact, FailureCharged)]
            return int(value) == sum(fact.tool == "mcp__harbor" for fact in charged)
        case "uncommitted":
            entered = first(after, WorktreeEntered)
            assert isinstance(entered, WorktreeEntered)
            return value == ("absent" if entered.uncommitted else "present")
        case "removal":
            return value == (
                "ask" if isinstance(first(after, PermissionAsked, WorktreeLeft), PermissionAsked) else "removed"
            )
        case "given_back":
            back = [one for one in (*before, *after) if isinstance(one, MergeDecided) and one.what == "given back"]
            red = [one.branch.removeprefix("harness/") for one in back if one.detail.startswith("red")]
            return [value] == red
        case "order":
            return getattr(after[0], "text", "").partition("reads: ")[2].startswith(value)
        case "server_ended" | "resumed" | "spent":
            return value == _together(about, before, after)
        case "mail":
            lost, twice = (
                "0" if f" 0 {what}" in getattr(after[0], "text", "") else "some" for what in ("lost", "read")
            )
            return value == f"{lost} {twice}"
        case "thanks":
            mail = [at for at, fact in enumerate(before) if isinstance(fact, MailSent) and fact.sender.name == "ann"]
            woken = any(isinstance(fact, AgentCreated) and fact.agent == "a1" for fact in before[mail[-2] :])
            return value == ("ben lead" if woken else "lead")
        case "generation":
            begun = first(after, WireExchange)
            assert isinstance(begun, WireExchange)
            there = any(isinstance(fact, MailReturned) for fact in before) and "<mail" not in begun.history
            return value == ("returned" if there else "read")
        case "late":
            return value == ("refused" if "is late with" in getattr(after[0], "text", "") else "twice")
        case "next_task":
            claimed = first(after, TaskChanged)
            assert isinstance(claimed, TaskChanged)
            return value == claimed.task
        case "attempts":
            given_back = first(after, TaskChanged)
            assert isinstance(given_back, TaskChanged)
            return value == given_back.state
        case "digest":
            changed = isinstance(first(after, RequestChanged, ToolEnded), RequestChanged)
            return value == ("agreed" if changed else "unchanged")
        case "request":
            moved = first(after, RequestChanged)
            assert isinstance(moved, RequestChanged)
            return value == moved.state
        case "permission":
            event = first(after, PermissionAsked, ToolEnded)
            denied = isinstance(event, ToolEnded) and event.outcome is ToolOutcome.DENIED
            return value == ("ask" if isinstance(event, PermissionAsked) else "deny" if denied else "allow")
    raise AssertionError(f"no reading of the run for questions about {about}")


def _sent(before: Sequence[Fact]) -> int:
    return sum(isinstance(fact, WireExchange) for fact in before)


def _together(about: str, before: Sequence[Fact], after: Sequence[Fact]) -> str:
    """What became of a killed server, a closed session, a spent budget."""
    if about == "server_ended":
        turn = first(after, TurnEnded)
        calls = [one for one in after[: after.index(turn)] if isinstance(one, ToolEnded)]
        answered = isinstance(turn, TurnEnded) and turn.code is TransitionCode.COMPLETED
        return "goes on" if answered and calls[1].outcome is ToolOutcome.OK else "fails"
    if about == "resumed":
        begun = first(after[after.index(first(after, SessionResumed)) :], AgentCreated, MailSent)
        return "waits" if isinstance(begun, MailSent) and begun.recipient.name == "ben" else "repeats"
    if any(isinstance(fact, WireExchange) for fact in after[1:]):
        return "answered"
    return "sent" if any(isinstance(fact, MailSent) for fact in after) else "nothing"
