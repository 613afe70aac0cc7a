"""Where a turn can be taken back to: by the events of a session, and with real files."""

from pathlib import Path

import pytest

from harness.checkpoints import Checkpoints
from harness.engine.conversation import Conversation
from harness.engine.rewind.rollback import CheckpointFold, CheckpointMark, RollbackPoint, Rollbacks
from harness.events import (
    OWN_COMMAND,
    CheckpointMade,
    Event,
    HistoryReplaced,
    Json,
    Loop,
    Message,
    Notice,
    Origin,
    Projection,
    RolledBack,
    SessionStarted,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TurnStarted,
)
from harness.tools import standard_tools
from harness.tools.tool import Tool

pytestmark = pytest.mark.anyio

TOOLS = {tool.name: tool for tool in standard_tools()}


def fold(*events: Event) -> CheckpointFold:
    made = CheckpointFold(TOOLS.get)
    made.recall(events)
    return made


def called(tool: str, id: str, outcome: ToolOutcome = ToolOutcome.OK, **input: str) -> tuple[Event, Event]:
    """A call and its end."""
    given: Json = dict(input)
    known: Tool | None = TOOLS.get(tool)
    summary = known.summarise(given) if known else ""
    return ToolStarted(id, tool, summary, given), ToolEnded(id, tool, outcome, "done", 0.1)


def kept(id: str, turn: int, step: int) -> CheckpointMade:
    return CheckpointMade(id, turn, step, 1)


# ── what a rollback can go by ───────────────────────────────────────────────────────────────────────

TWO_TURNS = (
    TurnStarted(1, "first"),
    *(StepStarted(1), kept("a", 1, 1), StepStarted(2), kept("b", 1, 3)),
    TurnStarted(2, "second"),
    *(StepStarted(3), kept("c", 2, 3), StepStarted(4), kept("d", 2, 4)),
)


def test_each_checkpoint_has_its_moment_and_one_after_the_last_step_ends_its_turn() -> None:
    made = fold(*TWO_TURNS)
    marks = [mark for mark, _ in made.since_each(1)]
    assert marks == [
        CheckpointMark(1, 1, "a"),
        CheckpointMark(1, 3, "b", ends_turn=True),
        CheckpointMark(2, 3, "c"),
        CheckpointMark(2, 4, "d"),
    ]
    assert made.last == marks[-1]
    assert fold().last is None


def test_the_files_before_a_step_or_a_turn_are_those_of_the_first_checkpoint_from_there_on() -> None:
    made = fold(*TWO_TURNS)
    assert [made.after(step) for step in range(5)] == ["a", "b", "b", "d", None]
    assert [mark and mark.id for mark in map(made.since, (1, 2, 3))] == ["a", "c", None]
    assert list(made.since_each(99)) == []
    pairs = [(one.id, after and after.id) for one, after in made.since_each(2)]
    assert pairs == [("c", "d"), ("d", None)]
    assert [made.began(turn) for turn in (1, 2, 3)] == [0, 2, None]


def test_a_copy_knows_its_original() -> None:
    started = SessionStarted("s2", "0.1", "/here", "m", "a", practice=False)
    assert fold(started).copied_from == ""
    assert fold(SessionStarted("s2", "0.1", "/here", "m", "a", practice=False, forked_from="s1")).copied_from == "s1"


# ── what stays of the work of tools ─────────────────────────────────────────────────────────────────


def test_what_tools_did_stays_but_for_files_that_were_written_back() -> None:
    made = fold(
        *(TurnStarted(1, "go"), StepStarted(1)),
        *called("write_file", "c1", path="./notes.txt", content="x"),
        *called("bash", "c2", command="make"),
        *called("bash", "c3", command="make"),
        *called("read_file", "c4", path="notes.txt"),
        StepStarted(2),
        *called("write_file", "c5", path="src/a.py", content="x"),
        *called("bash", "c6", path="src/a.py", command="touch"),  # what a command changes is unknown
    )
    make = f"bash {TOOLS['bash'].summarise({'command': 'make'})}"
    notes, source = "write_file ./notes.txt", "write_file src/a.py"
    assert [line.partition(" · ")[0] for line in made.left(0)] == [
        *(notes, f"{make} (2 times)", source, made.left(1)[1].partition(" · ")[0])
    ]
    touch = next(line for line in made.left(1) if line != source)
    assert made.left(1) == (source, touch)
    assert made.left(2) == ()
    assert made.left(0, ("notes.txt", "a.py")) == (f"{make} (2 times)", touch)
    assert made.left(0, ("ake", "tes.txt"))[0] == notes  # whole names only


def test_failed_edits_tests_looks_and_what_the_user_ran_leave_nothing() -> None:
    made = fold(
        *(TurnStarted(1, "go"), StepStarted(1)),
        *called("edit_file", "c1", ToolOutcome.ERROR, path="a.py", old_string="x", new_string="y"),
        *called("bash", "c2", ToolOutcome.ERROR, command="python3 -m pytest -q 2>&1 | tail -3"),
        *called("bash", "c3", command="echo done"),
        *called("bash", f"{OWN_COMMAND}1", command="make install"),
        *called("bash", "c4", ToolOutcome.ERROR, command="make install"),
    )
    assert [line.split()[:3] for line in made.left(0)] == [["bash", "make", "install"]]


@pytest.mark.parametrize("outcome", list(ToolOutcome))
def test_a_call_that_never_ran_has_left_nothing(outcome: ToolOutcome) -> None:
    made = fold(TurnStarted(1, "go"), StepStarted(1), *called("bash", "c1", outcome, command="make"))
    never_ran = outcome in (ToolOutcome.DENIED, ToolOutcome.INVALID, ToolOutcome.SKIPPED)
    assert (made.left(0) == ()) is never_ran


def test_files_that_were_written_back_are_remembered_until_files_are_kept_again() -> None:
    work = (TurnStarted(1, "go"), StepStarted(1), *called("write_file", "c1", path="a", content="x"), StepStarted(2))
    late = called("write_file", "c2", path="a", content="y")
    back = RolledBack(1, 1, ("a",), undo="u1")
    made = fold(*work, *late, back)
    assert (made.undo, made.restored) == ("u1", frozenset({"a"}))
    assert made.left(0) == ("write_file a",)  # of step 1, before which nothing was taken back
    made.on_event(kept("k", 1, 2))
    assert (made.undo, made.restored) == ("u1", frozenset())
    only_talk = fold(*work, *late, RolledBack(1, 1, undo="u2"))
    assert (only_talk.undo, only_talk.left(1)) == ("", ("write_file a",))


def test_a_tool_that_is_not_known_any_more_only_reads() -> None:
    made = fold(TurnStarted(1, "go"), StepStarted(1), *called("gone", "c1", path="a"))
    assert made.left(0) == ()
    assert [made.only_reads(name) for name in ("gone", "read_file", "write_file", "bash")] == [True, True, False, False]


# ── the rounds of the turn that runs ────────────────────────────────────────────────────────────────


class Turn:
    """A conversation with rollbacks on real files."""

    def __init__(self, folder: Path, *, files: bool = True) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.seen: list[Event] = []
        self.talk = Conversation(self.seen.append)
        self.fold = CheckpointFold(TOOLS.get)
        self.store = Checkpoints(self.workspace, folder / "kept")
        self.rollbacks = Rollbacks(self.talk, self.fold, self.store if files else None)
        self.talk.subscribe(self.fold.on_event)
        self.talk.subscribe(self.rollbacks.on_event)
        self.talk.begin_turn("go")
        self.talk.add("user", ({"type": "text", "text": "go"},), Origin.PROMPT)

    async def round(self, text: str, tool: str = "write_file") -> None:
        """A step that writes the note, and its results."""
        self.talk.begin_step()
        await self.rollbacks.keep([tool])
        (self.workspace / "note").write_text(text)
        self.talk.add("assistant", ({"type": "text", "text": text},), Origin.REPLY)
        self.talk.add("user", ({"type": "text", "text": "results"},), Origin.TOOL_RESULTS)

    @property
    def note(self) -> str:
        return (self.workspace / "note").read_text()

    @property
    def made(self) -> list[CheckpointMade]:
        return [event for event in self.seen if isinstance(event, CheckpointMade)]


def loop(period: int, copies: int) -> Loop:
    return Loop(Projection.ACTION, "s", period, copies, "round and round")


async def test_a_loop_is_cut_after_its_first_copy(tmp_path: Path) -> None:
    turn = Turn(tmp_path)
    await turn.round("1")
    assert turn.rollbacks.place(loop(1, 1)) is None  # a single round has no copy
    for text in "234567":
        await turn.round(text)
    steps = [place and place.step for place in (turn.rollbacks.place(loop(*size)) for size in ((1, 3), (2, 3), (3, 5)))]
    assert steps == [5, 3, 1]
    assert turn.rollbacks.place(loop(2, 3)) == RollbackPoint(3, 7)


@pytest.mark.parametrize("files", [True, False])
async def test_conversation_and_files_go_back_together_or_the_conversation_alone(tmp_path: Path, files: bool) -> None:
    turn = Turn(tmp_path)
    for text in "12345":
        await turn.round(text)
    place = turn.rollbacks.place(loop(1, 4))
    assert place is not None
    assert await turn.rollbacks.changed_files(place) == ("note",)
    back = await turn.rollbacks.take_back(place, files=files)
    assert turn.note == ("2" if files else "5")
    assert [message.text for message in turn.talk.messages][-2:] == ["2", "results"]
    assert (back.turn, back.step, back.files_restored) == (1, 2, ("note",) if files else ())
    assert bool(back.undo) is files
    assert turn.seen[-1] == back
    await turn.round("6")  # the rounds up to there are still known
    assert turn.rollbacks.place(loop(1, 3)) == RollbackPoint(1, 3)
    if files:
        await turn.store.restore(back.undo)
        assert turn.note == "5"


async def test_without_a_store_no_file_changes_and_nothing_is_kept(tmp_path: Path) -> None:
    turn = Turn(tmp_path, files=False)
    for text in "123":
        await turn.round(text)
    place = turn.rollbacks.place(loop(1, 2))
    assert place is not None
    assert await turn.rollbacks.changed_files(place) == ()
    assert (await turn.rollbacks.take_back(place, files=True)).files_restored == ()
    assert (turn.note, turn.made) == ("3", [])


async def test_files_are_kept_only_before_calls_that_may_change_them_and_once_while_they_stay(tmp_path: Path) -> None:
    turn = Turn(tmp_path)
    await turn.round("1", "read_file")
    await turn.rollbacks.end_turn()
    assert turn.made == []  # nothing was kept before, so its end is not either
    await turn.round("1", "bash")
    await turn.round("1", "bash")
    assert [(event.turn, event.step) for event in turn.made] == [(1, 2)]
    assert [mark.step for mark, _ in turn.fold.since_each(1)] == [2, 3]
    await turn.round("2", "bash")
    await turn.rollbacks.end_turn()
    assert [(event.turn, event.step) for event in turn.made] == [(1, 2), (1, 5)]
    assert turn.fold.last is not None
    assert turn.fold.last.ends_turn
    turn.talk.begin_turn("talk")
    await turn.rollbacks.end_turn()  # of a turn that kept nothing
    assert len(turn.made) == 2


async def test_a_failing_store_is_reported_once_and_not_asked_again(tmp_path: Path) -> None:
    turn = Turn(tmp_path)
    (tmp_path / "kept").write_text("a file where the folder should be")
    for text in "12":
        await turn.round(text)
    (notice,) = [event for event in turn.seen if isinstance(event, Notice)]
    assert notice.level == "warning"
    assert notice.text.startswith("files are not kept for a way back: ")
    assert turn.made == []


@pytest.mark.parametrize(
    "ends", [TurnStarted(2, "next"), HistoryReplaced((), "compaction")], ids=["a new turn", "a new history"]
)
async def test_rounds_of_another_turn_or_history_are_no_place_to_go_back_to(tmp_path: Path, ends: Event) -> None:
    turn = Turn(tmp_path)
    for text in "123":
        await turn.round(text)
    assert turn.rollbacks.place(loop(1, 2)) is not None
    turn.talk.emit(ends)
    assert turn.rollbacks.place(loop(1, 2)) is None
    turn.talk.add("user", Message("user", ({"type": "text", "text": "results"},)).content, Origin.PROMPT)
    assert turn.rollbacks.place(loop(1, 2)) is None
