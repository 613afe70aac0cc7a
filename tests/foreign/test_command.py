"""A few of these servers before the real command: standard output, standard error and exit code."""

import json
from pathlib import Path

import pytest

from tests.foreign.server import ForeignServer
from tests.foreign.variants import HOPELESS, MESSAGES, PASSING, STREAMS, Variant
from tests.foreign.wire import ANSWER
from tests.ui.program import Place, run

pytestmark = pytest.mark.anyio

ROWS = {row.name: row for row in (*STREAMS, *MESSAGES, *PASSING, *HOPELESS)}
COMMAND = ("-p", "What does the note say?", "--yolo")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


@pytest.mark.parametrize(
    "name",
    [
        "stop reason 'stop'",
        "stop reason null, answer too",
        "content_block_stop twice",
        "JSON instead of a stream",
        "a byte order mark and no event lines",
        "no cache marks",
    ],
)
async def test_the_answer_and_nothing_else_is_on_standard_output(name: str, folder: Path) -> None:
    row = ROWS[name]
    async with ForeignServer(*row.responses) as server:
        end = await run(Place(folder, server.url), *COMMAND, "--model", row.model)
    assert (end.code, end.out) == (0, f"{ANSWER}\n"), end.err
    assert (folder / "ran.txt").read_text().split() == ["ran"]
    assert ("takes no cache marks" in end.err) is (name == "no cache marks")


async def test_a_pair_in_two_halves_is_one_character_on_standard_output_and_in_the_journal(folder: Path) -> None:
    row = ROWS["a surrogate pair in two halves"]
    async with ForeignServer(*row.responses) as server:
        end = await run(Place(folder, server.url), *COMMAND, "--model", row.model)
    assert (end.code, end.out) == (0, "A 😀 B\n"), end.err
    journals = [path.read_text() for path in Place(folder).state.rglob("*.jsonl")]
    assert any("A 😀 B" in text or r"A \ud83d\ude00 B" in text for text in journals)


@pytest.mark.parametrize("name", ["404 of FastAPI", "422 of FastAPI", "LM Studio with a small window", "plain words"])
async def test_what_cannot_work_is_one_sentence_on_standard_error(name: str, folder: Path) -> None:
    row = ROWS[name]
    async with ForeignServer(*row.responses) as server:
        end = await run(Place(folder, server.url), *COMMAND, "--model", row.model)
        address = server.url
    assert (end.code, end.out) == (1, "")
    last = end.err.strip().splitlines()[-1]
    for words in row.says:
        assert words.replace("ADDRESS", address) in last


@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
async def test_no_answer_is_no_success_in_any_form(form: str, folder: Path) -> None:
    row: Variant = ROWS["nothing but empty replies"]
    async with ForeignServer(*row.responses) as server:
        end = await run(Place(folder, server.url), *COMMAND, "--model", row.model, "--output-format", form)
    assert end.code == 1
    assert "the answer was empty" in end.err
    if form == "text":
        assert end.out == ""
    else:
        document = json.loads(end.out.splitlines()[-1])
        assert (document["is_error"], document["exit_code"], document["transition"]) == (True, 1, "empty_answer")
