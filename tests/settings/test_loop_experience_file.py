"""What a project has taught about loops outlives its sessions, and nothing else is written for it."""

import json
import os
import threading
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.events import LoopFound, LoopLeft, Notice, Projection, Rung
from harness.policies.loops.ladder import MOST_TRIED, RungResult
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Opening, open_session
from harness.settings.loop_experience_file import NAME, ExperienceError, ExperienceFile, experience_file
from tests.agent.stage import calls, played, run, says, settings_of, stage
from tests.engine.loops.test_runner import NOTES, notes, rungs, same

KIND = Projection.INTERACTION, False
TRIED = RungResult(KIND, Rung.NUDGE, freed=False)
FREED = RungResult(KIND, Rung.NUDGE, freed=True)

LOOP = same("read_file", times="4", path="notes.txt") + says("Found it.")
"""One nudge frees it."""


@pytest.fixture
def file(tmp_path: Path) -> ExperienceFile:
    return ExperienceFile(tmp_path / "project" / NAME)


# ── the file ────────────────────────────────────────────────────────────────────────────────────


def test_what_two_sessions_learn_at_the_same_time_is_all_there(file: ExperienceFile) -> None:
    def learn() -> None:
        for _ in range(6):
            file.add([TRIED, FREED])

    sessions = [threading.Thread(target=learn) for _ in range(4)]
    for session in sessions:
        session.start()
    for session in sessions:
        session.join()
    tally = file.read().of(KIND, Rung.NUDGE)
    assert (tally.tried, tally.freed) == (24, 24)
    assert {path.name for path in file.path.parent.iterdir()} == {NAME, "escape.lock"}


def test_the_file_stays_small_however_much_is_learnt(file: ExperienceFile) -> None:
    kinds = [(projection, failing) for projection in Projection for failing in (True, False)]
    file.add([RungResult(kind, rung, freed=False) for kind in kinds for rung in Rung for _ in range(3 * MOST_TRIED)])
    assert file.path.stat().st_size < 10_000
    assert len(file.read().tallies) == len(Projection) * 2 * len(Rung)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 50_000, "no JSON"),
        (b"[1]", "no experience"),
        (b'{"format": 9, "tallies": {}}', "format 9"),
        (b'{"format": 1, "tallies": {"action working nudge": [2, 1]}}', "no tally"),
        (b" " * 200_000, "larger than 100,000 bytes"),
    ],
)
def test_a_file_that_is_damaged_or_foreign_is_set_aside_and_never_written_over(
    file: ExperienceFile, content: bytes, why: str
) -> None:
    file.path.parent.mkdir()
    for number in (1, 2):
        file.path.write_bytes(content)
        with pytest.raises(ExperienceError, match=why):
            file.read()
        assert file.path.read_bytes() == content
        aside = file.add([TRIED])
        assert aside == file.path.with_name(f"{NAME}.unusable-{number}")
        assert aside.read_bytes() == content
        assert file.read().of(KIND, Rung.NUDGE).tried == 1


def test_a_pipe_in_its_place_is_not_waited_for(file: ExperienceFile) -> None:
    file.path.parent.mkdir()
    os.mkfifo(file.path)
    with pytest.raises(ExperienceError, match="not a regular file"):
        file.read()


def test_a_folder_that_cannot_be_written_is_told_of_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExperienceError, match=r"cannot be written: .+\.$"):
        ExperienceFile(tmp_path / "file" / NAME).add([TRIED])


def test_what_is_forgotten_is_gone(file: ExperienceFile) -> None:
    assert not file.forget()
    file.add([TRIED])
    assert file.forget()
    assert not file.read().tallies


# ── agents ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.anyio
async def test_an_agent_that_was_freed_leaves_it_to_the_next_one(tmp_path: Path) -> None:
    for number in (1, 2):
        async with stage(tmp_path, LOOP) as here:
            notes(here)
            turn = await here.turn()
            assert [event.freed_by for event in turn.of(LoopLeft)] == [Rung.NUDGE]
            assert not turn.of(Notice)
            tally = experience_file(here.agent.parts.core.settings).read().of(KIND, Rung.NUDGE)
            assert (tally.tried, tally.freed) == (number, number)


@pytest.mark.anyio
async def test_what_a_session_learnt_is_not_learnt_again_when_it_is_gone_on_with(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(LOOP + says("Well."))) as server:
        loaded = settings_of(tmp_path, server.base_url)
        (loaded.settings.workspace / "notes.txt").write_text(NOTES)
        async with await open_session(loaded, NoAsker()) as session:
            await played(session.run("go"))
        async with await open_session(loaded, NoAsker(), Opening(session.id)) as session:
            await played(session.run("and"))
            assert len(session.sessions()) == 1
    assert experience_file(loaded.settings).read().of(KIND, Rung.NUDGE).tried == 1


@pytest.mark.anyio
@pytest.mark.parametrize(("script", "escape"), [(calls(run("once")) + says("Done."), True), (LOOP, False)])
async def test_nothing_is_written_without_a_loop_or_where_nothing_is_done_about_loops(
    tmp_path: Path, script: str, escape: bool
) -> None:
    async with stage(tmp_path, script, loop_intervention=escape) as here:
        notes(here)
        turn = await here.turn()
        assert bool(turn.of(LoopFound)) == (script is LOOP)
        assert not experience_file(here.agent.parts.core.settings).path.parent.exists()


@pytest.mark.anyio
async def test_a_damaged_file_costs_one_warning_and_is_told_of_when_it_is_set_aside(tmp_path: Path) -> None:
    file = experience_file(settings_of(tmp_path, "http://127.0.0.1:1").settings)
    file.path.parent.mkdir(parents=True)
    file.path.write_text("scribble")
    async with stage(tmp_path, says("Hello.") + LOOP) as here:
        notes(here)
        (warned,) = (await here.turn()).of(Notice)
        assert (warned.level, str(file.path) in warned.text) == ("warning", True)
        assert file.path.read_text() == "scribble"
        (told,) = (await here.turn()).of(Notice)
        assert (told.level, f"{NAME}.unusable-1" in told.text) == ("info", True)
    assert file.read().of(KIND, Rung.NUDGE).freed == 1


@pytest.mark.anyio
async def test_a_full_disk_costs_a_warning_and_not_the_answer(tmp_path: Path) -> None:
    async with stage(tmp_path, LOOP) as here:
        notes(here)
        experience_file(here.agent.parts.core.settings).path.parent.parent.mkdir(parents=True, exist_ok=True)
        experience_file(here.agent.parts.core.settings).path.parent.write_text("in the way")
        turn = await here.turn()
        assert turn.end.answer == "Found it."
        assert [notice.level for notice in turn.of(Notice)] == ["warning"]


@pytest.mark.anyio
async def test_of_two_equally_mild_rungs_the_one_that_has_freed_more_comes_first(tmp_path: Path) -> None:
    plan = calls('{ name = "todo_write", input = { items = [{ text = "count the files", status = "pending" }] } }')
    script = plan + same("read_file", times="5", path="notes.txt") + says("Found it.")
    bad = [RungResult(KIND, Rung.EXPLORE, freed=False)] * 3
    good = [RungResult(KIND, Rung.SUBSTITUTE, freed=freed) for freed in (False, True)]
    experience_file(settings_of(tmp_path, "http://127.0.0.1:1").settings).add(bad + good)
    async with stage(tmp_path, script) as here:
        notes(here)
        assert rungs(await here.turn()) == [Rung.NUDGE, Rung.SUBSTITUTE]


# ── the command ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def of_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ExperienceFile:
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return experience_file(settings_of(tmp_path, "http://127.0.0.1:1", workspace=tmp_path).settings)


def test_what_was_learnt_is_a_table_that_names_its_file(
    of_this_folder: ExperienceFile, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["loops", "stats"]) == 0
    assert "No intervention has ended a loop" in capsys.readouterr().out
    of_this_folder.add([TRIED, TRIED, FREED, RungResult((Projection.ERROR, True), Rung.STOP, freed=False)])
    assert main(["loops", "stats"]) == 0
    head, first, second, where = capsys.readouterr().out.splitlines()
    assert head.split("  ")[0] == "kind of loop"
    assert first.split() == ["interaction", "nudge", "2", "1"]
    assert second.split() == ["error,", "failing", "stop", "1", "0"]
    assert str(of_this_folder.path) in where


def test_what_was_learnt_is_printed_for_programs_and_forgotten(
    of_this_folder: ExperienceFile, capsys: pytest.CaptureFixture[str]
) -> None:
    of_this_folder.add([TRIED])
    assert main(["loops", "stats", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": str(of_this_folder.path),
        "tallies": [{"projection": "interaction", "failing": False, "rung": "nudge", "tried": 1, "freed": 0}],
    }
    assert main(["loops", "stats", "--forget"]) == 0
    assert main(["loops", "stats", "--forget"]) == 0
    assert "Nothing to delete" in capsys.readouterr().out
    assert not of_this_folder.path.exists()


def test_a_damaged_file_is_one_sentence_and_can_be_forgotten(
    of_this_folder: ExperienceFile, capsys: pytest.CaptureFixture[str]
) -> None:
    of_this_folder.path.parent.mkdir(parents=True)
    of_this_folder.path.write_text("scribble")
    assert main(["loops", "stats"]) == 1
    assert capsys.readouterr().err == f"harness: {of_this_folder.path} cannot be used: this is no JSON.\n"
    assert main(["loops", "stats", "--forget"]) == 0
    assert not of_this_folder.path.exists()
