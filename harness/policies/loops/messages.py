"""Loops and rungs in words: for the model what repeats and what to do instead, for a person what was done.

What the model is told is short and concrete: what repeats, how often, what came back each time, what to do now. It
never says "vary the arguments", which makes a loop longer and no better (resilience 3.2).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import assert_never

from harness.events import Attempt, ErrorClass, Loop, LoopChoice, Projection, Rung

MOST_QUOTED = 300
"""Characters of what came back that are quoted."""

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
"""The steps of the ladder, as things."""
LABELS: Mapping[LoopChoice, str] = MappingProxyType(
    {
        LoopChoice.CONTINUE: "go on: it is meant",
        LoopChoice.OFF: "go on, and do not step in again in this session",
        LoopChoice.ROLL_BACK: "return to before it began",
        LoopChoice.STOP: "stop here",
    }
)
"""What a person can choose."""


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
    """What the model is told once.

    Args:
        came_back: what the last copy brought, as the model saw it; quoted in part.
    """
    return f"You are repeating yourself: {described(loop)}.{_quoted(came_back)} {_instead(loop)}"


def how_to_wait(call: str, same: int) -> str:
    """What the model is told that asks again and again how something stands."""
    return (
        f"You seem to wait for something: {call} gave the same answer {same} times. Each time you ask costs a request. "
        "Make one call that waits until it is over, such as a loop with `sleep 30` that ends when it is done, or send "
        "what takes long to the background, where you are notified when it ends. Or do other work first."
    )


def other_ways(loop: Loop, ways: Sequence[str]) -> str:
    """What the model is told with a way out of the circle."""
    return f"Still repeating: {described(loop)}. Leave it now and go on here instead: {'; '.join(ways)}."


def other_tool(loop: Loop, call: str, tool: str) -> str:
    """What the model is told when another tool takes the place of the one in the loop.

    Args:
        call: the call that is not made any more, in one line.
        tool: the one to use.
    """
    return f"Still repeating: {described(loop)}. {call} is not run again for now. Use {tool} for what you need from it."


def not_made(call: str, tool: str) -> str:
    """The answer to a call that a substitution keeps from being made."""
    return f"Not run: {call} has brought the same again and again. Use {tool} instead, or do something else first."


def made_again(call: str, *, ok: bool) -> str:
    """What the model is told before the result of a failing call that the program has made again."""
    came = "it worked" if ok else "it failed, too"
    return f"{call} failed, so the program made the same call again. This time {came}:"


def put_back(loop: Loop, came_back: str = "") -> str:
    """What the model is told after a rollback: the loop is no longer in its history."""
    return (
        f"You have been put back to an earlier point, because this went in a circle: {described(loop)}."
        f"{_quoted(came_back)} Do not begin it again. {_instead(loop)}"
    )


def tool_off(tool: str) -> str:
    """What the model is told when the breaker of a failing tool is opened."""
    return (
        f"{tool} keeps failing in the same way and is switched off for a while. Go on without it, and say what is lost."
    )


# ── waits, for a person ────────────────────────────────────────────────────────────────────────────


def waits(call: str, same: int, done: str) -> str:
    """What is done about a wait, in one line."""
    return f"{call} gave the same answer {same} times, a wait: {done}"


def waited_out(call: str, same: int, seconds: float) -> str:
    """Why a turn ended that waited."""
    return f"stopped waiting: {call} gave the same answer {same} times in {seconds / 60:.0f} min (wait_total_s)"


# ── for a person ────────────────────────────────────────────────────────────────────────────────


def taken(rung: Rung, what: str = "") -> str:
    """What was done, in one line.

    Args:
        what: for a retry the call and the wait, for an exploration the way, for a substitution the tool that is to be
            used, for a rollback where it led, for the breaker the tool; nothing for the others.
    """
    match rung:
        case Rung.RETRY:
            return f"the program made the call again: {what}"
        case Rung.NUDGE:
            return "the model was told that it repeats itself"
        case Rung.EXPLORE:
            return f"the model was pointed to another way: {what}"
        case Rung.SUBSTITUTE:
            return f"the same call is not run again; to be used instead: {what}"
        case Rung.ROLLBACK:
            return f"back to before the loop: {what}"
        case Rung.BREAKER:
            return f"the breaker of {what} was opened"
        case Rung.HUMAN:
            return "a person was asked"
        case Rung.STOP:
            return "the turn was stopped, because nothing freed the agent"
    assert_never(rung)


def not_taken(rung: Rung, why: str) -> str:
    """A rung that turned out not to be possible."""
    return f"{rung.value} was not possible: {why}"


def question(loop: Loop) -> str:
    """What a person is asked."""
    return f"The agent goes in a circle: {described(loop)}. What now?"


def next_steps(loop: Loop, tried: Sequence[Attempt], *, attended: bool = True) -> tuple[str, ...]:
    """What a person can do about a loop that ended a turn, the likeliest first.

    `attended`: a user is there who can type commands; otherwise none is named.
    """
    tools = ", ".join(loop.tools) or "the last call"
    steps = []
    if loop.failing and loop.error is ErrorClass.TRANSIENT:
        steps.append(f"see whether what {tools} needs is reachable, then ask again")
    elif loop.failing:
        steps.append(f"see why {tools} fails, and mend it or name another way")
    elif loop.projection is Projection.POLL:
        steps.append("see whether what is waited for is still under way")
    elif loop.projection is Projection.TEXT:
        steps.append("ask again in other words, or with another model")
    else:
        steps.append(f"say what the agent should do with what {tools} brought")
    steps.append("ask for a smaller part of the task, in a new message")
    if not attended:
        return tuple(steps)
    if all(one.rung is not Rung.ROLLBACK for one in tried):
        steps.append("/rewind to before the loop")
    steps.append("/loops shows what repeated and what was tried")
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
            return "Your reply was cut there. Go on from before the repetition, without repeating it."
        case Projection.ACTION:
            return "If this is meant, go on. If not, stop and say what you are still missing."
        case Projection.STAGNATION:
            return "You have this result already. Change something with what you know, or give your answer."
        case Projection.NODE | Projection.STATE:
            return "Take a step that you have not taken yet, or say what keeps you from going on."
        case Projection.INTERACTION | Projection.ERROR if loop.failing:
            return (
                "The same call will fail in the same way. Find out why it fails or reach the goal by another way; "
                "if there is none, say so in your answer."
            )
        case Projection.INTERACTION | Projection.ERROR:
            return "It will not bring anything new. Use what you have: take the next step, or give your answer."
    assert_never(loop.projection)
