"""Instruction files of folders below the workspace: sent once, with the first file there, and with limits."""

from pathlib import Path

import pytest

from harness.engine.instruction_files import MOST_CHARACTERS
from harness.engine.permissions.asker import NoAsker
from harness.events import CompactionEnded, Json, Notice, ToolStarted
from harness.model.prompt import FOLDER_INSTRUCTIONS
from harness.practice.rule_model import RuleModel
from harness.practice.server import PracticeServer
from harness.session import Opening, open_session
from tests.agent.stage import calls, played, says, sessions, settings_of, stage, summarises
from tests.agent.test_agents import of_subagent, task

pytestmark = pytest.mark.anyio


def read(path: str) -> str:
    """A call, for a script, that reads a file."""
    return f"{{ name = \"read_file\", input = {{ path = '{path}' }} }}"


def write(path: str, text: str = "x") -> str:
    """A call, for a script, that writes a file."""
    return f"{{ name = \"write_file\", input = {{ path = '{path}', content = '{text}' }} }}"


def put(workspace: Path, files: dict[str, str]) -> None:
    """Files by path."""
    for path, text in files.items():
        file = workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def told(body: Json) -> list[str]:
    """The texts about folders in a request, each without its lead."""
    blocks = (block for message in body["messages"] for block in message["content"])
    texts = (block.get("text", "") for block in blocks)
    return [text.removeprefix(FOLDER_INSTRUCTIONS).strip() for text in texts if text.startswith(FOLDER_INSTRUCTIONS)]


def framed(path: Path, text: str) -> str:
    """An instruction file as the model reads it."""
    return f'<instructions from="folder" path="{path}">\n{text}\n</instructions>'


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The folder that the agents of these tests work in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


async def test_the_first_file_of_a_folder_brings_its_instructions_once_and_from_the_top_down(
    tmp_path: Path, workspace: Path
) -> None:
    put(workspace, {"AGENTS.md": "Root.", "a/AGENTS.md": "A.", "a/b/CLAUDE.md": "B.", "a/b/x": "x"})
    put(workspace, {"a/c/AGENTS.md": "C.", "other/AGENTS.md": "O."})
    script = calls(read("a/b/x")) + calls(read("a/b/x")) + calls(write("a/c/new")) + says("Done.")
    async with stage(tmp_path, script) as on:
        turn = await on.turn()
        first = "\n\n".join((framed(workspace / "a/AGENTS.md", "A."), framed(workspace / "a/b/CLAUDE.md", "B.")))
        second = framed(workspace / "a/c/AGENTS.md", "C.")
        assert [told(body) for body in on.bodies] == [[], [first], [first], [first, second]]
        results = on.bodies[1]["messages"][-1]["content"]
        assert [block["type"] for block in results] == ["tool_result", "text"]
        for earlier, later in zip(on.bodies, on.bodies[1:], strict=False):
            assert later["system"] == earlier["system"]
        assert [event.text for event in turn.of(Notice) if event.level == "info"] == [
            "Instructions of a folder were read: a/AGENTS.md, a/b/CLAUDE.md.",
            "Instructions of a folder were read: a/c/AGENTS.md.",
        ]


@pytest.mark.parametrize(
    "call", [read("missing/x"), read("a/none"), '{ name = "bash", input = { command = "cat a/x" } }']
)
async def test_a_call_that_fails_or_works_on_no_file_brings_none(tmp_path: Path, workspace: Path, call: str) -> None:
    put(workspace, {"a/AGENTS.md": "A.", "a/x": "x"})
    async with stage(tmp_path, calls(call) + says("Done.")) as on:
        await on.turn()
        assert told(on.bodies[-1]) == []


async def test_an_instruction_file_that_the_model_writes_is_not_sent_back_at_once(
    tmp_path: Path, workspace: Path
) -> None:
    put(workspace, {"a/x": "x"})
    script = calls(write("a/AGENTS.md", "Mine.")) + calls(read("a/x")) + says("Done.")
    async with stage(tmp_path, script) as on:
        await on.turn()
        assert [told(body) for body in on.bodies] == [[], [], [framed(workspace / "a/AGENTS.md", "Mine.")]]


async def test_folders_of_others_and_ignored_ones_bring_none(tmp_path: Path, workspace: Path) -> None:
    put(
        workspace,
        {"node_modules/m/AGENTS.md": "N.", "node_modules/m/x": "x", "out/deep/AGENTS.md": "O.", "out/deep/x": "x"},
    )
    put(workspace, {"src/AGENTS.md": "S.", "src/x": "x"})
    (workspace / ".gitignore").write_text("out/\nCLAUDE.local.md\n")
    (workspace / "src" / "CLAUDE.local.md").write_text("Own.")  # people have git ignore this file
    script = calls(read("node_modules/m/x"), read("out/deep/x")) + calls(read("src/x")) + says("Done.")
    async with stage(tmp_path, script) as on:
        await on.turn()
        assert told(on.bodies[1]) == []
        (text,) = told(on.bodies[2])
        assert text.startswith(framed(workspace / "src/AGENTS.md", "S."))
        assert text.endswith(framed(workspace / "src/CLAUDE.local.md", "Own."))


async def test_a_link_that_leads_out_is_not_followed_and_reported_once(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "secret").write_text("-----BEGIN")
    put(workspace, {"a/x": "x", "a/y": "y"})
    (workspace / "a" / "AGENTS.md").symlink_to(tmp_path / "secret")
    async with stage(tmp_path, calls(read("a/x")) + calls(read("a/y")) + says("Done.")) as on:
        turn = await on.turn()
        assert "BEGIN" not in str(on.bodies)
        (warning,) = [event.text for event in turn.of(Notice) if event.level == "warning"]
        assert warning.startswith(f"{workspace / 'a/AGENTS.md'} is left out: it leads to ")


async def test_files_with_the_same_text_are_sent_once_also_at_the_next_call(tmp_path: Path, workspace: Path) -> None:
    put(workspace, {"a/AGENTS.md": "Same.", "a/CLAUDE.md": "Same.", "a/x": "x"})
    async with stage(tmp_path, calls(read("a/x")) + calls(read("a/x")) + says("Done.")) as on:
        await on.turn()
        assert told(on.bodies[-1]) == [framed(workspace / "a/AGENTS.md", "Same.")]


async def test_all_of_them_together_have_a_limit(tmp_path: Path, workspace: Path) -> None:
    put(
        workspace,
        {"a/AGENTS.md": "a" * (MOST_CHARACTERS - 1_000), "a/x": "x", "b/AGENTS.md": "b\n" * 1_000, "b/x": "x"},
    )
    put(workspace, {"c/AGENTS.md": "c", "c/x": "x"})
    script = calls(read("a/x")) + calls(read("b/x")) + calls(read("c/x")) + says("Done.")
    async with stage(tmp_path, script) as on:
        turn = await on.turn()
        texts = told(on.bodies[-1])
        assert MOST_CHARACTERS - 1_000 < sum(map(len, texts)) <= MOST_CHARACTERS
        assert [text[text.index("\n") + 1] for text in texts] == ["a", "b"]
        cut = [event.text for event in turn.of(Notice) if event.level == "warning"]
        assert [text.partition(" is cut: ")[0] for text in cut] == [str(workspace / f"{one}/AGENTS.md") for one in "bc"]


async def test_the_setting_turns_them_off(tmp_path: Path, workspace: Path) -> None:
    put(workspace, {"a/AGENTS.md": "A.", "a/x": "x"})
    async with stage(tmp_path, calls(read("a/x")) + says("Done."), instructions=False) as on:
        await on.turn()
        assert told(on.bodies[-1]) == []


async def test_a_resumed_session_sends_the_same_bytes_and_does_not_read_them_again(
    tmp_path: Path, workspace: Path
) -> None:
    put(workspace, {"a/AGENTS.md": "A.", "a/x": "x"})
    script = calls(read("a/x")) + says("One.") + calls(read("a/x")) + says("Two.")
    async with sessions(tmp_path, script) as here:
        async with await here.open() as session:
            await played(session.run("first"))
        (workspace / "a" / "AGENTS.md").write_text("Changed.")
        async with await here.open(Opening(session.id)) as session:
            await played(session.run("second"))
        before, last = here.server.requests[1].body, here.server.requests[-1].body
        assert told(last) == [framed(workspace / "a/AGENTS.md", "A.")]
        assert last["system"] == before["system"]
        for earlier, later in zip(before["messages"], last["messages"], strict=False):
            assert [bare(block) for block in later["content"]] == [bare(block) for block in earlier["content"]]


def bare(block: Json) -> Json:
    """A block without its cache breakpoint."""
    return {key: value for key, value in block.items() if key != "cache_control"}


async def test_a_compaction_names_them_and_the_next_call_brings_them_again(tmp_path: Path, workspace: Path) -> None:
    put(workspace, {"a/AGENTS.md": "A.", "a/x": "x", "b/AGENTS.md": "B.", "b/x": "x"})
    script = calls(read("a/x"), read("b/x")) + says("One.") + says("Two.") + calls(read("a/x")) + says("Three.")
    async with sessions(tmp_path, script + summarises()) as here, await here.open() as session:
        await played(session.run("first " * 10_000))
        for prompt in ("second", "third"):  # what an earlier compaction has named is named again
            assert (await played(session.user_commands.compact())).of(CompactionEnded)[0].succeeded
            await played(session.run(prompt * 10_000))
        named = next(text for text in texts_of(here.server.requests[-3].body) if "Instruction files of folders" in text)
        assert f": {workspace / 'a/AGENTS.md'}, {workspace / 'b/AGENTS.md'}\n" in named
        assert told(here.server.requests[-1].body) == [framed(workspace / "a/AGENTS.md", ("A.").strip())]


def texts_of(body: Json) -> list[str]:
    """All text blocks of a request."""
    return [block["text"] for message in body["messages"] for block in message["content"] if block["type"] == "text"]


async def test_a_subagent_gets_them_for_its_own_conversation(tmp_path: Path, workspace: Path) -> None:
    put(workspace, {"a/AGENTS.md": "A.", "a/x": "x"})
    script = (
        calls(task())
        + of_subagent(calls(read("a/x")))
        + of_subagent(says("Done."))
        + calls(read("a/x"))
        + says("Good.")
    )
    async with stage(tmp_path, script) as on:
        await on.turn()
        assert [len(told(body)) for body in on.bodies] == [0, 0, 1, 0, 1]


async def test_the_practice_model_answers_the_prompt_and_not_the_instructions(tmp_path: Path, workspace: Path) -> None:
    put(workspace, {"a/AGENTS.md": "Please read other.txt", "a/x.txt": "content of x"})
    async with PracticeServer(RuleModel()) as server:
        loaded = settings_of(tmp_path, server.base_url)
        async with await open_session(loaded, NoAsker(), warm=False) as session:
            turn = await played(session.run("read a/x.txt"))
        assert told(server.requests[-1].body)
        assert [event.input for event in turn.of(ToolStarted)] == [{"path": "a/x.txt"}]
        assert "content of x" in turn.end.answer
