"""A harbor as an MCP server on standard input and output. Some of its tools fail as those of real servers do."""

import json
import os
import sys
from pathlib import Path

VERSION = "2025-06-18"
NONE, EACH = {}, {"c": {"type": "string"}, "t": {"type": "string"}}
TOOLS = [  # name, description, parameters, hints
    ("tide", "The water at the coast c at the time t.", EACH, {"readOnlyHint": True}),
    ("berth.free", "Which berths are free.", NONE, {"readOnlyHint": True}),
    ("berth free", "Free a berth: tow away the ship that lies in it.", NONE, {"destructiveHint": True}),
    ("depth_of_the_water_at_the_berth_of_the_largest_ship_of_the_harbor", "In metres.", NONE, {}),
    ("buoy", "Lay a buoy, which has a tool of its own.", NONE, {}),
    ("pilot", "Call the pilot, who never answers.", NONE, {"readOnlyHint": True}),
    ("fog", "End this program in the middle of the call.", NONE, {"readOnlyHint": True}),
]
TEXTS = {
    "berth.free": "berths 2 and 5",
    "berth free": "the ship is towed away",
    "depth_of_the_water_at_the_berth_of_the_largest_ship_of_the_harbor": "14 m",
    "buoy": "the buoy is laid",
    "buoy_1": "the buoy blinks",
}


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def call(name, given):
    """The text of a tool; None: it never answers."""
    match name:
        case "tide":
            return f"high water in {given['c']} at {given['t']}"
        case "berth.free":
            print("DEBUG: looking at the berths", flush=True)  # into the protocol
        case "buoy":
            TOOLS.append(("buoy_1", "Whether the buoy blinks.", NONE, {}))
            send(method="notifications/tools/list_changed")
        case "fog":
            sys.stderr.write("the fog came down\n")
            os._exit(9)
    return TEXTS.get(name)


def answer(method, params):
    """The result of a request; None: it gets no answer."""
    match method:
        case "initialize":
            about = {"name": "harbor", "version": "1"}
            return {"protocolVersion": VERSION, "capabilities": {"tools": {"listChanged": True}}, "serverInfo": about}
        case "tools/list":
            keys = ("name", "description", "inputSchema", "annotations")
            rows = ((name, text, {"type": "object", "properties": each}, hints) for name, text, each, hints in TOOLS)
            return {"tools": [dict(zip(keys, row, strict=True)) for row in rows]}
        case "tools/call":
            text = call(params["name"], params.get("arguments", {}))
            return text and {"content": [{"type": "text", "text": text}]}


for line in sys.stdin:
    message = json.loads(line)
    with Path("harbor.log").open("a") as log:
        log.write(message.get("method", "an answer") + "\n")
    if "method" in message and "id" in message:
        if message["method"] not in ("initialize", "tools/list", "tools/call"):
            send(id=message["id"], error={"code": -32601, "message": f"no method {message['method']}"})
        elif result := answer(message["method"], message.get("params", {})):
            send(id=message["id"], result=result)
