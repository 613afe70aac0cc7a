"""How a board looks to a person: the table of seed 000, step 2, and why a tool cannot be used."""

from harness.events import BreakerState, CascadePhase, HealthRow, Score
from harness.policies.breakers.availability import due
from harness.policies.breakers.board_view import BoardView
from harness.policies.breakers.failure_signature import suspected_root


def row(board: BoardView, tool: str) -> HealthRow:
    """The line of one tool. Raises KeyError for one that does not exist."""
    breaker, seen = board.breaker(tool), board.seen(tool)
    return HealthRow(
        tool,
        breaker.state,
        breaker.failures,
        seen.last_failure,
        seen.last_success,
        seen.message,
        probe_at(board, tool),
        note(board, tool),
        tool in board.capabilities.critical,
    )


def probe_at(board: BoardView, tool: str) -> int | None:
    """Step from which on a request is a probe, if nothing else happens; None: not open, or not by itself."""
    breaker, group = board.breaker(tool), board.group_of(tool)
    if breaker.state is not BreakerState.OPEN or breaker.isolated:
        return None
    if group is None:
        return due(board, tool)
    if board.unconfirmed(group):
        return None
    return group.due if group.phase is CascadePhase.SYSTEMIC else max(board.step, group.probed + 1)


def note(board: BoardView, tool: str) -> str:
    """What a person should know besides the state; mostly empty."""
    group, score = board.group_of(tool), board.scored(tool)
    if board.breaker(tool).isolated:
        return "isolated by hand"
    if group is not None and board.unconfirmed(group):
        return f"waits for /confirm: {suspected_root(group.signature)}"
    if group is not None:
        return f"{group.phase.value}: {suspected_root(group.signature)}"
    return score.value if score in (Score.DEGRADED, Score.UNAVAILABLE) else ""


def why_not(board: BoardView, tool: str) -> tuple[str, str]:
    """Why a tool cannot be used, and what would change that."""
    if tool not in board.tools:
        return f"there is no tool called {tool}", "do it by hand"
    breaker, message, group = board.breaker(tool), board.seen(tool).message, board.group_of(tool)
    reason = f"{tool} is {breaker.state.value.replace('-', ' ')}" + (f": {message}" if message else "")
    if group is not None and board.unconfirmed(group):
        return reason, "find the cause, then /confirm"
    at = probe_at(board, tool)
    unblock = f"a probe from step {at} on" if at is not None else "a successful probe"
    return reason, f"{unblock}, or a reset when it works again"
