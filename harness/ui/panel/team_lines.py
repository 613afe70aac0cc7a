"""The members of the session on the panel."""

from collections import Counter
from collections.abc import Sequence

from textual.content import Content

from harness.events import Health, MemberState, RequestState
from harness.policies.protocols.requests import Request
from harness.policies.protocols.table import word
from harness.policies.team.members import AT_WORK, MemberRow, lane, watched
from harness.ui.panel.layout import LABEL, QUIET, TROUBLE, Lines, bar, count, flat, headed, labelled, priced, wrapped
from harness.ui.panel.state import Panel
from harness.ui.panel.work_lines import BAR, BETWEEN, GAP, MOST_ROWS, ROOMY, apart, lasted

MARKS = {
    MemberState.QUEUED: ("◌", QUIET),
    MemberState.WORKING: ("◍", ""),
    MemberState.IDLE: ("✓", QUIET),
    MemberState.FAILED: ("✗", TROUBLE),
    MemberState.PAUSED: ("‖", TROUBLE),
    MemberState.ENDED: ("○", QUIET),
}
MOST_REQUESTS = 3
BAD = frozenset({MemberState.FAILED, MemberState.PAUSED})


def needs_a_look(rows: Sequence[MemberRow]) -> bool:
    """Whether a member works, or needs the user."""
    return any(row.state in AT_WORK or _urgent(row) for row in rows)


def _urgent(row: MemberRow) -> bool:
    return row.asks or row.state in BAD or row.health is not Health.WELL


def team(panel: Panel, width: int, now: float, *, expanded: bool = False) -> Sequence[Lines]:
    """A row for each member, the most important first; many begin with how they are. With a wide or whole panel the
    lane of each shows its states since the first one joined."""
    live = [row for row in panel.team if row.state is not MemberState.ENDED]
    if not live:
        return ()
    ranked = watched(live)
    shown = ranked[:MOST_ROWS]
    counts = _head(live, width)
    head = counts if len(live) > MOST_ROWS else []
    begin = min((row.lane[0][0] for row in live if row.lane), default=now)
    full: Lines = []
    for row in shown:
        full += [_row(row, width, now), *_about(row, width, 2 - bool(head))]
        if expanded or width >= ROOMY:
            full.append(labelled("", Content.styled(lane(row, begin, max(now, begin), width - LABEL), QUIET)))
    requests = [_request(one, width) for one in panel.requests[:MOST_REQUESTS]]
    if more := len(panel.requests) - len(requests):
        requests.append(labelled("", Content.styled(f"{count(more)} more requests: /team", QUIET)))
    rows = [_row(row, width, now) for row in shown]
    urgent = [_row(row, width, now) for row in shown if row.asks or row.state in BAD or row.health is not Health.WELL][
        :1
    ]
    return ([*head, *full, *requests], [*head, *rows, *requests], [*head, *rows], [*counts[:1], *urgent], [])


def _head(live: Sequence[MemberRow], width: int) -> Lines:
    """How many there are, and in which state: "▓▓░░ 34 of 400 idle, 5 working, 361 queued"."""
    found = Counter("asking you" if row.asks else row.state.value for row in live)
    done = found.pop("idle", 0)
    order = ("asking you", *(state.value for state in MemberState))
    parts = [f"{bar(done / len(live), BAR)} {done:,} of {len(live):,} idle"]
    parts += [f"{found[word]:,} {word}" for word in order if found[word]]
    return headed("team", ", ".join(parts), width, style=f"bold {TROUBLE}" if found["asking you"] else QUIET)


def _request(request: Request, width: int) -> Content:
    """A request without an answer: who asks whom for what, and how far it is."""
    text = flat(f"? {word(request.kind)} {request.asker.name} → {request.recipient.name}: {request.text}")
    style = f"bold {TROUBLE}" if request.state is RequestState.WITH_USER else QUIET
    return labelled(flat(request.id), apart(Content.styled(text, style), word(request.state), width - LABEL))


def _row(row: MemberRow, width: int, now: float) -> Content:
    mark, style = ("?", f"bold {TROUBLE}") if row.asks else MARKS[row.state]
    style = style if row.health is Health.WELL else TROUBLE
    text = Content.styled(f"{mark} {flat(row.task or row.role)}", style)
    since = lasted(row.since, now) if row.since else ""
    state = "" if row.word == MemberState.WORKING else row.word
    return labelled(row.name, apart(text, BETWEEN.join(filter(None, (state, since))), width - LABEL))


def _about(row: MemberRow, width: int, most: int) -> Lines:
    """What all its tasks have used, its unread mail, what it does or why it rests, and its role."""
    unread = f"{row.unread} unread" if row.unread else ""
    cost = priced(row.cost_usd, row.unpriced) if row.cost_usd or row.unpriced else ""
    tokens = f"{count(row.tokens)} tokens" if row.tokens else ""
    text = BETWEEN.join(filter(None, (tokens, cost, unread, row.reason, row.role)))
    style = TROUBLE if row.asks else QUIET
    return wrapped(text, width, most=most, style=style, indent=LABEL + GAP) if text else []
