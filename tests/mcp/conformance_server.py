"""Our server as the official conformance suite drives it: over HTTP, with tools that the suite names.

CONTRIBUTING.md says how to run the suite. There is no token, because the suite sends none.
"""

import asyncio
import base64
import sys
import tempfile
from pathlib import Path
from typing import Any

import uvicorn
from pydantic import ConfigDict

from harness.events import ToolOutcome
from harness.media.attachment import attachment
from harness.session import open_session
from harness.settings import load
from harness.tools.tool import Effect, Tool, ToolArguments, ToolContext, ToolResult
from harness.ui.mcp_server import ClientAsker, ToolServer
from tests.media.files import png

SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "tools-call-elicitation",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)
"""What `harness mcp serve` offers: no prompts, resources, completion, log, sampling, audio and reconnection."""
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}
IMAGE = attachment(png(2, 2), "a picture").block
DOCUMENT = {
    "type": "document",
    "source": {"type": "base64", "media_type": "application/pdf", "data": base64.b64encode(b"%PDF-1.4\n").decode()},
}
RESULTS = {
    "test_simple_text": ToolResult("This is a simple text response for testing."),
    "test_image_content": ToolResult("An image.", media=(IMAGE,)),
    "test_embedded_resource": ToolResult("A document.", media=(DOCUMENT,)),
    "test_multiple_content_types": ToolResult("Multiple content types test:", media=(IMAGE, DOCUMENT)),
    "test_error_handling": ToolResult("This tool intentionally returns an error for testing", ToolOutcome.ERROR),
    "test_tool_with_progress": ToolResult("done"),
    "test_elicitation": ToolResult("allowed"),
    "json_schema_2020_12_tool": ToolResult("nothing"),
}


class Anything(ToolArguments):
    """Whatever the suite sends."""

    model_config = ConfigDict(extra="allow")


def tool(name: str) -> Tool:
    """The tool of this name; that of the elicitation asks for a permission."""

    async def run(context: ToolContext, given: Anything) -> ToolResult:
        await asyncio.sleep(3.5 if name == "test_tool_with_progress" else 0)
        return RESULTS[name]

    effect = Effect.RUN if name == "test_elicitation" else Effect.READ
    schema = SCHEMA if name == "json_schema_2020_12_tool" else None
    return Tool(name, f"For the suite: {name}.", Anything, effect, run, schema=schema)


async def main(port: int) -> None:
    """Serve until a signal."""
    with tempfile.TemporaryDirectory() as folder:
        asker, environ = ClientAsker(), {"HARNESS_STATE_DIR": folder, "HARNESS_USER_DIR": folder}
        work = Path(folder) / "work"
        work.mkdir()
        loaded = load({"workspace": work}, environ)
        tools: list[Any] = list(map(tool, RESULTS))
        async with await open_session(loaded, asker, warm=False, tools=tools) as session:
            app = ToolServer(session, asker, list(RESULTS)).server().streamable_http_app()
            await uvicorn.Server(uvicorn.Config(app, port=port, log_level="error")).serve()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
