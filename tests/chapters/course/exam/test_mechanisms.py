"""What the exam and s24 say that the SDK raises while a stream is read is what it raises."""

from pathlib import Path

import pytest
from anthropic import APIError, AsyncAnthropic

from chapters.course import LANGUAGES, lesson
from chapters.course.catalogue import FILES
from chapters.course.exam.mechanisms import Mechanism
from chapters.course.exam.rows import ROWS
from harness.practice.script import Script
from harness.practice.server import PracticeServer

pytestmark = pytest.mark.anyio


async def raised(folder: Path, fault: str) -> BaseException | None:
    """The result of a streamed answer with this fault; None: a message without a stop reason."""
    file = folder / "script.toml"
    file.write_text(f'[[reply]]\ntext = "The harbour is open."\nfault = "{fault}"\n')
    async with PracticeServer(script=Script.load(file)) as server:
        try:
            async with (
                AsyncAnthropic(base_url=server.base_url, api_key="none", max_retries=0) as client,
                client.messages.stream(
                    model="claude-sonnet-5-5", max_tokens=100, messages=[{"role": "user", "content": "How?"}]
                ) as stream,
            ):
                message = await stream.get_final_message()
        except Exception as error:  # noqa: BLE001 (the subject of the test)
            return error
    assert message.stop_reason is None
    return None


@pytest.mark.parametrize(
    ("fault", "name", "mechanism"),
    [
        ("error_event", "APIStatusError", Mechanism.ERROR_EVENT),
        ("reset", "ReadError", Mechanism.RESET),
        ("bad_json", "JSONDecodeError", Mechanism.BAD_EVENT),
        ("clean_end", "", Mechanism.BROKEN_STREAM),
    ],
)
async def test_the_exception_of_a_broken_stream_is_named(
    tmp_path: Path, fault: str, name: str, mechanism: Mechanism
) -> None:
    error = await raised(tmp_path, fault)
    assert (type(error).__name__ if error else "") == name
    assert [row.mechanism for row in ROWS if f'fault = "{fault}"' in row.script] == [mechanism]
    for language in LANGUAGES:
        said, chapter = mechanism.text.into(language), (lesson("s24").folder / FILES[language]).read_text("utf-8")
        assert name in said
        assert name in chapter
        assert ("APIError" in said) == bool(error and not isinstance(error, APIError))
