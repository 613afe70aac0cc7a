"""Images and PDF files in whole turns: named in a prompt, or read by the model."""

import base64
from pathlib import Path

import pytest

from harness.events import Json, Notice, PermissionAsked, ToolEnded, ToolOutcome, ToolStarted
from harness.permissions import PermissionAnswer
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Opening, open_session
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import fails, played, says, settings_of, stage
from tests.media.files import pdf, png

pytestmark = pytest.mark.anyio


def sent(body: Json) -> list[bytes]:
    """The files in a request, those in tool results too."""
    blocks = [block for message in body["messages"] for block in message["content"]]
    inner = [part for block in blocks if isinstance(block.get("content"), list) for part in block["content"]]
    media = [block for block in (*blocks, *inner) if block["type"] in ("image", "document")]
    return [base64.b64decode(block["source"]["data"]) for block in media]


def texts(body: Json) -> list[str]:
    """The texts of the last message of a request."""
    return [block["text"] for block in body["messages"][-1]["content"] if block["type"] == "text"]


def first_message(body: Json) -> list[Json]:
    """The blocks of the first message, without the marks of the cache, which move on."""
    return [{key: block[key] for key in block if key != "cache_control"} for block in body["messages"][0]["content"]]


async def test_a_prompt_takes_the_files_with_it_that_it_names(tmp_path: Path) -> None:
    async with stage(tmp_path, says("Red.") + says("Still red.")) as here:
        (here.workspace / "chart.png").write_bytes(png(80, 60))
        (here.workspace / "my paper.pdf").write_bytes(pdf(3))
        prompt = 'what is in @chart.png, @"my paper.pdf" and @notes?'
        turn = await here.turn(prompt)
        await here.turn("And now?")
        assert sent(here.bodies[0]) == [png(80, 60), pdf(3)]
        assert texts(here.bodies[0])[-3:] == [
            f"[attached: chart.png is an image of 80 × 60 pixels; its file has {len(png(80, 60))} bytes.]",
            f"[attached: my paper.pdf is a PDF of 3 pages; its file has {len(pdf(3))} bytes.]",
            prompt,
        ]
        assert first_message(here.bodies[1]) == first_message(here.bodies[0])  # the prefix that was cached
        assert [point.prompt for point in here.agent.conversation.rewind_points] == [prompt, "And now?"]
    assert [(ended.summary, ended.outcome) for ended in turn.of(ToolEnded)] == [("80×60", "ok"), ("3 pages", "ok")]
    assert not turn.of(Notice)


async def test_a_file_that_a_rule_denies_is_not_attached_and_the_turn_continues(tmp_path: Path) -> None:
    async with stage(tmp_path, says("Then not."), permissions_deny=["read(**/secret*)"]) as here:
        (here.workspace / "secret.png").write_bytes(png(8, 8))
        turn = await here.turn("show @secret.png")
        assert sent(here.bodies[0]) == []
        assert texts(here.bodies[0])[-2].startswith("[not attached: @secret.png: This was not allowed: ")
        assert turn.end.answer == "Then not."
    assert [ended.outcome for ended in turn.of(ToolEnded)] == [ToolOutcome.DENIED]
    assert next(notice.text for notice in turn.of(Notice)).startswith("@secret.png was not attached: not allowed: ")


@pytest.mark.parametrize(("choice", "files"), [("once", 1), ("no", 0)])
async def test_a_file_outside_the_workspace_is_asked_about(tmp_path: Path, choice: str, files: int) -> None:
    outside = tmp_path / "elsewhere.png"
    outside.write_bytes(png(8, 8))
    person = AnsweringUser(PermissionAnswer(choice))  # type: ignore[arg-type]
    async with stage(tmp_path, says("Done."), permission_mode="ask", asker=person) as here:
        turn = await here.turn(f"show @{outside}")
        assert len(sent(here.bodies[0])) == files
    assert [why for why, _ in person.asked] == [f"{outside} is outside the workspace"]
    assert person.asked[0][1].offers == (f"read({outside})",)
    assert len(turn.of(ToolStarted)) == files


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("gone.png", None, "there is no such file"),
        ("text.png", b"hello", "text.png is neither an image nor a PDF."),
        ("cut.png", png(80, 60)[:60], "cut.png cannot be read as an image"),
        ("long.pdf", pdf(101), "long.pdf has 101 pages, and a PDF may have 100; attach a part of it."),
    ],
)
async def test_what_cannot_be_attached_is_reported_to_user_and_model(
    tmp_path: Path, name: str, data: bytes | None, why: str
) -> None:
    async with stage(tmp_path, says("I see.")) as here:
        if data is not None:
            (here.workspace / name).write_bytes(data)
        turn = await here.turn(f"show @{name}")
        assert turn.end.answer == "I see."
        assert texts(here.bodies[0])[-2].startswith(f"[not attached: @{name}: ")
    (notice,) = turn.of(Notice)
    assert notice.text.startswith(f"@{name} was not attached: {why}")


async def test_many_large_images_go_out_in_one_conversation(tmp_path: Path) -> None:
    """The API allows 2,000 pixels where there are more than 20; the practice server refuses more."""
    async with stage(tmp_path, says("One.") + says("Many.")) as here:
        for number in range(21):
            (here.workspace / f"{number}.png").write_bytes(png(2100, 40 + number))
        await here.turn("show @0.png")
        turn = await here.turn("and " + " ".join(f"@{number}.png" for number in range(1, 21)))
        assert turn.end.answer == "Many."
        assert len(sent(here.bodies[1])) == 21
        assert first_message(here.bodies[1]) == first_message(here.bodies[0])


REFUSALS = [
    "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6557392 bytes > 5242880 bytes",
    "messages.0.content.1.image.source: At least one of the image dimensions exceed max allowed size: 8000 pixels",
    "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
    "messages.0.content.1: Could not process image",
    "messages.0.content.1.pdf.source.base64.data: A maximum of 100 PDF pages may be provided.",
    "messages.0.content.1.pdf.source.base64.data: The PDF specified was not valid.",
    "messages.0.content.1.pdf.source.base64.data: The PDF specified is password protected.",
]


@pytest.mark.parametrize("message", REFUSALS)
@pytest.mark.parametrize("name", ["a.png", "a.pdf"])
async def test_what_the_api_refuses_is_taken_out_and_the_turn_continues(
    tmp_path: Path, name: str, message: str
) -> None:
    async with stage(tmp_path, fails(400, message=f'"{message}"') + says("Without.") + says("Later.")) as here:
        (here.workspace / name).write_bytes(png(8, 8) if name.endswith("png") else pdf(1))
        turn = await here.turn(f"show @{name}")
        assert turn.end.answer == "Without."
        await here.turn("And?")
        assert [len(sent(body)) for body in here.bodies] == [1, 0, 0]
        assert any("left out" in text for text in texts(here.bodies[1]))


async def test_a_resumed_session_sends_the_same_bytes(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(says("Red.") + says("Still red."))) as server:
        loaded = settings_of(tmp_path, server.base_url)
        (loaded.settings.workspace / "a.png").write_bytes(png(80, 60))
        async with await open_session(loaded, NoAsker()) as session:
            await played(session.run("show @a.png"))
            id = session.id
        (loaded.settings.workspace / "a.png").write_bytes(png(20, 20))
        async with await open_session(loaded, NoAsker(), Opening(resume=id)) as session:
            await played(session.run("And now?"))
        first, second = [request.body for request in server.requests if request.method == "POST"]
        assert first_message(second) == first_message(first)
        assert sent(second) == [png(80, 60)]


async def test_a_link_out_of_the_workspace_is_asked_about_too(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.png").write_bytes(png(8, 8))
    async with stage(tmp_path, says("Done."), permission_mode="ask") as here:
        (here.workspace / "link.png").symlink_to(tmp_path / "elsewhere.png")
        turn = await here.turn("show @link.png")
        assert sent(here.bodies[0]) == []
    assert [asked.why for asked in turn.of(PermissionAsked)] == [
        f"{tmp_path / 'elsewhere.png'} is outside the workspace"
    ]
