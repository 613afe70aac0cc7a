"""An MCP server on standard input and output that fails on request, for any client.

    harness practice mcp --fault die

It uses the standard library only and starts at once. Without a fault it is an ordinary server with a few tools; each
fault is one that real servers have. It answers `server/discover` with an error and speaks version 2025-06-18.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

FAULTS = {
    "die": "exit in the middle of every third call",
    "hang": "never answer a call",
    "flood": "write 100 MB of notifications before the answer to a call",
    "bad-bytes": "write bytes that are no UTF-8, and lines that are no JSON, before each answer",
    "pages": "give the list of tools in pages of one, with a cursor that comes back at the end",
    "bad-result": "answer calls with a result that fits no schema",
    "slow-start": "wait 5 seconds before the first answer",
    "storm": "say a thousand times that the list of tools has changed",
    "late": "answer each call twice, the second time half a second late",
    "duplicate": "list every tool twice",
    "long-line": "answer calls with 40 MB in one line",
    "silent": "never answer anything",
    "crash": "exit at once with a message",
    "no-list": "answer the second tools/list and all that follow with an error",
}
VERSION = "2025-06-18"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEUlEQVR4nGP4z8DA8B+MgBgAHfAD/dPQfSYAAAAASUVORK5CYII="
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NONE = {"type": "object", "properties": {}}
Answer = dict[str, Any]


def tool(name: str, description: str, schema: Answer, **hints: bool) -> Answer:
    """An entry of tools/list."""
    return {"name": name, "description": description, "inputSchema": schema, "annotations": hints}


TOOLS = (
    tool("echo", "Return the text.", TEXT, readOnlyHint=True),
    tool("append", "Append the text to a list and return its length.", TEXT),
    tool("delete_all", "Empty the list.", NONE, destructiveHint=True),
    tool("fail", "Fail with two lines.", NONE),
    tool("media", "Return an image, a link, a resource and audio.", NONE, readOnlyHint=True),
    tool("structured", "Return structured content and a text that says something else.", NONE, readOnlyHint=True),
    tool("work", "Work for some seconds and report progress.", {"type": "object"}),
    tool("ask", "Ask the user for a name and a number.", NONE),
    tool("visit", "Ask the user to open an address.", TEXT),
    tool("sample", "Ask the model of the client.", TEXT),
    tool("log", "Log the text.", TEXT),
    tool("where", "Ask the client for its roots.", NONE),
    tool("environment", "Return the names of all variables.", NONE),
    tool("grow", "Add a tool to the list and say that the list has changed.", NONE),
    tool("pid", "Return the number of this process.", NONE),
    tool("die", "Exit without an answer.", NONE),
)


GREETING: Answer = {
    "name": "greet",
    "description": "Greet somebody.",
    "arguments": [{"name": "who", "required": True}, {"name": "how", "description": "such as warmly"}],
}
RESOURCES = (
    {"uri": "note://2", "name": "second", "mimeType": "text/plain"},
    {"uri": "note://big", "name": "a million letters", "mimeType": "text/plain"},
    {"uri": "note://pixel.png", "name": "an image", "mimeType": "image/png"},
    {"uri": "note://data", "name": "some bytes", "mimeType": "application/octet-stream"},
)


class Server:
    """One connection."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.kept: list[str] = []
        self.more: list[Answer] = []
        self.calls = 0
        self.lists = 0
        self.waiting: dict[str, Any] = {}

    def write(self, **message: Any) -> None:
        """Send a message."""
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def serve(self) -> int:
        """Answer until the end of standard input."""
        if self.fault == "crash":
            print("cannot open the database /nowhere/notes.db", file=sys.stderr)
            return 3
        if self.fault == "slow-start":
            time.sleep(5)
        for line in self.lines():
            self.take(line)
        return 0

    def lines(self) -> Iterator[Answer]:
        """The messages of the client."""
        for line in sys.stdin:
            if line.strip():
                yield json.loads(line)

    def take(self, message: Answer) -> None:
        """Answer one message."""
        method, id = message.get("method"), message.get("id")
        if self.fault == "silent" or id is None:
            return
        if method is None:
            self.answered(message)
            return
        match method:
            case "initialize":
                said = {name: {"listChanged": True} for name in ("tools", "prompts", "resources")} | {"logging": {}}
                info = {"name": "practice", "version": "1"}
                text = "Use echo to test the connection."
                result = {"protocolVersion": VERSION, "capabilities": said, "serverInfo": info, "instructions": text}
                self.write(id=id, result=result)
            case "ping":
                self.write(id=id, result={})
            case "tools/list":
                self.list_tools(id, message.get("params") or {})
            case "tools/call":
                self.call(id, message["params"])
            case "resources/list":
                self.write(id=id, result={"resources": RESOURCES})
            case "prompts/list":
                more = [{"name": one["name"], "description": one["description"]} for one in self.more]
                self.write(id=id, result={"prompts": [GREETING, *more]})
            case "prompts/get":
                self.prompt(id, message["params"])
            case "resources/read":
                self.read(id, message["params"]["uri"])
            case _:
                self.write(id=id, error={"code": -32601, "message": f"unknown method {method}"})

    def read(self, id: Any, uri: str) -> None:
        """Answer resources/read."""
        held = {
            "note://2": {"text": "the second note"},
            "note://big": {"text": "x" * 1_000_000},
            "note://pixel.png": {"blob": PIXEL},
            "note://data": {"blob": "AAECAwQ="},
        }
        kinds = {one["uri"]: one["mimeType"] for one in RESOURCES}
        if uri in held:
            self.write(id=id, result={"contents": [{"uri": uri, "mimeType": kinds[uri], **held[uri]}]})
        else:
            self.write(id=id, error={"code": -32002, "message": f"no resource {uri}"})

    def prompt(self, id: Any, params: Answer) -> None:
        """Answer prompts/get."""
        given = params.get("arguments") or {}
        if params["name"] != "greet" or "who" not in given:
            self.write(id=id, error={"code": -32602, "message": f"cannot fill in {params['name']} with {given}"})
            return
        said = f"Say hello to {given['who']}" + (f", {given['how']}." if "how" in given else ".")
        content = [("user", {"type": "text", "text": said}), ("assistant", {"type": "text", "text": "I will."})]
        content.append(("user", {"type": "image", "data": PIXEL, "mimeType": "image/png"}))
        self.write(id=id, result={"messages": [{"role": role, "content": one} for role, one in content]})

    def list_tools(self, id: Any, params: Answer) -> None:
        """Answer tools/list."""
        self.lists += 1
        tools = [*TOOLS, *self.more]
        if self.fault == "no-list" and self.lists > 1:
            self.write(id=id, error={"code": -32603, "message": "the index is locked"})
        elif self.fault == "pages":
            at = int(params.get("cursor", 0)) % len(tools)
            self.write(id=id, result={"tools": [tools[at]], "nextCursor": str((at + 1) % len(tools))})
        else:
            self.write(id=id, result={"tools": tools * 2 if self.fault == "duplicate" else tools})

    def call(self, id: Any, params: Answer) -> None:
        """Answer tools/call, with the fault."""
        self.calls += 1
        match self.fault:
            case "die" if self.calls % 3 == 0:
                os._exit(9)
            case "hang":
                return
            case "flood":
                noise = {"level": "info", "data": "x" * 1_000}
                for _ in range(100_000):
                    self.write(method="notifications/message", params=noise)
            case "bad-bytes":
                sys.stdout.buffer.write(b"\xff\xfe not a message \x1b[31m\n{\n")
                sys.stdout.flush()
            case "bad-result":
                self.write(id=id, result={"content": [{"type": "text"}, 7], "isError": "maybe"})
                return
            case "storm":
                for _ in range(1_000):
                    self.write(method="notifications/tools/list_changed")
            case "long-line":
                self.write(id=id, result={"content": [{"type": "text", "text": "x" * 40_000_000}]})
                return
        self.run(id, params)
        if self.fault == "late":
            time.sleep(0.5)
            self.write(id=id, result=text_of("the second answer"))

    def run(self, id: Any, params: Answer) -> None:
        """Run a tool and answer."""
        name, given = params.get("name"), params.get("arguments") or {}
        match name:
            case "echo":
                self.write(id=id, result=text_of(given["text"]))
            case "append":
                self.kept.append(given["text"])
                self.write(id=id, result=text_of(str(len(self.kept))))
            case "delete_all":
                self.kept.clear()
                self.write(id=id, result=text_of("empty"))
            case "fail":
                content = [{"type": "text", "text": one} for one in ("the first line", "the second line")]
                self.write(id=id, result={"content": content, "isError": True})
            case "media":
                self.write(id=id, result={"content": media()})
            case "structured":
                answer = text_of("in words")
                self.write(id=id, result={**answer, "structuredContent": {"degrees": 21.5}})
            case "work":
                self.work(id, float(given.get("seconds", 1)), (params.get("_meta") or {}).get("progressToken"))
            case "ask":
                fields = {
                    "name": {"type": "string", "title": "Your name"},
                    "number": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
                }
                schema = {"type": "object", "properties": fields, "required": ["name"]}
                self.request(id, "elicitation/create", {"message": "Who are you?", "requestedSchema": schema})
            case "visit":
                self.visit(id, given["text"], first=bool(given.get("first")))
            case "sample":
                said = [{"role": "user", "content": {"type": "text", "text": given["text"]}}]
                wanted = {"systemPrompt": "Be short.", "maxTokens": 200, "messages": said}
                self.request(id, "sampling/createMessage", wanted)
            case "log":
                self.write(method="notifications/message", params={"level": "info", "data": given["text"]})
                self.write(id=id, result=text_of("logged"))
            case "where":
                self.request(id, "roots/list", {})
            case "environment":
                self.write(id=id, result=text_of(" ".join(sorted(os.environ))))
            case "grow":
                self.more.append(tool(f"more_{len(self.more) + 1}", "Came later.", NONE))
                self.write(id=id, result=text_of("grown"))
                for name in ("tools", "prompts"):
                    self.write(method=f"notifications/{name}/list_changed")
            case "pid":
                self.write(id=id, result=text_of(str(os.getpid())))
            case "die":
                print("out of memory", file=sys.stderr)
                sys.stderr.flush()
                os._exit(9)
            case _:
                self.write(id=id, error={"code": -32602, "message": f"Unknown tool: {name}"})

    def visit(self, id: Any, url: str, *, first: bool) -> None:
        """Ask the user to open an address: during the call, or before the call is made again."""
        where = {"mode": "url", "url": url, "elicitationId": "e1", "message": "Sign in there."}
        if not first:
            self.request(id, "elicitation/create", where)
        elif url in self.kept:
            self.write(id=id, result=text_of("visited"))
        else:
            self.kept.append(url)
            wanted = {"code": -32042, "message": "sign in first", "data": {"elicitations": [where]}}
            self.write(id=id, error=wanted)

    def work(self, id: Any, seconds: float, token: Any) -> None:
        """Report progress ten times while time passes."""
        for step in range(10):
            time.sleep(seconds / 10)
            if token is not None:
                progress = {"progressToken": token, "progress": step + 1, "total": 10, "message": f"part {step + 1}"}
                self.write(method="notifications/progress", params=progress)
        self.write(id=id, result=text_of("worked"))

    def request(self, call: Any, method: str, params: Answer) -> None:
        """Ask the client; its answer becomes that of the call."""
        own = f"s{len(self.waiting) + 1}"
        self.waiting[own] = call
        self.write(id=own, method=method, params=params)

    def answered(self, message: Answer) -> None:
        """The client has answered a request."""
        call = self.waiting.pop(message["id"], None)
        if call is not None:
            self.write(id=call, result=text_of(json.dumps(message.get("result", message.get("error")))))


def text_of(text: str) -> Answer:
    """A result with one text."""
    return {"content": [{"type": "text", "text": text}]}


def media() -> list[Answer]:
    """One block of each kind."""
    return [
        {"type": "text", "text": "four kinds"},
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {"type": "resource_link", "uri": "note://1", "name": "first note", "mimeType": "text/plain", "size": 12},
        {"type": "resource", "resource": {"uri": "note://2", "mimeType": "text/plain", "text": "the second note"}},
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
    ]


def main() -> int:
    """Run the server."""
    parser = argparse.ArgumentParser(description="An MCP server on standard input and output that fails on request.")
    parser.add_argument("--fault", choices=FAULTS, default="", help="; ".join(f"{k}: {v}" for k, v in FAULTS.items()))
    return Server(parser.parse_args().fault).serve()


if __name__ == "__main__":
    sys.exit(main())
