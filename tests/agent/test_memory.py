"""Memory in whole turns: memories reach the next session, survive a compaction, and need permission."""

import json
from pathlib import Path

import pytest

from harness.engine.permissions.asker import NoAsker
from harness.events import HistoryReplaced, Json, PermissionAsked, TransitionCode
from harness.memory import MemoryOwner
from harness.memory.prompt_section import KEEPING, OPENING, nothing_new
from harness.practice.rule_model.model import RuleModel
from harness.practice.server import PracticeServer
from harness.session import Session, open_session
from tests.agent.stage import calls, played, says, sessions, settings_of, stage, summarises
from tests.agent.test_skills import beginning, prompts
from tests.memory.shelves import draft

pytestmark = pytest.mark.anyio

KEEP = (
    '{ id = "r1", name = "remember", input = { name = "Indentation", description = "They want tabs.", '
    'type = "user", text = "Tabs, also in Python." } }'
)
RECALL = '{ id = "r2", name = "recall", input = { query = "tabs or spaces?" } }'
FORGET = '{ id = "r3", name = "forget", input = { name = "indentation" } }'


def system(body: Json) -> str:
    """The system prompt."""
    return "\n".join(block["text"] for block in body["system"])


async def test_what_one_session_keeps_the_next_one_knows(tmp_path: Path) -> None:
    script = calls(KEEP) + says("Kept.") + calls(RECALL) + says("Tabs.")
    async with sessions(tmp_path, script) as here:
        async with await here.open() as first:
            turn = await played(first.run("Remember that I want tabs."))
            assert turn.results[0]["content"] == "Remembered as indentation, for the person."
            assert "(There are none yet.)" in system(here.server.requests[-1].body)
            id = first.id
        async with await here.open() as second:
            turn = await played(second.run("Tabs or spaces?"))
            body = here.server.requests[-1].body
            assert "- indentation (user, person): They want tabs." in system(body)
            assert OPENING not in json.dumps(body["messages"])
            assert f"written in session {id}" in turn.results[0]["content"]
            assert turn.results[0]["content"].endswith("Tabs, also in Python.")


async def test_after_a_compaction_the_new_memory_is_sent_again_and_the_prompt_keeps_its_bytes(tmp_path: Path) -> None:
    long = says(" ".join(map(str, range(9_000))))
    script = calls(KEEP) + says("Kept.") + long * 2 + says("Tabs.") + says("Yes.") + summarises()
    async with sessions(tmp_path, script) as here, await here.open() as session:
        await played(session.run("Remember that I want tabs."))
        await played(session.run("Hello."))
        bodies = [one.body for one in here.server.requests if one.path == "/v1/messages"]
        assert prompts(bodies[-1])[0].startswith(f"{OPENING}\nCompared")
        await played(session.run("Hello again."))
        compacted = await played(session.user_commands.compact())
        assert compacted.of(HistoryReplaced)
        await played(session.run("Tabs or spaces?"))
        await played(session.run("Sure?"))
        bodies = [one.body for one in here.server.requests if one.path == "/v1/messages"]
        assert "They want tabs. (new)" in "\n".join(prompts(bodies[-2]))
        assert prompts(bodies[-1]) == ["Sure?"]
        assert len({system(body) for body in bodies if body["tools"]}) == 1


async def test_changes_by_others_are_announced_and_taken_back(tmp_path: Path) -> None:
    script = "".join(says(f"{number}.") for number in range(5))
    async with sessions(tmp_path, script) as here, await here.open() as session:

        async def announced() -> list[str]:
            await played(session.run("Go."))
            return prompts(here.server.requests[-1].body)[:-1]

        async with await here.open() as other:
            store = other.memory.store
        await announced()
        store.keep(draft("late"), MemoryOwner.PROJECT)
        assert "- late (user, project): What they want. (new)" in (await announced())[0]
        assert await announced() == []
        store.forget("late")
        assert await announced() == [nothing_new()]
        assert await announced() == []
        assert len({beginning(one.body) for one in here.server.requests}) == 1


async def test_writing_asks_like_all_that_writes_and_a_rule_allows_it(tmp_path: Path) -> None:
    for settings, allowed in (
        ({"permission_mode": "ask"}, False),
        ({"permission_mode": "deny"}, False),
        ({"permission_mode": "ask", "permissions_allow": ("remember", "forget")}, True),
        ({"permission_mode": "edits"}, True),
        ({"permission_mode": "yolo", "permissions_deny": ("remember", "forget")}, False),
    ):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        async with stage(folder, calls(KEEP) + calls(RECALL) + calls(FORGET) + says("Done."), **settings) as on:
            turn = await on.turn()
            kept, recalled, forgotten = turn.results
            assert [bool(one.get("is_error")) for one in (kept, recalled, forgotten)] == [
                not allowed,
                False,
                not allowed,
            ]
            asked = [event.tool for event in turn.of(PermissionAsked)]
            assert "recall" not in asked
            assert on.agent.parts.core.shared.memory.store.forgotten() == (("indentation",) if allowed else ())


async def test_no_request_is_made_for_memory_and_secrets_stay_out(tmp_path: Path) -> None:
    secret = KEEP.replace("Tabs, also in Python.", "password: hunter2!x")
    async with stage(tmp_path, calls(secret) + says("Then not.")) as on:
        turn = await on.turn()
        assert turn.end.code is TransitionCode.COMPLETED
        assert "a password or token" in turn.results[0]["content"]
        assert len(on.posts) == 2
        assert "hunter2" not in "".join(file.read_text() for file in tmp_path.rglob("*.md"))


async def test_the_practice_model_remembers_from_session_to_session(tmp_path: Path) -> None:
    async with PracticeServer(RuleModel()) as server:
        settings = settings_of(tmp_path, server.base_url)

        async def answer(session: Session, prompt: str) -> str:
            return (await played(session.run(prompt))).end.answer

        async with await open_session(settings, NoAsker(), warm=False) as first:
            await answer(first, "Remember that I prefer tabs.")
            await played(first.user_commands.compact())
            assert "I prefer tabs" in await answer(first, "What do you remember about tabs?")
        async with await open_session(settings, NoAsker(), warm=False) as second:
            assert "I prefer tabs" in await answer(second, "What do you remember?")
            assert "is forgotten" in await answer(second, "Forget about tabs.")


@pytest.mark.parametrize("keeps", [True, False])
async def test_only_a_model_that_can_remember_learns_when_to(tmp_path: Path, keeps: bool) -> None:
    standard = ("recall", "remember") if keeps else ("recall",)
    async with sessions(tmp_path, says("x")) as here, await here.open(standard=standard) as session:
        await played(session.run("go"))
        assert (KEEPING in system(here.server.requests[-1].body)) == keeps
