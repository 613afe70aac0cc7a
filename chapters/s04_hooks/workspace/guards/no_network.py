"""A hook as a program: it reads the call from stdin. Exit code 2 blocks it, and stderr says why."""

import json
import shlex
import sys
from pathlib import Path

FETCHES = {"curl", "wget"}

words = shlex.shlex(json.load(sys.stdin)["input"]["command"], posix=True, punctuation_chars=True)
words.whitespace_split = True
first = True
for word in words:
    if first and Path(word).name in FETCHES:
        print("this project works without the network; the crew is listed in crew.txt", file=sys.stderr)
        sys.exit(2)
    first = set(word) <= set(";&|()")  # the word behind an operator is the name of a program
