"""The water of the harbour as an MCP server on standard input and output."""

import json
import sys

NONE = {"type": "object", "properties": {}}
TOOLS = {
    "height": ("How high the water is.", {"readOnlyHint": True}, "the water is at 3 metres"),
    "lamp": ("Switch the lamp of the pier on.", {}, "the lamp is on"),
}


def answer(method, params):
    """The result of a request; None: there is no such method."""
    match method:
        case "initialize":
            about = {"name": "tide", "version": "1"}
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            rows = ((name, about, hints) for name, (about, hints, _) in TOOLS.items())
            return {"tools": [{"name": n, "description": a, "annotations": h, "inputSchema": NONE} for n, a, h in rows]}
        case "tools/call":
            return {"content": [{"type": "text", "text": TOOLS[params["name"]][2]}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params", {}))
        error = {"error": {"code": -32601, "message": f"no method {message['method']}"}}
        reply = {"result": result} if result else error
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
