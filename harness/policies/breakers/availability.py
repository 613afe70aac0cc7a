"""May a tool be called as things stand? The checks, in their order (A7, A16, A17, A24)."""

from harness.events import BreakerState, CascadeMode, CascadePhase, DispatchReason, Score
from harness.policies.breakers.board_view import BoardView
from harness.policies.breakers.cascade import LONGEST, Group


def judge(board: BoardView, tool: str) -> tuple[bool, DispatchReason]:
    """Whether a call of the tool may run, and why or why not. One that may run on an open breaker is a probe."""
    breaker, score = board.breaker(tool), board.scored(tool)
    if breaker.isolated:
        return False, DispatchReason.ISOLATED
    if score is Score.UNAVAILABLE:
        return False, DispatchReason.UNAVAILABLE
    if breaker.state is BreakerState.CLOSED:
        return True, DispatchReason.DEGRADED if score is Score.DEGRADED else DispatchReason.HEALTHY
    if breaker.state is BreakerState.HALF_OPEN:
        return False, DispatchReason.PROBE_OUT
    group = board.group_of(tool)
    if group is not None:
        return _judge_member(board, group)
    if board.step >= due(board, tool):
        return True, DispatchReason.PROBE_DUE
    return False, DispatchReason.DEPENDENCY if breaker.probe_due(board.step) else DispatchReason.OPEN


def _judge_member(board: BoardView, group: Group) -> tuple[bool, DispatchReason]:
    probe_out = any(board.breaker(member).state is BreakerState.HALF_OPEN for member in group.members)
    waiting = group.waiting(board.step, confirm=board.limits.cascade is CascadeMode.CONFIRM, probe_out=probe_out)
    if waiting is not None:
        return False, waiting
    recovering = group.phase is CascadePhase.RECOVERING
    return True, DispatchReason.RECOVERING if recovering else DispatchReason.CANARY


def due(board: BoardView, tool: str) -> int:
    """Step from which on an open tool outside a group may be probed.

    Not before what it depends on is probed, as that would fail for sure; but never later than 20 steps after it
    opened, however long the chain is (A18).
    """
    breaker = board.breaker(tool)
    own = breaker.due or 0
    dues = [board.breaker(name).due or 0 for name in _dependencies(board, tool)]
    return int(min(max([own, *dues]), breaker.opened + LONGEST))


def _dependencies(board: BoardView, tool: str) -> set[str]:
    """All that the tool depends on, directly or not, and that is open."""
    found: set[str] = set()
    left = [tool]
    while left:
        capability = board.capabilities.get(left.pop())
        for name in capability.depends_on if capability else ():
            if name in board.tools and name not in found and name != tool:
                found.add(name)
                left.append(name)
    return {name for name in found if board.breaker(name).state is BreakerState.OPEN}
