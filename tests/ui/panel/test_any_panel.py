"""Whatever a panel holds, it can be drawn into any room, and its styles mean something in every theme."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.content import Content
from textual.widgets import Static

from harness.events import (
    Address,
    AdmissionPool,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    Alternative,
    BoardCounted,
    BreakerState,
    CascadeChanged,
    CascadePhase,
    CommandEnd,
    CommandEnded,
    CommandQuiet,
    CompactionEnded,
    CompactionStarted,
    Deferred,
    Failure,
    FailureCategory,
    FailureCharged,
    Fault,
    FaultKind,
    Health,
    HealthRow,
    HoldReason,
    Intervened,
    ItemStatus,
    Loop,
    LoopChoice,
    LoopLeft,
    MemberState,
    ModelSwitched,
    OutputCapChanged,
    PauseReport,
    PermissionAsked,
    PlanItem,
    Projection,
    QuestionAsked,
    Rank,
    RequestHeld,
    RequestKind,
    RequestLimitSet,
    RetryScheduled,
    Rung,
    SilenceHint,
    SpendChanged,
    StuckReported,
    ToolStarted,
    Transition,
    TransitionCode,
    TurnEnded,
    Usage,
    WaitOffered,
)
from harness.policies.protocols.requests import Request
from harness.policies.team.members import MemberRow
from harness.ui.folds.loops import LoopsView, LoopView
from harness.ui.folds.model import ModelStatus, Phase
from harness.ui.folds.work import AdmissionView, CommandActivity, CommandView, SubagentActivity, SubagentView, WorkView
from harness.ui.panel.sections import is_calm
from harness.ui.panel.state import Panel, StepMark
from tests.ui.panel.drawn import panel_content
from tests.ui.panel.situations import ALL, NOW
from tests.whole import WHOLE

TEXT = st.text(st.sampled_from("ab [/]天👩‍👧e\u0301\n\t\x1b\x07\x9b\u202e\u2028"), max_size=24)
NAME = TEXT | st.sampled_from(["bash", "grep", "claude-sonnet-4-6"])
SMALL = st.integers(0, 12)
TOKENS = st.integers(0, 3_000_000)
MOMENT = st.floats(0, 4e9) | st.floats(NOW - 9, NOW + 9)
SECONDS = st.floats(0, 1e5)
USAGE = st.builds(Usage, TOKENS, TOKENS, TOKENS, TOKENS)
FAILURE = st.builds(Failure, st.sampled_from(FailureCategory), TEXT, TEXT)
CODE = st.sampled_from(TransitionCode)
ITEM = st.builds(PlanItem, TEXT, st.sampled_from(ItemStatus))
DEFERRED = st.builds(Deferred, ITEM, TEXT, TEXT)
ROW = st.builds(
    HealthRow,
    NAME,
    st.sampled_from(BreakerState),
    SMALL,
    st.none() | MOMENT,
    st.none() | MOMENT,
    TEXT,
    st.none() | SMALL,
    TEXT,
)


def few(one: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[Any]:
    """A short tuple of these."""
    return st.lists(one, max_size=most).map(tuple)


TEXTS = few(TEXT)
RETRY = st.builds(
    RetryScheduled,
    st.sampled_from(["model", "compaction"]),
    st.sampled_from(FaultKind),
    SMALL,
    SMALL,
    SECONDS,
    MOMENT,
    st.none() | st.just(529),
    st.none(),
    TEXT,
)
FAULT = st.builds(Fault, st.sampled_from(FaultKind), TEXT, st.none() | st.just(500))
MODELS = st.builds(
    ModelStatus,
    chosen=NAME,
    active=NAME,
    phase=st.sampled_from(Phase),
    since=MOMENT,
    attempt=SMALL,
    retry=st.none() | RETRY,
    held=st.none() | st.builds(RequestHeld, TEXT, st.sampled_from(HoldReason), st.none() | MOMENT, st.integers(0, 99)),
    limits=st.dictionaries(
        NAME,
        st.builds(RequestLimitSet, TEXT, st.none() | st.integers(1, 99), st.integers(1, 99), st.none(), MOMENT, MOMENT),
        max_size=2,
    ),
    offered=st.none() | st.builds(WaitOffered, SECONDS, MOMENT, st.booleans(), TEXT),
    fault=st.none() | FAULT,
    kept_characters=TOKENS,
    kept_calls=SMALL,
    discarded_characters=TOKENS,
    transition=st.none() | st.builds(Transition, SMALL, CODE, TEXT),
    cap=st.none() | st.builds(OutputCapChanged, TOKENS, TOKENS, TEXT),
    continuations=SMALL,
    most_continuations=SMALL,
    compacting=st.none() | st.builds(CompactionStarted, st.just("auto"), TOKENS),
    compacted=st.none() | st.builds(CompactionEnded, st.just("summary"), TOKENS, TOKENS, st.booleans(), TEXT),
    switched=st.none() | st.builds(ModelSwitched, NAME, NAME, TEXT),
    silence=st.none() | st.builds(SilenceHint, TEXT, SECONDS, SECONDS),
)
REPORT = st.builds(
    PauseReport, TEXT, TEXTS, TEXTS, TEXTS, few(DEFERRED), st.booleans(), consumed=SMALL, next_steps=TEXTS
)
PROJECTION = st.sampled_from(Projection)
SIGNATURE = st.sampled_from(["one", "two"])
LOOP = st.builds(Loop, PROJECTION, SIGNATURE, SMALL, SMALL, TEXT, TEXTS, st.booleans(), st.none(), st.booleans())
CIRCLE = st.builds(
    LoopView,
    LOOP,
    st.booleans(),
    st.none() | st.sampled_from(LoopChoice),
    st.none() | st.builds(LoopLeft, SIGNATURE, PROJECTION, SMALL, st.none() | st.sampled_from(Rung)),
)
TAKEN = st.builds(
    Intervened, SIGNATURE, PROJECTION, st.sampled_from(Rung), SMALL, SMALL, SMALL, TEXT, applied=st.booleans()
)
CIRCLING = st.builds(
    LoopsView, few(CIRCLE), few(TAKEN, 9), st.none() | st.builds(StuckReported, LOOP, SMALL, st.just(()), SMALL, TEXTS)
)
MOVED = st.builds(
    AgentMoved, NAME, SMALL, TEXT, SMALL, TOKENS, SECONDS, st.booleans(), SMALL, health=st.sampled_from(Health)
)
AGENT = st.builds(
    SubagentView,
    NAME,
    TEXT,
    MOMENT,
    st.sampled_from(SubagentActivity),
    st.booleans(),
    SMALL,
    st.none() | MOVED,
    st.none() | st.builds(AgentEnded, NAME, st.sampled_from(AgentEnd), TEXT, SMALL, SMALL, USAGE, SECONDS, SECONDS),
)
COMMAND = st.builds(
    CommandView,
    NAME,
    TEXT,
    MOMENT,
    st.sampled_from(CommandActivity),
    st.none() | st.builds(CommandQuiet, NAME, SECONDS, TEXT),
    st.none()
    | st.builds(CommandEnded, NAME, st.sampled_from(CommandEnd), st.none() | SMALL, SECONDS, TOKENS, TEXT, TEXT),
)
POOL = st.builds(AdmissionView, st.sampled_from(AdmissionPool), SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL)
ENDED = st.builds(TurnEnded, SMALL, CODE, TEXT, TEXT, USAGE, SECONDS, SMALL, SMALL, SECONDS)
ADDRESS = st.builds(Address, NAME, SMALL)
STATE = st.sampled_from(MemberState)
MEMBER = st.builds(
    MemberRow,
    ADDRESS,
    NAME,
    role=TEXT,
    state=STATE,
    why=TEXT,
    since=MOMENT,
    task=TEXT,
    moved=st.none() | MOVED,
    unread=SMALL,
    active=MOMENT,
    owes=few(ADDRESS),
    lane=few(st.tuples(MOMENT, STATE), 9),
    tokens_before=TOKENS,
    cost_before=SECONDS,
)
REQUEST = st.builds(Request, NAME, st.sampled_from(RequestKind), ADDRESS, ADDRESS, TEXT, TEXT)
PANELS = st.builds(
    Panel,
    step=SMALL,
    model=MODELS,
    context_tokens=TOKENS,
    window=TOKENS,
    spend=st.builds(SpendChanged, SMALL, USAGE, SECONDS, USAGE, SECONDS),
    running=few(st.builds(ToolStarted, TEXT, NAME, TEXT, st.just({}))),
    asked=st.none()
    | st.builds(PermissionAsked, TEXT, NAME, TEXT, TEXT)
    | st.builds(QuestionAsked, TEXT, TEXT, st.just(()), NAME),
    rows=few(ROW, 9),
    endpoints=few(ROW),
    routes=few(st.tuples(NAME, st.builds(Alternative, st.sampled_from(Rank), TEXT, TEXT, NAME))),
    consumed=SMALL,
    budget=SMALL,
    failures=few(st.builds(FailureCharged, NAME, FAILURE, SMALL, st.integers(0, 1), SMALL, SMALL), 9),
    cascades=few(
        st.builds(CascadeChanged, TEXT, st.sampled_from(CascadePhase), few(NAME), TEXT, SMALL, st.none() | SMALL)
    ),
    loops=CIRCLING,
    work=st.builds(WorkView, few(AGENT, 12), few(COMMAND, 12), few(POOL)),
    team=few(MEMBER, 9),
    requests=few(REQUEST),
    plan=few(ITEM),
    board=st.none() | st.builds(BoardCounted, *[SMALL] * 7),
    held=few(st.tuples(NAME, TEXT)),
    set_aside=few(st.tuples(NAME, TEXT, TEXT)),
    deferred=few(DEFERRED),
    paused=st.none() | REPORT,
    ended=st.none() | ENDED,
    marks=few(st.builds(StepMark, SMALL, st.none() | CODE, SMALL), 30),
)
KEYS = few(st.tuples(st.sampled_from(["r", "Esc"]), st.sampled_from(["stop", "other model"])))


@settings(max_examples=80 if WHOLE else 30, deadline=None)
@given(PANELS, st.integers(1, 200) | st.integers(20, 80), st.integers(1, 60), st.none() | SMALL, KEYS)
def test_any_panel_fits_into_any_room(
    panel: Panel, width: int, height: int, shown_step: int | None, keys: tuple[tuple[str, str], ...]
) -> None:
    content = panel_content(panel, width, height, NOW, shown_step=shown_step, actions=keys)
    lines = content.split("\n", allow_blank=True)
    assert len(lines) <= height
    assert all(line.cell_length <= width for line in lines)
    assert not set("\t\x1b\x07\x9b\u202e\u2028") & set(content.plain)
    is_calm(panel)


@cache
def everything() -> Content:
    """The panel in all situations as one text."""
    keys = (("r", "retry now"),)
    return Content("\n").join(panel_content(panel, 70, 40, NOW, actions=keys) for panel in ALL.values())


class Showing(App[None]):
    """Shows everything in a theme."""

    def __init__(self, theme: str) -> None:
        super().__init__()
        self.theme = theme

    def compose(self) -> ComposeResult:
        yield Static(everything())


@pytest.mark.anyio
@pytest.mark.parametrize("theme", ["textual-dark", "textual-light", "ansi-dark", "ansi-light"])
async def test_every_style_is_known_to_the_theme_and_troubles_have_a_colour(theme: str) -> None:
    app = Showing(theme)
    async with app.run_test(size=(80, 24)):
        static = app.query_one(Static)
        styles = {str(span.style) for span in everything().spans}
        assert {"dim", "bold $text-warning", "bold $text-error", "bold $text-accent"} <= styles
        for style in styles:
            means = app.stylesheet.parse_style(style)
            assert means.background is None or means.background.a == 0 or "reverse" in style, style
            assert means.foreground is not None or "$" not in style, style
        lines = [static.render_line(line) for line in range(static.size.height)]
        shown = {segment.text.strip(): segment.style for line in lines for segment in line if segment.style}
        quiet = next(style for text, style in shown.items() if text.endswith("not used"))
        assert shown["paused"].color != quiet.color
        assert shown["paused"].bold
        assert quiet.dim
        assert not shown["paused"].dim
