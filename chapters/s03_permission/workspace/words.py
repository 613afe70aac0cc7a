"""Counts the words of the files that are named."""

import sys
from pathlib import Path

for name in sys.argv[1:]:
    print(name, len(Path(name).read_text("utf-8").split()))
