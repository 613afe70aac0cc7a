"""`harness -p --json-schema FILE`: output, rejected schemas, and the request on the wire."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.practice.rule_model import RuleModel
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.agent.stage import calls, fails, says
from tests.agent.stage import run as runs
from tests.ui.program import Finished, Place, run

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "count": {"type": "integer", "minimum": 3}},
    "required": ["name", "count"],
}
GOOD = '{"name": "Ada", "count": 7}'
FORM = ("--json-schema", "s.json")


async def answered(place: Place, script: str, *flags: str, schema: object = SCHEMA) -> tuple[Finished, PracticeServer]:
    (place.folder / "s.json").write_text(json.dumps(schema))
    async with PracticeServer(script=Script.parse(f'after = "error"\n{script}')) as server:
        ended = await run(Place(place.folder, server.base_url), "-p", "Count", *FORM, *flags)
    return ended, server


def bodies(server: PracticeServer) -> Sequence[dict[str, object]]:
    return [request.body for request in server.requests if request.path == "/v1/messages"]


async def test_text_is_the_json_and_nothing_else(place: Place) -> None:
    ended, server = await answered(place, says(GOOD))
    assert (ended.code, ended.out, ended.err) == (0, f"{GOOD}\n", "")
    [body] = bodies(server)
    sent = body["output_config"]["format"]  # type: ignore[index]
    assert (sent["type"], sent["schema"]["additionalProperties"]) == ("json_schema", False)
    assert "minimum" not in sent["schema"]["properties"]["count"], "the API takes no limits; we check them ourselves"


@pytest.mark.parametrize("name", ["-", pytest.param("/dev/stdin", marks=pytest.mark.stories)])
async def test_a_schema_on_standard_input_is_no_part_of_the_prompt(place: Place, name: str) -> None:
    async with PracticeServer(script=Script.parse(says(GOOD))) as server:
        there = Place(place.folder, server.base_url)
        ended = await run(there, "-p", "Count", "--json-schema", name, stdin=json.dumps(SCHEMA))
    assert (ended.code, ended.out) == (0, f"{GOOD}\n")
    assert [body["messages"][0]["content"][-1]["text"] for body in bodies(server)] == ["Count"]  # type: ignore[index]


async def test_the_result_object_has_the_value(place: Place) -> None:
    ended, _ = await answered(place, says(GOOD), "--output-format", "stream-json")
    result = json.loads(ended.out.splitlines()[-1])
    assert (result["structured_output"], result["subtype"]) == (json.loads(GOOD), "success")


async def test_the_schema_holds_for_the_last_reply_and_tools_run_before_it(place: Place) -> None:
    ended, server = await answered(place, calls(runs("x"), text="First a look.") + says(GOOD), "--yolo")
    assert (ended.code, ended.out) == (0, f"{GOOD}\n")
    assert (place.folder / "ran.txt").exists()
    assert all("format" in body["output_config"] for body in bodies(server))  # type: ignore[operator]


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("hello", "it is not JSON"),
        ('{"name": "Ada", "count": 2}', "$.count: 2 is less than the minimum of 3"),
    ],
)
async def test_a_wrong_answer_is_asked_for_once_more_with_the_reason(place: Place, wrong: str, why: str) -> None:
    ended, server = await answered(place, says(wrong) + says(f"```json\n{GOOD}\n```"))
    assert (ended.code, ended.out) == (0, f"{GOOD}\n")
    assert why in ended.err
    asked = str(bodies(server)[1]["messages"])
    assert why in asked.replace("\\'", "'")
    assert '"required"' in asked


async def test_a_second_wrong_answer_ends_with_exit_code_1_and_the_reason(place: Place) -> None:
    ended, server = await answered(place, says("no") + says('{"name": 5, "count": 3}'), "--output-format", "json")
    result = json.loads(ended.out)
    assert (ended.code, result["exit_code"], result["is_error"], len(bodies(server))) == (1, 1, True, 2)
    assert (result["subtype"], result["structured_output"]) == ("error_max_structured_output_retries", None)
    assert "$.name: 5 is not of type 'string'" in result["reason"]
    assert "$.name: 5 is not of type 'string'" in ended.err


async def test_a_turn_that_failed_is_not_asked_again(place: Place) -> None:
    ended, server = await answered(place, fails(401))
    assert (ended.code, ended.out, len(bodies(server))) == (1, "", 1)


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": ["object", "null"]},
    ],
    ids=["open names", "several types"],
)
async def test_what_the_api_cannot_say_is_asked_for_in_words(place: Place, schema: object) -> None:
    ended, server = await answered(place, says('{"a": 1}'), schema=schema)
    assert (ended.code, ended.out) == (0, '{"a": 1}\n')
    [body] = bodies(server)
    assert "output_config" not in body
    assert "Answer with one JSON value that fits this JSON schema" in str(body["messages"])


async def test_an_unknown_model_is_asked_in_words(place: Place) -> None:
    ended, server = await answered(place, says(GOOD), "--model", "some-model")
    assert ended.code == 1, "the practice server has no such model"
    assert "output_config" not in bodies(server)[0]
    assert "fits this JSON schema" in str(bodies(server)[0]["messages"])


@pytest.mark.stories
async def test_a_server_that_refuses_the_format_is_asked_without(place: Place) -> None:
    refused = fails(400, message='"output_config.format: Extra inputs are not permitted"')
    ended, server = await answered(place, refused + says("Seven.") + says(GOOD))
    assert (ended.code, ended.out) == (0, f"{GOOD}\n")
    assert ["format" in str(body.get("output_config")) for body in bodies(server)] == [True, False, False]
    assert "it is asked for in words" in ended.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"type": "object",\n "properties": }', "s.json, line 2: this is not JSON"),
        (None, "cannot be read: No such file or directory"),
    ],
)
async def test_a_file_that_cannot_be_used_is_one_sentence_and_exit_code_2(
    place: Place, text: str | None, sentence: str
) -> None:
    if text is not None:
        (place.folder / "s.json").write_text(text)
    async with PracticeServer(RuleModel()) as server:
        ended = await run(Place(place.folder, server.base_url), "-p", "x", *FORM)
    [line] = ended.err.splitlines()
    assert (ended.code, ended.out, server.requests) == (2, "", [])
    assert sentence in line


async def test_it_needs_p(place: Place) -> None:
    ended = await run(place, *FORM)
    assert (ended.code, "needs -p" in ended.err) == (2, True)


async def test_the_improviser_fills_a_simple_schema(place: Place) -> None:
    (place.folder / "s.json").write_text(json.dumps(SCHEMA))
    async with PracticeServer(RuleModel()) as server:
        ended = await run(Place(place.folder, server.base_url), "-p", "Ada has 7 cats", *FORM)
    assert ended.code == 0
    assert json.loads(ended.out)["count"] == 7


@pytest.mark.stories
def test_only_a_run_with_a_schema_imports_the_library(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = "import sys, harness.ui.plain.headless, harness.session; print('jsonschema' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False"
