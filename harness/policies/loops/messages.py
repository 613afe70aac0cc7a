"""Loops and rungs as text: notices for the model, lines for the user.

A notice to the model is short and concrete: what repeats, how often, what each call returned, what to do now. It never
says "vary the arguments" (docs/design/loops.md#polls).
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from harness.events import Attempt, ErrorClass, Loop, LoopChoice, Projection, Rung
from harness.policies.loops.monitor import LoopOverview, LoopStatus

MOST_QUOTED = 300
"""Characters of a result that are quoted."""

RUNGS: Mapping[Rung, str] = MappingProxyType(
    {
        Rung.RETRY: "retry",
        Rung.NUDGE: "nudge",
        Rung.EXPLORE: "other path",
        Rung.SUBSTITUTE: "other tool",
        Rung.ROLLBACK: "rollback",
        Rung.BREAKER: "breaker",
        Rung.HUMAN: "question",
        Rung.STOP: "stop",
    }
)
"""The rungs as nouns."""
LABELS: Mapping[LoopChoice, str] = MappingProxyType(
    {
        LoopChoice.CONTINUE: "continue: this is intended",
        LoopChoice.OFF: "continue, without further interventions in this session",
        LoopChoice.ROLL_BACK: "return to before the loop",
        LoopChoice.STOP: "stop here",
    }
)
"""The answers that a user can choose."""


def described(loop: Loop) -> str:
    """What repeats and how often, as a clause: "bash: make, 4 times in a row, failing each time"."""
    what, times = loop.summary, f"{loop.copies} times in a row"
    match loop.projection:
        case Projection.ACTION:
            return f"{what}, {times}, whatever comes of it"
        case Projection.INTERACTION:
            ending = "failing each time" if loop.failing else "with the same result each time"
            return f"{what}, {_rounds(loop)}, {ending}"
        case Projection.ERROR:
            return f"{what}, {_rounds(loop)}, with the same error each time"
        case Projection.NODE:
            return f"the same round of places, {what}, {times}"
        case Projection.STATE:
            return f"the same round of states, {what}, {times}"
        case Projection.STAGNATION:
            return f"{what}, {loop.copies} times of late with the same result, while nothing is changed"
        case Projection.POLL:
            ending = "too soon after each other" if loop.weak else "for longer than it should, with no news"
            return f"{what}, asked {loop.copies} times {ending}"
        case Projection.TEXT:
            return what
    assert_never(loop.projection)


# ── for the model ───────────────────────────────────────────────────────────────────────────────


def nudge(loop: Loop, came_back: str = "") -> str:
    """The first notice to the model.

    Args:
        came_back: the last result as the model saw it; quoted in part.
    """
    return f"You are repeating yourself: {described(loop)}.{_quoted(came_back)} {_instead(loop)}"


def how_to_wait(call: str, same: int) -> str:
    """Notice to a model that polls."""
    return (
        f"You seem to wait for something: {call} gave the same answer {same} times. Each time you ask costs a request. "
        "Make one call that waits until it is over, such as a loop with `sleep 30` that ends when it is done, or send "
        "what takes long to the background, where you are notified when it ends. Or do other work first."
    )


def other_ways(loop: Loop, ways: Sequence[str]) -> str:
    """Notice with paths out of the cycle."""
    return f"You are still repeating yourself: {described(loop)}. Leave it now and continue with: {'; '.join(ways)}."


def other_tool(loop: Loop, call: str, tool: str) -> str:
    """Notice that another tool replaces the one in the loop.

    Args:
        call: the call that is not run again, in one line.
        tool: the replacement.
    """
    return f"You are still repeating yourself: {described(loop)}. {call} is not run again for now. Use {tool} instead."


def not_made(call: str, tool: str) -> str:
    """The result of a call that a substitution rejects."""
    return f"Not run: {call} has returned the same result repeatedly. Use {tool} instead, or do something else first."


def made_again(call: str, *, ok: bool) -> str:
    """Notice before the result of a failing call that the program has retried."""
    came = "it worked" if ok else "it failed, too"
    return f"{call} failed, so the program made the same call again. This time {came}:"


def put_back(loop: Loop, came_back: str = "") -> str:
    """Notice after a rollback: the loop is no longer in the history."""
    return (
        f"You were returned to an earlier point because of a loop: {described(loop)}."
        f"{_quoted(came_back)} Do not start it again. {_instead(loop)}"
    )


def tool_off(tool: str) -> str:
    """Notice that the breaker of a failing tool was opened."""
    return f"{tool} keeps failing in the same way and is skipped for a while. Continue without it and report the loss."


# ── waits, for a user ────────────────────────────────────────────────────────────────────────────


def waits(call: str, same: int, done: str) -> str:
    """The handling of a wait, in one line."""
    return f"{call} gave the same answer {same} times, a wait: {done}"


def waited_out(call: str, same: int, seconds: float) -> str:
    """Why a wait ended the turn."""
    return f"stopped waiting: {call} gave the same answer {same} times in {seconds / 60:.0f} min (wait_total_s)"


# ── for a user ────────────────────────────────────────────────────────────────────────────────


def taken(rung: Rung, what: str = "") -> str:
    """An intervention in one line.

    Args:
        what: for a retry the call and the wait, for an exploration the path, for a substitution the replacement, for a
            rollback the target, for the breaker the tool; empty for the others.
    """
    match rung:
        case Rung.RETRY:
            return f"the program made the call again: {what}"
        case Rung.NUDGE:
            return "the model was notified that it repeats itself"
        case Rung.EXPLORE:
            return f"the model was given another path: {what}"
        case Rung.SUBSTITUTE:
            return f"the same call is not run again; replacement: {what}"
        case Rung.ROLLBACK:
            return f"back to before the loop: {what}"
        case Rung.BREAKER:
            return f"the breaker of {what} was opened"
        case Rung.HUMAN:
            return "the user was asked"
        case Rung.STOP:
            return "the turn was stopped because no intervention ended the loop"
    assert_never(rung)


def not_taken(rung: Rung, why: str) -> str:
    """A rung that turned out to be impossible."""
    return f"{rung.value} was not possible: {why}"


def question(loop: Loop) -> str:
    """The question to the user."""
    return f"The agent is in a loop: {described(loop)}. What now?"


def next_steps(loop: Loop, tried: Sequence[Attempt], *, attended: bool = True) -> tuple[str, ...]:
    """What a user can do about a loop that ended a turn, the likeliest first.

    `attended`: a user can type commands; otherwise none is named.
    """
    tools = ", ".join(loop.tools) or "the last call"
    steps = []
    if loop.failing and loop.error is ErrorClass.TRANSIENT:
        steps.append(f"see whether what {tools} needs is reachable, then ask again")
    elif loop.failing:
        steps.append(f"see why {tools} fails, and mend it or name another way")
    elif loop.projection is Projection.POLL:
        steps.append("check whether the awaited work is still running")
    elif loop.projection is Projection.TEXT:
        steps.append("ask again in other words, or with another model")
    else:
        steps.append(f"say what the agent should do with what {tools} brought")
    steps.append("ask for a smaller part of the task, in a new message")
    if not attended:
        return tuple(steps)
    if all(one.rung is not Rung.ROLLBACK for one in tried):
        steps.append("/rewind to before the loop")
    steps.append("/loops shows the repetition and the interventions")
    return tuple(steps)


# ── parts of sentences ──────────────────────────────────────────────────────────────────────────


def _rounds(loop: Loop) -> str:
    return f"{loop.copies} {'times' if loop.period == 1 else 'rounds'} in a row"


def _quoted(came_back: str) -> str:
    text = " ".join(came_back[: 4 * MOST_QUOTED].split())
    if not text:
        return ""
    shown = text if len(text) <= MOST_QUOTED else text[: MOST_QUOTED - 1] + "…"
    return f' Each time this came back: "{shown}"'


def _instead(loop: Loop) -> str:
    match loop.projection:
        case Projection.POLL:
            return "Do not ask again and again: make one call that waits until it is over, or do other work first."
        case Projection.TEXT:
            return "Your reply was cut there. Continue from before the repetition, without repeating it."
        case Projection.ACTION:
            return "If this is intended, continue. Otherwise stop and say what information is missing."
        case Projection.STAGNATION:
            return "You have this result already. Change something with what you know, or give your answer."
        case Projection.NODE | Projection.STATE:
            return "Take a step that you have not taken yet, or say what prevents you from continuing."
        case Projection.INTERACTION | Projection.ERROR if loop.failing:
            return (
                "The same call will fail in the same way. Find out why it fails or reach the goal by another way; "
                "if there is none, say so in your answer."
            )
        case Projection.INTERACTION | Projection.ERROR:
            return "It will not bring anything new. Use what you have: take the next step, or give your answer."
    assert_never(loop.projection)


WORDS = {
    Projection.ACTION: "the same calls, whatever came back",
    Projection.INTERACTION: "the same calls with the same results",
    Projection.ERROR: "the same tools with the same error",
    Projection.NODE: "the same parts of the plan",
    Projection.STATE: "the same states of the files",
    Projection.STAGNATION: "one call among others, without a change",
    Projection.POLL: "a poll that is asked too often",
    Projection.TEXT: "the same text",
}
"""The projections in plain words."""


def status_lines(status: LoopOverview) -> Iterator[str]:
    """How near each projection is to a loop, the active loops with their rungs, and changed limits."""
    width = max(map(len, WORDS.values()))
    yield f"{'what repeats':<{width}}  now  loop from"
    for run in status.runs:
        yield f"{WORDS[run.projection]:<{width}}  {run.matched:>3}  {run.wanted:>9}" + _period(run.period)
    for one in status.loops:
        yield ""
        yield from _loop_lines(one)
    if not status.loops:
        yield "no active loop"
    yield ""
    if status.active:
        yield "Loop intervention is on; `/loops off` disables it for this session."
    else:
        yield "Loop intervention is off; loops are only reported. `/loops on` enables it."
    if changed := status.policy.differences():
        yield f"changed from default: {' '.join(changed)}"


def _period(period: int) -> str:
    return f"  (period {period})" if period > 1 else ""


def _loop_lines(one: LoopStatus) -> Iterator[str]:
    loop = one.loop
    meant = ", and it is meant" if one.silent else ""
    yield f"⟳ {loop.summary}: {loop.copies} times since step {one.since}{meant}"
    rungs = (use for use in one.ladder if use.quota and use.rung is not Rung.STOP)
    yield "  " + " · ".join(f"{RUNGS[use.rung]} {use.used} of {use.quota}" for use in rungs)
