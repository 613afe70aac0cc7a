"""The client that you write: one MCP server on a pipe."""

import json
import sys
from itertools import count
from pathlib import Path
from subprocess import PIPE, Popen

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "mine", "version": "1"},
}


class Client:
    def __init__(self, *command, folder):
        pipes = {"stdin": PIPE, "stdout": PIPE, "bufsize": 1}
        self.server = Popen(command, cwd=folder, text=True, **pipes)
        self.numbers = count(1)
        self.about = self.ask("initialize", HELLO)
        self.send(method="notifications/initialized")

    def send(self, **message):
        line = json.dumps({"jsonrpc": "2.0"} | message)
        self.server.stdin.write(line + "\n")

    def ask(self, method, params):
        number = next(self.numbers)
        self.send(id=number, method=method, params=params)
        while True:
            message = json.loads(self.server.stdout.readline())
            if message.get("id") == number:
                return message["result"]

    def tools(self):
        tools = self.ask("tools/list", {})["tools"]
        return [tool["name"] for tool in tools]

    def call(self, tool, arguments):
        params = {"name": tool, "arguments": arguments}
        return self.ask("tools/call", params)["content"][0]["text"]


if __name__ == "__main__":
    here = Path(__file__).parent
    client = Client(sys.executable, "harbor.py", folder=here)
    print(*client.tools(), sep="\n")
    print(client.call("tide", {"c": "Porto", "t": "noon"}))
    print("In another terminal: kill -9", client.server.pid)
    input("Then press Enter. ")
    print(client.call("tide", {"c": "Porto", "t": "dusk"}))
