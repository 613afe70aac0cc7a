"""The client that you write: one MCP server on a pipe."""

import json
import sys
from itertools import count
from pathlib import Path
from subprocess import PIPE, Popen


class Client:
    def __init__(self, *command, folder=None):
        self.server = Popen(command, cwd=folder, stdin=PIPE, stdout=PIPE, text=True, bufsize=1)
        self.numbers = count(1)
        me = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "mine", "version": "1"}}
        self.about = self.ask("initialize", me)
        self.send(method="notifications/initialized")

    def send(self, **message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")

    def ask(self, method, params):
        self.send(id=(number := next(self.numbers)), method=method, params=params)
        while (message := json.loads(self.server.stdout.readline())).get("id") != number:
            pass  # a notification
        return message["result"]

    def tools(self):
        return [tool["name"] for tool in self.ask("tools/list", {})["tools"]]

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"]


if __name__ == "__main__":
    client = Client(sys.executable, "harbor.py", folder=Path(__file__).parent)
    print(*client.tools(), sep="\n")
    print(client.call("tide", {"c": "Porto", "t": "noon"}))
    input(f"In another terminal: kill -9 {client.server.pid}   Then press Enter. ")
    print(client.call("tide", {"c": "Porto", "t": "noon"}))
