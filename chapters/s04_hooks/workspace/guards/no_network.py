"""A hook as a program: it reads the call from stdin. Exit code 2 blocks it, and stderr says why."""

import json
import sys

command = json.load(sys.stdin)["input"]["command"]
if "curl" in command or "wget" in command:
    print("this project works without the network; the crew stands in crew.txt", file=sys.stderr)
    sys.exit(2)
