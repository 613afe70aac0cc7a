"""Other clients with the practice server, each with what it is mostly used for.

A row is a client, a request, and the expected result. A client that is not installed is skipped. Python and
TypeScript libraries are used by a small program of a row, which prints one line of JSON.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.interop.practice import Practice
from tests.interop.programs import (
    CLAUDE_CODE,
    HOW,
    LLM,
    OPENCODE,
    Program,
    confined,
    environments,
    needed,
    node_version,
    python_version,
)

pytestmark = [pytest.mark.interop, pytest.mark.timeout(240)]

LIMIT_S = 180.0
SONNET = "claude-sonnet-4-6"
README = "# A title\n\nSome words.\n"

Row = Callable[[str, str], None]


@pytest.fixture
def row(request: pytest.FixtureRequest) -> Row:
    """Put a client and its request into the table: `row(client, asked)`."""

    def put(client: str, asked: str) -> None:
        request.node.user_properties += [("client", client), ("asked", asked)]

    return put


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a file, for agents."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "README.md").write_text(README)
    return folder


@pytest.fixture
def environment(practice: Practice, tmp_path: Path) -> dict[str, str]:
    """What a client is given: the practice server, an invalid key, a home of its own."""
    return confined(
        tmp_path,
        ANTHROPIC_BASE_URL=practice.base_url,
        ANTHROPIC_API_KEY="dummy",
        DISABLE_AUTOUPDATER="1",
        DISABLE_TELEMETRY="1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        LITELLM_LOCAL_MODEL_COST_MAP="True",
        LLM_USER_PATH=str(tmp_path / "llm"),
    )


def ran(command: list[str], environment: dict[str, str], folder: Path, stdin: str = "") -> str:
    """What a program prints. It must end well."""
    ended = subprocess.run(
        command, env=environment, cwd=folder, input=stdin, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def version_of(program: str, request: pytest.FixtureRequest, environment: dict[str, str], folder: Path) -> None:
    """Put the version of a program into the table."""
    words = ran([program, "--version"], environment, folder).split()
    number = next((word for word in words if word[:1].isdigit()), " ".join(words))
    request.node.user_properties.append(("version", number))


# ── agents ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("model", "asked"),
    [
        ((), "its default model"),
        (("--model", "sonnet"), "a model that takes no system messages"),
        (("--model", "claude-fable-5-1"), "a model that always thinks"),
    ],
    ids=["default", "sonnet", "fable"],
)
def test_claude_code(
    model: tuple[str, ...],
    asked: str,
    row: Row,
    practice: Practice,
    project: Path,
    environment: dict[str, str],
    request: pytest.FixtureRequest,
) -> None:
    row("Claude Code", f"{asked}: list the files; write one")
    program = needed(CLAUDE_CODE)
    version_of(program, request, environment, project)
    command = [program, *model, "--allowedTools", "Bash", "Read", "Write", "Edit", "Glob", "-p"]
    assert "README.md" in ran([*command, "list the files"], environment, project)
    ran([*command, "create hello.txt with hello"], environment, project)
    assert (project / "hello.txt").read_text().strip() == "hello"


def test_opencode(
    row: Row, practice: Practice, project: Path, environment: dict[str, str], request: pytest.FixtureRequest
) -> None:
    row("opencode", "read a file; write one")
    program = needed(OPENCODE)
    version_of(program, request, environment, project)
    options = {"baseURL": f"{practice.base_url}/v1", "apiKey": "dummy"}
    settings = {"autoupdate": False, "share": "disabled", "provider": {"anthropic": {"options": options}}}
    (project / "opencode.json").write_text(json.dumps(settings))
    command = [program, "run", "--model", f"anthropic/{SONNET}"]
    assert "# A title" in ran(command, environment, project, stdin="read README.md\n")
    ran(command, environment, project, stdin="create hello.txt with hello\n")
    assert (project / "hello.txt").read_text().strip() == "hello"


# ── Python ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Library:
    """A program for a library, and the JSON that it must print."""

    client: str
    package: str
    asked: str
    program: str
    prints: object


CITY = """
from pydantic import BaseModel

class City(BaseModel):
    city: str
    population: int
"""
LITELLM_CALL = f"""
import os, litellm

def answer(prompt, **fields):
    server = dict(api_base=os.environ["ANTHROPIC_BASE_URL"], api_key="dummy")
    messages = [{{"role": "user", "content": prompt}}]
    return litellm.completion(model="anthropic/{SONNET}", messages=messages, **server, **fields).choices[0]
"""
PARIS = "The city is Paris, with 2000000 people."
LIBRARIES = [
    Library(
        "pydantic-ai",
        "pydantic-ai-slim",
        "output_type by a tool, and native",
        CITY
        + f"""
from pydantic_ai import Agent, NativeOutput
print(json.dumps([
    Agent("anthropic:" + model, output_type=kind).run_sync("{PARIS}").output.model_dump()
    for model in ("{SONNET}", "claude-opus-5") for kind in (City, NativeOutput(City))
]))
""",
        [{"city": "Paris", "population": 2_000_000}] * 4,
    ),
    Library(
        "langchain-anthropic",
        "langchain-anthropic",
        "with_structured_output by a tool, and by JSON schema",
        CITY
        + f"""
from langchain_anthropic import ChatAnthropic
print(json.dumps([
    ChatAnthropic(model=model, max_tokens=500).with_structured_output(City, method=way).invoke("{PARIS}").model_dump()
    for model in ("{SONNET}", "claude-opus-5") for way in ("function_calling", "json_schema")
]))
""",
        [{"city": "Paris", "population": 2_000_000}] * 4,
    ),
    Library(
        "LiteLLM",
        "litellm",
        'tool_choice="required"',
        LITELLM_CALL
        + f"""
fields = {{"city": {{"type": "string"}}, "population": {{"type": "integer"}}}}
parameters = {{"type": "object", "properties": fields, "required": list(fields)}}
tool = {{"type": "function", "function": {{"name": "save", "parameters": parameters}}}}
choice = answer("{PARIS}", tools=[tool], tool_choice="required")
print(json.dumps([choice.finish_reason, *(json.loads(call.function.arguments) for call in choice.message.tool_calls)]))
""",
        ["tool_calls", {"city": "Paris", "population": 2_000_000}],
    ),
    Library(
        "LiteLLM",
        "litellm",
        "response_format, stop",
        LITELLM_CALL
        + f"""
schema = {{"type": "object", "properties": {{"city": {{"type": "string"}}}}, "required": ["city"],
          "additionalProperties": False}}
form = {{"type": "json_schema", "json_schema": {{"name": "city", "schema": schema}}}}
made = json.loads(answer("{PARIS}", response_format=form).message.content)
print(json.dumps([made, "practice" in answer("hello").message.content,
                  "practice" in answer("hello", stop=["practice"]).message.content]))
""",
        [{"city": "Paris"}, True, False],
    ),
]


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: f"{library.package}-{library.asked}")
def test_a_python_library(
    library: Library, row: Row, environment: dict[str, str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    row(library.client, library.asked)
    found = [(folder, version) for folder in environments() if (version := python_version(folder, library.package))]
    if not found:
        pytest.skip(f"{library.package} is not installed; {HOW}")
    folder, version = max(found, key=lambda each: [int(part) for part in each[1].split(".") if part.isdigit()])
    request.node.user_properties.append(("version", version))
    printed = ran([str(folder / "bin" / "python"), "-c", f"import json\n{library.program}"], environment, tmp_path)
    assert json.loads(printed.splitlines()[-1]) == library.prints


def test_llm_gives_json_of_a_schema(
    row: Row, environment: dict[str, str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    row("llm with llm-anthropic", "--schema; an alias of a model")
    program = needed(Program(LLM.name, LLM.package, needs=("llm-anthropic",)))
    version_of(program, request, environment, tmp_path)
    printed = ran(
        [program, "-m", "claude-sonnet-4.6", "--schema", "city, population int", PARIS], environment, tmp_path
    )
    assert json.loads(printed) == {"city": "Paris", "population": 2_000_000}
    assert "Hello" in ran([program, "-m", "claude-4-opus", "hello"], environment, tmp_path)


# ── TypeScript ──────────────────────────────────────────────────────────────────────────────────────

RUNNER = """
import Anthropic from '@anthropic-ai/sdk';
const tool = {
  type: 'custom', name: 'get_weather', description: 'The weather of a place',
  input_schema: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
  parse: (input) => input, run: ({ location }) => `sunny in ${location}`,
};
const last = await new Anthropic().beta.messages.toolRunner({
  model: 'claude-opus-4-8', max_tokens: 1000, tools: [tool],
  messages: [{ role: 'user', content: 'use get_weather with Paris' }],
});
console.log(JSON.stringify([last.stop_reason, last.content.at(-1).text.includes('sunny in Paris')]));
"""
PARSE = """
import Anthropic from '@anthropic-ai/sdk';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
const format = jsonSchemaOutputFormat({
  type: 'object', properties: { city: { type: 'string' }, population: { type: 'integer' } },
  required: ['city', 'population'], additionalProperties: false,
});
const message = await new Anthropic().messages.parse({
  model: 'claude-opus-4-8', max_tokens: 1000, output_config: { format }, messages: [{ role: 'user', content: 'PARIS' }],
});
console.log(JSON.stringify(message.parsed_output));
""".replace("PARIS", PARIS)


@pytest.mark.parametrize(
    ("asked", "program", "prints"),
    [("toolRunner", RUNNER, ["end_turn", True]), ("messages.parse", PARSE, {"city": "Paris", "population": 2_000_000})],
    ids=["runner", "parse"],
)
def test_the_typescript_sdk(
    asked: str,
    program: str,
    prints: object,
    row: Row,
    environment: dict[str, str],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    row("@anthropic-ai/sdk", asked)
    found = [(folder, version) for folder in environments() if (version := node_version(folder, "@anthropic-ai/sdk"))]
    node = shutil.which("node")
    if not found or node is None:
        pytest.skip(f"@anthropic-ai/sdk or node is not installed; {HOW}")
    folder, version = found[0]
    request.node.user_properties.append(("version", version))
    (tmp_path / "node_modules").symlink_to(os.path.realpath(folder / "node_modules"))
    (tmp_path / "client.mjs").write_text(program)
    assert json.loads(ran([node, "client.mjs"], environment, tmp_path)) == prints
