"""A conversation continues before an earlier prompt."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.checkpoints import ChangeKind, CheckpointError, FileChange
from harness.engine.permissions.asker import Asker
from harness.events import CheckpointMade, Event, HistoryReplaced, Notice, PermissionAsked, RolledBack, StepStarted
from harness.journal import RewindPoint, read
from harness.permissions import PermissionAnswer, PermissionRequest
from harness.practice.requests import messages as messages_of
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Opening, Session, open_session
from harness.ui.markdown_page import export
from tests.agent.stage import calls, check_requests, played, run, says, sessions, settings_of, stage, summarises
from tests.agent.test_tool_rounds import call

pytestmark = pytest.mark.anyio

SCRIPT = calls(run("once")) + says("One.") + says("Two.") + says("Other.") + says("Last.")


def prints(characters: int) -> str:
    """A call with a result of this length."""
    return f'{{ name = "bash", input = {{ command = "yes word | head -c {characters}" }} }}'


def typed(session: Session) -> list[tuple[int, str]]:
    return [(point.turn, point.prompt) for point in session.conversation.rewind_points]


async def test_the_next_request_knows_nothing_of_what_was_cut(tmp_path: Path) -> None:
    async with sessions(tmp_path, SCRIPT) as here:
        async with await here.open() as session:
            await played(session.run("first"))
            await played(session.run("second"))
            assert typed(session) == [(1, "first"), (2, "second")]
            assert session.rewind.to_turn(2) == "second"
            assert typed(session) == [(1, "first")]
            turn = await played(session.run("another"))
            assert (turn.end.turn, turn.end.answer) == (3, "Other.")
            export(session, tmp_path / "page.md", "markdown")
            (listed,) = session.sessions()
            assert listed.title == "first"
        async with await here.open(Opening(session.id)) as session:
            assert typed(session) == [(1, "first"), (3, "another")]
            assert session.rewind.to_turn(1) == "first"
            turn = await played(session.run("anew"))
            assert (turn.end.turn, turn.end.answer) == (4, "Last.")
        asked = [" ".join(message.text for message in messages_of(post.body)) for post in here.server.requests]
        check_requests(here.server.requests)
    assert "second" not in asked[3]
    assert "first" in asked[3]
    assert asked[4].endswith("anew")
    assert "another" not in asked[4]
    assert "history replaced: rewind" in (tmp_path / "page.md").read_text()
    cuts = [r.event for r in read(session.path).records if isinstance(r.event, HistoryReplaced)]
    assert [cut.reason for cut in cuts] == ["rewind", "rewind"]


async def test_a_turn_that_runs_or_is_unknown_cannot_be_cut(tmp_path: Path) -> None:
    refused = []
    async with stage(tmp_path, says("One.")) as here:

        def try_to_rewind(event: Event) -> None:
            if isinstance(event, StepStarted):
                with pytest.raises(HarnessError, match="A turn is running") as caught:
                    here.agent.parts.rewind.to_turn(1)
                refused.append(caught.value)

        await here.turn(on_event=try_to_rewind)
        with pytest.raises(HarnessError, match="no way back to turn 2"):
            here.agent.parts.rewind.to_turn(2)
    assert len(refused) == 1


async def test_there_is_a_way_back_before_a_summary_and_none_before_a_clear(tmp_path: Path) -> None:
    script = calls(prints(9_000)) * 3 + says("One.") + says("Two.") + says("Three.") + summarises() + says("Four.")
    async with stage(tmp_path, script) as here:
        for prompt in ("first", "second", "third"):
            await here.turn(prompt)
        points = here.agent.conversation.rewind_points
        assert [point.turn for point in points] == [1, 2, 3]
        assert points[0] == RewindPoint(1, "first", 0)
        compacted = await here.compact()
        assert compacted.of(HistoryReplaced)
        assert here.agent.conversation.rewind_points == points
        assert here.agent.parts.rewind.to_turn(2) == "second"
        assert [point.turn for point in here.agent.conversation.rewind_points] == [1]
        assert here.agent.conversation.messages[0].text.endswith("first")
        await here.turn("second again")
        sent = [message["content"][-1].get("text", "") for message in here.bodies[-1]["messages"]]
        assert [text for text in sent if "second" in text or "third" in text] == ["second again"]
        here.agent.parts.user_commands.clear()
        assert here.agent.conversation.rewind_points == ()


async def test_there_is_a_way_back_before_two_summaries_also_after_a_resume(tmp_path: Path) -> None:
    turns = [calls(prints(9_000)) + says(f"{number}.") for number in range(1, 7)]
    async with sessions(tmp_path, "".join(turns) + says("Again.") + summarises(), permission_mode="yolo") as here:
        async with await here.open() as session:
            for prompt in ("1", "2", "3"):
                await played(session.run(prompt))
            assert (await played(session.user_commands.compact())).of(HistoryReplaced)
            first = session.conversation.messages
            await played(session.run("4"))
        async with await here.open(Opening(session.id)) as session:
            await played(session.run("5"))
            assert (await played(session.user_commands.compact())).of(HistoryReplaced)
            await played(session.run("6"))
        async with await here.open(Opening(session.id)) as session:
            assert typed(session) == [(turn, str(turn)) for turn in range(1, 7)]
            assert session.rewind.to_turn(6) == "6"
            assert session.rewind.to_turn(5) == "5"  # behind the second summary
            assert session.conversation.messages[: len(first)] == first
        async with await here.open(Opening(session.id)) as session:
            assert session.rewind.to_turn(4) == "4"
            assert session.conversation.messages == first
            assert session.rewind.to_turn(2) == "2"  # behind the first
            assert typed(session) == [(1, "1")]
            await played(session.run("again"))
            sent = " ".join(message.text for message in messages_of(here.server.requests[-1].body))
            check_requests(here.server.requests)
        assert "Requests:" not in sent
        assert typed(session) == [(1, "1"), (7, "again")]


# ── the files as well ───────────────────────────────────────────────────────────────────────────────


FIRST = "one\n"
TWO_TURNS = (
    calls(call("write_file", path="new.txt", content="new\n"))
    + says("Written.")
    + calls(call("bash", command="echo two >> notes.txt; rm old.txt"))
    + calls(call("bash", command="echo three >> notes.txt"))
    + says("Added.")
)
"""The first turn makes a file, the second changes one and removes one."""


class ScriptedUser(NoAsker):
    """Somebody who allows tool calls, and answers what may become of the files."""

    present = True

    def __init__(self, *answers: PermissionAnswer, meanwhile: Callable[[], object] | None = None) -> None:
        self.answers = list(answers)
        self.shown: list[PermissionRequest] = []
        self._meanwhile = meanwhile

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """The next answer, after the action that happens while the user thinks."""
        self.shown.append(request)
        if self._meanwhile is not None:
            self._meanwhile()
            self._meanwhile = None
        return self.answers.pop(0)


YES, NO = PermissionAnswer("once"), PermissionAnswer("no")


class Place:
    """A workspace, and a model that plays a script in every session that is opened there."""

    def __init__(self, folder: Path, server: PracticeServer) -> None:
        self.loaded = settings_of(folder, server.base_url)
        self.workspace = self.loaded.settings.workspace

    def open(self, asker: Asker, opening: Opening | None = None) -> "asyncio.Future[Session]":
        return asyncio.ensure_future(open_session(self.loaded, asker, opening))

    @property
    def files(self) -> dict[str, str]:
        """What the files hold, by path."""
        files = (path for path in self.workspace.rglob("*") if path.is_file() and ".git" not in path.parts)
        return {str(path.relative_to(self.workspace)): path.read_text() for path in files}


@asynccontextmanager
async def place(folder: Path, script: str, *, git: bool = False) -> AsyncIterator[Place]:
    async with PracticeServer(script=Script.parse(f'after = "error"\n{script}')) as server:
        here = Place(folder, server)
        (here.workspace / "notes.txt").write_text(FIRST)
        (here.workspace / "old.txt").write_text("old\n")
        if git:
            begin_repository(here.workspace)
        yield here


def begin_repository(folder: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)


BEFORE = {"notes.txt": FIRST, "old.txt": "old\n"}
AFTER_ONE = {**BEFORE, "new.txt": "new\n"}
AFTER_TWO = {"notes.txt": "one\ntwo\nthree\n", "new.txt": "new\n"}


async def two_turns(session: Session) -> None:
    await played(session.run("first"))
    await played(session.run("second"))


# ── by hand ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("git", [True, False])
async def test_files_and_conversation_go_back_to_before_a_prompt_and_the_files_forth_again(
    tmp_path: Path, git: bool
) -> None:
    user = ScriptedUser(YES, YES, YES)
    async with place(tmp_path, TWO_TURNS, git=git) as here, await here.open(user) as session:
        await two_turns(session)
        rewound = await played(session.rewind.with_files(2))
        assert here.files == AFTER_ONE
        assert [point.turn for point in session.conversation.rewind_points] == [1]
        (back,) = rewound.of(RolledBack)
        assert (back.turn, back.step, back.why) == (2, 2, "rewind")
        assert sorted(back.files_restored) == ["notes.txt", "old.txt"]
        assert [line.split()[:2] for line in back.not_undone] == [["bash", "echo"], ["bash", "echo"]]
        assert "second" in rewound.of(Notice)[-1].text
        assert [event.reason for event in rewound.of(HistoryReplaced)] == ["rewind"]
        await played(session.rewind.undo())
        assert here.files == AFTER_TWO
        await played(session.rewind.undo())
        assert here.files == AFTER_ONE
    assert [request.tool for request in user.shown] == ["rewind"] * 3


async def test_a_user_sees_what_would_be_written_back_or_removed_and_what_stays(tmp_path: Path) -> None:
    user = ScriptedUser(NO)
    async with place(tmp_path, TWO_TURNS) as here, await here.open(user) as session:
        await two_turns(session)
        refused = await played(session.rewind.with_files(1))
        assert here.files == AFTER_TWO
        assert len(session.conversation.rewind_points) == 2
        assert refused.of(RolledBack) == []
        assert refused.of(Notice)[-1].text == "Nothing was taken back."
    (request,) = user.shown
    assert request.summary == "write back 2 files and remove 1 file, as they were before turn 1"
    lines = request.detail.splitlines()
    assert lines[:3] == ["remove      new.txt", "write back  notes.txt", "bring back  old.txt"]
    assert [line.startswith("not undone  bash echo") for line in lines[3:]] == [True, True]


async def test_what_a_user_changes_while_they_are_asked_is_shown_before_it_is_lost(tmp_path: Path) -> None:
    async with place(tmp_path, TWO_TURNS) as here:
        user = ScriptedUser(YES, NO, meanwhile=partial((here.workspace / "mine.txt").write_text, "mine"))
        async with await here.open(user) as session:
            await two_turns(session)
            await played(session.rewind.with_files(1))
        assert here.files == {**AFTER_TWO, "mine.txt": "mine"}
        assert ["mine.txt" in request.detail for request in user.shown] == [False, True]


LATER = "changed after the turn"


async def test_what_a_user_changed_after_the_turn_stays_or_is_marked(tmp_path: Path) -> None:
    user = ScriptedUser(YES, YES)
    async with place(tmp_path, TWO_TURNS) as here, await here.open(user) as session:
        await two_turns(session)
        (here.workspace / "mine.txt").write_text("mine")
        (here.workspace / "new.txt").write_text("new, and mine\n")
        (here.workspace / "notes.txt").write_text("one\ntwo\nthree\nmine\n")
        rewound = await played(session.rewind.with_files(2))
        assert here.files == {**BEFORE, "mine.txt": "mine", "new.txt": "new, and mine\n"}
        (back,) = rewound.of(RolledBack)
        assert [line for line in back.not_undone if "mine.txt" in line] == [
            "mine.txt: changed after the turn; it stays as it is"
        ]
        (here.workspace / "late.txt").write_text("late")
        await played(session.rewind.undo())
        assert here.files["notes.txt"] == "one\ntwo\nthree\nmine\n"
        assert here.files["late.txt"] == "late"
    lines = user.shown[0].detail.splitlines()
    assert lines[:4] == [
        f"write back  notes.txt  ({LATER}; /rewind undo brings that back)",
        "bring back  old.txt",
        f"left alone  mine.txt  ({LATER} only)",
        f"left alone  new.txt  ({LATER} only)",
    ]
    assert user.shown[0].summary.endswith("1 of them changed after the turn")


@pytest.mark.parametrize("resumed", [False, True])
async def test_what_a_rewind_took_back_is_no_change_of_the_user(tmp_path: Path, resumed: bool) -> None:
    user = ScriptedUser(YES, YES)
    third = calls(call("bash", command="echo other >> notes.txt")) + says("Other.")
    async with place(tmp_path, TWO_TURNS + third) as here:
        session = await here.open(user)
        await two_turns(session)
        await played(session.rewind.with_files(2))
        if resumed:
            await session.aclose()
            session = await here.open(user, Opening(session.id))
        async with session:
            await played(session.run("third"))
            await played(session.rewind.with_files(1))
        assert here.files == BEFORE
    assert user.shown[1].detail.splitlines()[:2] == ["remove      new.txt", "write back  notes.txt"]
    assert LATER not in user.shown[1].summary


async def test_what_was_changed_after_the_turn_is_named_where_nobody_can_be_asked(tmp_path: Path) -> None:
    user = ScriptedUser()
    async with place(tmp_path, TWO_TURNS) as here, await here.open(user) as session:
        await two_turns(session)
        user.present = False
        (here.workspace / "notes.txt").write_text("mine\n")
        rewound = await played(session.rewind.with_files(2))
        assert here.files == AFTER_ONE
    assert f"{LATER}, too: notes.txt;" in rewound.of(Notice)[0].text


async def test_what_changed_between_two_turns_stays_also_after_the_session_was_opened_again(tmp_path: Path) -> None:
    async with place(tmp_path, TWO_TURNS) as here:
        async with await here.open(ScriptedUser()) as session:
            await played(session.run("first"))
            (here.workspace / "between.txt").write_text("mine")
            await played(session.run("second"))
        user = ScriptedUser(YES)
        async with await here.open(user, Opening(session.id)) as session:
            await played(session.rewind.with_files(1))
        assert here.files == {**BEFORE, "between.txt": "mine"}
    assert f"left alone  between.txt  ({LATER} only)" in user.shown[0].detail


# ── for programs ────────────────────────────────────────────────────────────────────────────────


async def test_a_program_sees_what_changed_since_a_turn_and_takes_it_back_without_a_question(tmp_path: Path) -> None:
    async with place(tmp_path, TWO_TURNS) as here, await here.open(ScriptedUser()) as session:
        await two_turns(session)
        since = await session.rewind.files_since(2)
        assert since is not None
        assert since.changes == (FileChange("notes.txt", ChangeKind.CHANGED), FileChange("old.txt", ChangeKind.REMOVED))
        assert len(since.stays) == 2
        with pytest.raises(HarnessError, match="no way back to turn 3"):
            await session.rewind.restore_files(3, conversation=True)
        back = await session.rewind.restore_files(2)
        assert sorted(back.files_restored) == ["notes.txt", "old.txt"]
        assert here.files == AFTER_ONE
        assert len(session.conversation.rewind_points) == 2
        events = [record.event for record in read(session.path).records]
        assert back in events
        again = await session.rewind.files_since(1)
        assert again is not None
        assert [change.path for change in again.changes] == ["new.txt"]
        await session.rewind.restore_files(1, conversation=True)
        assert [point.turn for point in session.conversation.rewind_points] == []
        cut, told = [record.event for record in read(session.path).records][-2:]
        assert (type(cut), type(told)) == (HistoryReplaced, RolledBack)  # the text after a cut is complete


async def test_it_is_said_plainly_when_nothing_was_kept(tmp_path: Path) -> None:
    async with place(tmp_path, says("Hello.") + TWO_TURNS) as here:
        async with await here.open(ScriptedUser()) as session:
            await played(session.run("hello"))
            assert await session.rewind.files_since(1) is None
            with pytest.raises(HarnessError, match="only the conversation can be taken back"):
                await played(session.rewind.with_files(1))
            with pytest.raises(HarnessError, match="No files were kept since turn 1"):
                await session.rewind.restore_files(1)
            with pytest.raises(HarnessError, match="There was no turn 7"):
                await session.rewind.files_since(7)
            with pytest.raises(HarnessError, match="No files were taken back"):
                await played(session.rewind.undo())
            assert len(session.conversation.rewind_points) == 1
        async with await here.open(NoAsker(), Opening(session.id)) as session:
            await two_turns(session)
            assert await session.rewind.files_since(2) is None


async def test_files_stay_while_a_turn_runs(tmp_path: Path) -> None:
    refused: list[HarnessError] = []
    async with place(tmp_path, TWO_TURNS) as here, await here.open(ScriptedUser()) as session:
        await played(session.run("first"))
        tries: list[asyncio.Task[RolledBack]] = []

        def try_to_rewind(event: Event) -> None:
            if isinstance(event, StepStarted):
                tries.append(asyncio.ensure_future(session.rewind.restore_files(1)))

        await played(session.run("second"), on_event=try_to_rewind)
        refused += [error for one in tries if isinstance(error := one.exception(), HarnessError)]
        assert tries
        assert len(refused) == len(tries)
        assert here.files == AFTER_TWO


# ── sessions that are gone on with ──────────────────────────────────────────────────────────────


async def test_a_resumed_session_still_knows_the_way_back_and_how_to_undo_it(tmp_path: Path) -> None:
    async with place(tmp_path, TWO_TURNS) as here:
        async with await here.open(ScriptedUser()) as session:
            await two_turns(session)
            made = [r.event for r in read(session.path).records if isinstance(r.event, CheckpointMade)]
            assert {event.turn for event in made} == {1, 2}
            kept = await session.rewind.files_since(2)
        async with await here.open(ScriptedUser(YES), Opening(session.id)) as session:
            assert await session.rewind.files_since(2) == kept
            await session.rewind.restore_files(2)
            assert here.files == AFTER_ONE
        async with await here.open(ScriptedUser(YES), Opening(session.id)) as session:
            await played(session.rewind.undo())
            assert here.files == AFTER_TWO


async def test_a_copy_says_where_its_files_are_kept_and_leaves_the_original_whole(tmp_path: Path) -> None:
    more = calls(call("bash", command="echo four >> notes.txt")) + says("Four.")
    async with place(tmp_path, TWO_TURNS + more) as here:
        async with await here.open(ScriptedUser()) as session:
            await two_turns(session)
        async with await here.open(ScriptedUser(), Opening(session.id, fork=True)) as copy:
            with pytest.raises(CheckpointError, match=f"kept by the session {session.id}, which this one was copied"):
                await copy.rewind.files_since(2)
            await played(copy.run("third"))
            await copy.rewind.restore_files(3)
            assert here.files == AFTER_TWO
        async with await here.open(ScriptedUser(), Opening(session.id)) as session:
            await session.rewind.restore_files(1)
            assert here.files == BEFORE
