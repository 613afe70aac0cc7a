# ruff: noqa: E501 - a script reads best with a call on one line
"""The plain REPL in a real terminal, against scripts on a real socket."""

import io
import json
import logging
import re
import signal

import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Opening
from harness.settings import load
from harness.ui.plain.repl import repl
from tests.engine.background.stage import lives
from tests.processes.traces import until
from tests.ui.fired_job import fired_job, is_kept
from tests.ui.program import Place, run
from tests.ui.terminals import Terminal
from tests.ui.test_breakers import ANSWER, SEARCH, faults, playing

pytestmark = pytest.mark.anyio

CTRL_C, CTRL_D = "\x03", "\x04"
SCRIPT = """
after = "error"

[[reply]]
text = "Words that stop in the mid"
chunk = 5
fault = { kind = "stall", at = 7 }

[[reply]]
text = "I write a file."
tools = [ { name = "write_file", input = { path = "made.txt", content = "made\\n" } } ]

[[reply]]
text = "I was told why."
tools = [ { name = "bash", input = { command = "touch ran.txt; sleep 60" } } ]

[[reply]]
status = 529
headers = { retry-after = "30" }

[[reply]]
text = "The second try."

[[reply]]
status = 429
headers = { retry-after = "100" }
"""


async def half_a_line(terminal: Terminal) -> None:
    """Type without Enter."""
    terminal.type("half a line")
    await terminal.sees("half a line")
    await terminal.waits()


async def interrupt_prompt(terminal: Terminal) -> None:
    """Press Ctrl-C in the middle of a line."""
    await half_a_line(terminal)
    terminal.type(CTRL_C)


async def test_a_conversation_with_all_that_can_come_between(place: Place) -> None:
    async with (
        PracticeServer(script=Script.parse(SCRIPT)) as server,
        Terminal(Place(place.folder, server.base_url), "--model", "claude-sonnet-4-6") as terminal,
    ):
        assert "claude-sonnet-4-6" in await terminal.sees("> ")

        terminal.type("stall, please\n")
        await terminal.sees("Words that stop")
        terminal.type(CTRL_C)
        await terminal.sees("interrupted; partial results are kept")
        await terminal.sees("> ")

        terminal.type("write it\n")
        question = await terminal.sees("allow it?")
        assert "+ made" in question
        terminal.type("ｎ not there\n")
        assert "not there" in await terminal.sees("write_file made.txt: not allowed: not there")

        question = await terminal.sees("allow it?")
        assert "touch ran.txt" in question
        terminal.type("what\n")
        await terminal.sees("please answer")
        await terminal.sees("allow it?")
        terminal.type("y\n")
        await terminal.sees("○ bash")
        terminal.type(CTRL_C)
        await terminal.sees("interrupted, ")
        await terminal.sees("> ")

        terminal.type("exit\n")  # a prompt like any other
        await terminal.sees("retry 1 of 10 in 30 s: overloaded (529)")
        await terminal.sees("Enter tries at once")
        terminal.type("\n")
        await terminal.sees("trying now")
        await terminal.sees("The second try.")
        await terminal.sees("> ")

        terminal.type("wait\n")
        await terminal.sees("the server asks for a wait of 100 s")
        await terminal.sees("1 wait, 2 stop: ")
        terminal.type("２\n")
        await terminal.sees("api_error")
        await terminal.sees("> ")

        terminal.type("\n/cost\n")
        await terminal.sees("6 requests")
        terminal.type("/modell x\n")
        await terminal.sees("did you mean /model?")
        await terminal.sees("> ")
        await interrupt_prompt(terminal)
        await terminal.sees("Ctrl-C again")
        await terminal.sees("> ")
        terminal.type(CTRL_D)
        await terminal.sees("resume with: harness --resume ")
        assert await terminal.ends() == 0
    assert len(server.requests) == 6
    assert not (place.folder / "made.txt").exists()
    assert "Traceback" not in terminal.screen


async def test_a_running_command_continues_in_the_background(place: Place) -> None:
    waits = "until [ -e go ]; do sleep 0.05; done; echo over"
    script = f"""
[[reply]]
text = "I run it."
tools = [ {{ name = "bash", input = {{ command = "{waits}" }} }} ]

[[reply]]
text = "It goes on."

[[reply]]
text = "I heard of it."
"""
    async with (
        PracticeServer(script=Script.parse(script)) as server,
        Terminal(Place(place.folder, server.base_url), "--model", "claude-sonnet-4-6", "--yolo") as terminal,
    ):
        await terminal.sees("> ")
        terminal.type("begin\n")
        await terminal.sees("○ bash")
        terminal.type("/background\n")
        await terminal.sees("continues in the background")
        await terminal.sees("It goes on.")
        (place.folder / "go").touch()
        await terminal.sees("I heard of it.")
        await terminal.sees("> ")
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0


async def test_commands_in_the_terminal(place: Place) -> None:
    async with Terminal(place, "--plain") as terminal:
        assert "set ANTHROPIC_API_KEY for a real one" in await terminal.sees("> ")
        terminal.type("list the files\n")
        await terminal.sees("glob")
        await terminal.sees("notes.md")
        await terminal.sees("> ")
        for typed, seen in {
            "/help": "/compact ",
            "/help compact": "/compact [focus]",
            "/status": "practice-1",
            "/etc/hostname what is this?": "request",
            "/tools": "write_file   writes",
            "/context": "200,000 tokens",
            "/model other-model": "model: other-model, from the next prompt on",
            "!cat notes.md; exit 3": "exit 3, ",
            "/status  ": "1 started: 1 exited",
            "!": "There is no command",
            "/rewind": "  1  list the files",
            "/rewind 7": "no way back to turn 7",
            "/rewind 1 files": "only the conversation can be taken back",
            "/rewind 1 nothing": "'nothing' cannot be restored",
            "/rewind undo": "No files were taken back",
            "/mode": "permissions: asks before writing or running",
            "/mode read": "permissions: read only",
            "/mode nonsense": "'nonsense' is not a permission mode",
            "/status ": "permissions  read only",
            "/mode edits": "writes files without asking",
            "/export page.md": "Written to",
            "/export page.md ": "already exists",
            "/resume nothing": "nothing",
            "/fork": "This is a copy",
            "/sessions": "  2  ",
            "/retry now": "takes no arguments",
            "/rewind 1": "the files are unchanged",
            "/clear": "Conversation cleared",
            "/retry": "nothing to try again",
        }.items():
            terminal.type(typed + "\n")
            await terminal.sees(seen)
            await terminal.sees("> ")
        terminal.type("/exit\n")
        await terminal.sees("resume with")
        assert await terminal.ends() == 0
    assert "list the files" in (place.folder / "page.md").read_text()
    assert "/fork" in (place.state / "history").read_text()


@pytest.mark.stories
async def test_a_session_that_was_killed_says_so_and_continued(place: Place) -> None:
    stall = '[[reply]]\ntext = "Now silence falls."\nchunk = 5\nfault = { kind = "stall", at = 5 }\n'
    async with PracticeServer(script=Script.parse(stall + '[[reply]]\ntext = "It goes on."\n')) as server:
        here = Place(place.folder, server.base_url)
        async with Terminal(here, "tell me") as terminal:
            await terminal.sees("Now si")
            terminal.send(signal.SIGKILL)
            assert await terminal.ends() == -signal.SIGKILL
        async with Terminal(here, "--resume") as terminal:
            assert "interrupted: tell me" in await terminal.sees("number or id")
            terminal.type("1\n")
            assert "tell me (1 turn)" in await terminal.sees("its last turn was cut off; /retry continues it")
            await terminal.sees("> ")
            terminal.type("/retry\n")
            await terminal.sees("It goes on.")
            await terminal.sees("> ")
            await interrupt_prompt(terminal)
            await terminal.sees("Ctrl-C again")
            await terminal.sees("> ")
            await interrupt_prompt(terminal)
            assert await terminal.ends() == 130


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.stories)])
async def test_a_signal_ends_the_program_in_order(place: Place, number: signal.Signals) -> None:
    """Here the REPL is started cold, and reaches a model and two commands, one of them in the background."""
    line = "sleep 600 & echo $$ $! > {}.txt; wait"
    back = f'{{ name = "bash", input = {{ command = "{line.format("back")}", background = true }} }}'
    front = f'{{ name = "bash", input = {{ command = "{line.format("front")}" }} }}'
    tools = f"tools = [ {back}, {front} ]"
    async with (
        PracticeServer(script=Script.parse(f'[[reply]]\ntext = "Running."\n{tools}\n')) as server,
        Terminal(Place(place.folder, server.base_url), "--yolo", "run it", cold=True) as terminal,
    ):
        files = [place.folder / f"{name}.txt" for name in ("front", "back")]
        await until(lambda: all(file.exists() and file.read_text() for file in files))
        terminal.send(number)
        await terminal.sees("resume with")
        assert await terminal.ends() == 128 + number
    assert not any(lives(int(pid)) for file in files for pid in file.read_text().split())
    (journal,) = place.state.glob("sessions/*/*.jsonl")
    assert '"turn_ended"' in journal.read_text()


@pytest.mark.stories
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, None])
async def test_a_scheduled_prompt_fires_again_after_a_signal_that_ends_the_program_and_not_after_ctrl_c(
    place: Place, number: signal.Signals | None
) -> None:
    await fired_job(place)
    script = Script.parse('[[reply]]\ntext = "I look at the log."\nchunk = 5\nfault = { kind = "stall", at = 7 }\n')
    async with PracticeServer(script=script) as server, Terminal(Place(place.folder, server.base_url)) as terminal:
        await terminal.sees("I look")
        if number is None:
            terminal.type(CTRL_C)
            await terminal.sees("interrupted")
            terminal.type("/exit\n")
            assert await terminal.ends() == 0
        else:
            terminal.send(number)
            assert await terminal.ends() == 128 + number
    assert is_kept(place) == (number is not None)


async def test_a_signal_at_the_prompt_ends_the_program_in_order(place: Place) -> None:
    async with Terminal(place) as terminal:
        await terminal.sees("> ")
        await half_a_line(terminal)
        terminal.send(signal.SIGTERM)
        assert await terminal.ends() == 128 + signal.SIGTERM
    assert "Traceback" not in terminal.screen


@pytest.mark.stories
async def test_prompts_may_come_from_a_pipe(place: Place) -> None:
    ended = await run(place, stdin="hello\n\ncreate x.txt with x\n/nonsense\nfind \\\nFirst\n")
    assert ended.code == 0
    assert ended.out.count("\n> ") == 4
    assert "Unknown command /nonsense" in ended.out
    assert "--yolo" in ended.out
    assert ended.out.rstrip().splitlines()[-1].startswith("resume with: harness --resume ")
    assert not (place.folder / "x.txt").exists()
    assert ended.err == ""


async def test_undo_in_a_pipe_takes_back_what_the_tools_wrote(place: Place) -> None:
    (place.folder / "notes.txt").write_text("milk\n")
    ended = await run(place, "--yolo", stdin="replace milk with tea in notes.txt\n/undo\n")
    assert "“milk” is now “tea”" in ended.out
    assert (place.folder / "notes.txt").read_text() == "milk\n"


async def test_a_piped_prompt_that_fits_no_window_is_refused_with_the_numbers(place: Place) -> None:
    async with PracticeServer() as server:
        ended = await run(
            Place(place.folder, server.base_url), "-m", "claude-haiku-4-5", stdin=f"{'word ' * 250_000}\n"
        )
    assert (ended.code, len(server.requests)) == (2, 0)
    assert re.search(
        r"The prompt has about [\d,]+ tokens, and claude-haiku-4-5 takes [\d,]+ beside", " ".join(ended.out.split())
    )


async def test_the_exit_code_of_a_pipe_is_that_of_the_last_turn(place: Place) -> None:
    async with PracticeServer(script=Script.parse("[[reply]]\nstatus = 401\n")) as server:
        ended = await run(Place(place.folder, server.base_url), stdin="hello\n")
    assert ended.code == 1


@pytest.mark.stories
async def test_a_paste_of_many_lines_is_taken_whole_and_in_order(place: Place) -> None:
    lines = [f"line {number} of a paste" for number in range(60)]
    noted = Script.parse('after = "repeat"\n[[reply]]\ntext = "Noted."')
    async with (
        PracticeServer(script=noted) as server,
        Terminal(Place(place.folder, server.base_url), "--plain") as terminal,
    ):
        await terminal.sees("> ")
        terminal.type("\n".join(lines) + "\n")
        await terminal.sees(f"{lines[-1]}\n")
        await terminal.sees("Noted.")
        terminal.type("/exit\n")
        assert await terminal.ends() == 0
    (path,) = place.state.glob("sessions/*/*.jsonl")
    events = [json.loads(line) for line in path.read_text().splitlines()]
    read = [
        event["prompt"] if event["type"] == "turn_started" else event["message"]["content"][-1]["text"]
        for event in events
        if event["type"] == "turn_started" or event.get("origin") == "steering"
    ]
    assert read == lines


async def test_lines_that_wait_behind_a_command_run_in_order_or_are_named_when_it_is_stopped(place: Place) -> None:
    async with Terminal(place, "--plain") as terminal:
        await terminal.sees("> ")
        terminal.type("!until [ -e go ]; do sleep 0.05; done\n")
        await terminal.sees("○ bash")
        terminal.type("!echo fir''st\n!false\n!echo sec''ond\n")
        await terminal.sees("sec''ond")
        await terminal.sees("3 prompts queued")
        (place.folder / "go").touch()
        await terminal.sees("\n  first\n")
        await terminal.sees("\n  second\n")
        await terminal.sees("> ")
        terminal.type("!sleep 30\n")
        await terminal.sees("○ bash")
        terminal.type("one\ntwo\n/cost\n")
        await terminal.sees("requests, ")  # earlier input has been read; a terminal drops the rest at Ctrl-C
        terminal.type(CTRL_C)
        await terminal.sees("not run, as you stopped: one")
        await terminal.sees("not run, as you stopped: two")
        await terminal.sees("> ")
        terminal.type("/exit\n")


TYPED_AHEAD = """
[[reply]]
tools = [ { name = "bash", input = { command = "touch ran.txt" } } ]
delay = 0.3

[[reply]]
text = "Here is a test."
"""


@pytest.mark.parametrize(
    ("before", "after", "prompt"),
    [
        ("a test ", "for this\n", "a test for this"),
        pytest.param("a test for this\n", "", "a test for this", marks=pytest.mark.stories),
        ("y\n", "", ""),
    ],
)
async def test_what_was_typed_before_a_question_is_no_answer_and_a_text_is_not_lost(
    place: Place, before: str, after: str, prompt: str
) -> None:
    async with (
        PracticeServer(script=Script.parse(TYPED_AHEAD)) as server,
        Terminal(Place(place.folder, server.base_url)) as terminal,
    ):
        await terminal.sees("> ")
        terminal.type(f"go\n{before}")
        await terminal.sees("allow it?")
        if after:
            terminal.type(after)
            await terminal.sees(f"kept for the model: {prompt}\n")
            await terminal.sees("allow it?")
        terminal.type("n you may not\n")
        await terminal.sees("Here is a test.")
        messages = server.requests[-1].body["messages"]
        texts = [block.get("text") for message in (messages[-1], messages[0]) for block in message["content"]]
        assert prompt in texts if prompt else "y" not in texts, "a key alone is no text for the model"
        await terminal.sees("> ")
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0
    assert not (place.folder / "ran.txt").exists()


@pytest.mark.stories
async def test_a_line_begun_before_a_question_is_continued_after_its_answer(place: Place) -> None:
    async with (
        PracticeServer(script=Script.parse(TYPED_AHEAD + '[[reply]]\ntext = "Another test."\n')) as server,
        Terminal(Place(place.folder, server.base_url)) as terminal,
    ):
        await terminal.sees("> ")
        terminal.type("go\na test ")
        await terminal.sees("allow it?")
        terminal.type("n you may not\n")
        await terminal.sees("Here is a test.")
        await terminal.sees("> a test ")
        terminal.type("for this\n")
        await terminal.sees("Another test.")
        await terminal.sees("> ")
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0


ASKS = """
after = "error"

[[reply]]
tools = [{ name = "ask_user", input = { question = "Which colour?", options = [{ label = "red", description = "like the logo" }, { label = "blue" }] } }]

[[reply]]
when = { text = "The user chose: blue" }
tools = [{ name = "ask_user", input = { question = "Your name?" } }]

[[reply]]
when = { text = "The user answered: Ada L." }
tools = [{ name = "ask_user", input = { question = "Sure?", options = ["yes", "no"] } }]

[[reply]]
when = { text = "The user declined" }
text = "I was not told."

[[reply]]
tools = [{ name = "ask_user", input = { question = "For ever?" } }]

[[reply]]
text = "That is over."
"""


@pytest.mark.stories
async def test_questions_of_the_model_in_lines_also_with_every_tool_call_allowed(place: Place) -> None:
    async with (
        PracticeServer(script=Script.parse(ASKS)) as server,
        Terminal(Place(place.folder, server.base_url), "--yolo") as terminal,
    ):
        await terminal.sees("> ")
        terminal.type("paint it\n")
        question = await terminal.sees("1 to 2, w and words of your own, n no answer: ")
        assert "? Which colour?" in question
        assert "1 red: like the logo" in question
        terminal.type("yes\n")
        await terminal.sees("please answer 1 to 2")
        await terminal.sees("n no answer: ")
        terminal.type("２\n")
        await terminal.sees("your answer (Enter: none): ")
        terminal.type("Ada L.\n")
        await terminal.sees("Sure?")
        await terminal.sees("n no answer: ")
        terminal.type("n\n")
        await terminal.sees("I was not told.")
        await terminal.sees("> ")

        terminal.type("once more\n")
        await terminal.sees("your answer (Enter: none): ")
        terminal.type(CTRL_C)
        await terminal.sees("interrupted")
        await terminal.sees("> ")
        terminal.type("and now?\n")
        await terminal.sees("That is over.")
        await terminal.sees("> ")
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0
    assert "interrupted" in str(server.requests[-1].body["messages"][-2:]).lower()


async def test_a_large_fan_out_is_asked_about_in_lines(place: Place) -> None:
    async with Terminal(place, "--practice", "--plain") as terminal:
        await terminal.sees("> ")
        terminal.type("use 12 agents to count the lines of notes.md\n")
        question = await terminal.sees("n no answer: ")
        assert "? The model wants to start 12 subagents." in question
        assert "Estimate: about 1,248,000 tokens, about $0.00, assuming 104,000 tokens each." in question
        assert "A yes holds for up to 20 in this session; max_subagents is 100." in question
        terminal.type("w do it yourself\n")
        await terminal.sees('not started: the user declined, and says: "do it yourself"')
        await terminal.sees("0 of 12 agents answered.")
        await terminal.sees("> ")
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0


async def test_an_exclamation_mark_from_a_pipe_is_a_prompt_and_runs_nothing(place: Place) -> None:
    async with PracticeServer(script=Script.parse('after = "repeat"\n[[reply]]\ntext = "Noted."\n')) as server:
        ended = await run(Place(place.folder, server.base_url), "--yolo", stdin="!touch x\n!!touch x\n")
        prompts = [request.body["messages"][-1]["content"][-1]["text"] for request in server.requests]
    assert (ended.code, prompts) == (0, ["!touch x", "!!touch x"])
    assert not (place.folder / "x").exists()


def test_the_signal_handlers_of_the_program_are_what_they_were_afterwards(place: Place) -> None:
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    loaded = load({"practice": True}, place.environment, place.folder)
    out = io.StringIO()
    code = repl(
        loaded, Opening(), None, io.StringIO("/status\n"), out, reread=lambda: loaded.settings, log=logging.getLogger()
    )
    assert (code, "permissions" in out.getvalue()) == (0, True)
    assert [signal.getsignal(number) for number in numbers] == before


async def test_a_session_is_chosen_by_number_or_id(place: Place) -> None:
    assert (await run(place, "--practice", stdin="hello\n")).code == 0
    async with Terminal(place, "--practice", "--resume") as terminal:
        await terminal.sees("number or id")
        terminal.type("9\n")
        await terminal.sees("please answer with a number from 1 to 1")
        terminal.type("1\n")
        await terminal.sees("hello (1 turn)")
        await terminal.sees("> ")
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0
    async with Terminal(place, "--practice", "--resume") as terminal:
        await terminal.sees("number or id")
        terminal.type("19990101\n")
        await terminal.sees("19990101")
        assert await terminal.ends() != 0


@pytest.mark.stories
async def test_another_session_is_resumed_in_the_same_terminal_and_ctrl_c_twice_leaves(place: Place) -> None:
    assert (await run(place, "--practice", stdin="hello\n")).code == 0
    (journal,) = place.state.rglob("*.jsonl")
    async with Terminal(place, "--practice") as terminal:
        await terminal.sees("> ")
        terminal.type(f"/resume {journal.stem}\n")
        await terminal.sees(f"Resumed {journal.stem}: hello (1 turn)\n")
        await terminal.sees("> ")
        await interrupt_prompt(terminal)
        await terminal.sees("Press Ctrl-C again to leave; so do Ctrl-D and /exit.")
        await terminal.sees("> ")
        await interrupt_prompt(terminal)
        assert await terminal.ends() == 130


async def pauses(terminal: Terminal) -> None:
    """Ask, and use up a budget of three failures."""
    await terminal.sees("> ")
    terminal.type("/budget 3\n")
    await terminal.sees("0 of 3 used")
    terminal.type("Where is First?\n")
    await terminal.sees("PAUSED: the failure budget of this turn is used up")


async def test_a_user_is_asked_after_the_pause_and_continues_with_a_tool_reset(place: Place) -> None:
    async with playing(*[SEARCH] * 4, ANSWER) as server:
        served = Place(place.folder, server.base_url)
        async with Terminal(served, "--plain", "--yolo", "--tool-faults", faults(place)) as terminal:
            await pauses(terminal)
            await terminal.sees(", s stops: ")
            terminal.type("what?\n")
            await terminal.sees("please answer c, r and the name of a tool, or s")
            await terminal.sees(", s stops: ")
            terminal.type("r grepp\n")
            await terminal.sees("There is no tool called grepp; did you mean grep?")
            await terminal.sees(", s stops: ")
            terminal.type("r grep\n")
            await terminal.sees("1 match")
            await terminal.sees("It stands in notes.md.")
            terminal.type("/breakers\n")
            await terminal.sees("failure budget: 0 of 3 used")


async def test_a_user_who_stops_after_the_pause_can_continue_later(place: Place) -> None:
    async with playing(*[SEARCH] * 3, ANSWER) as server:
        served = Place(place.folder, server.base_url)
        async with Terminal(served, "--plain", "--yolo", "--tool-faults", faults(place)) as terminal:
            await pauses(terminal)
            await terminal.sees(", s stops: ")
            await terminal.waits()
            terminal.type("\x03")
            await terminal.sees("stopped; /retry continues with a fresh failure budget")
            await terminal.sees("> ")
            terminal.type("/retry\n")
            await terminal.sees("It stands in notes.md.")
