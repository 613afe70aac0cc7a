"""The check of this project: the last ferry back leaves in the evening."""

import re
from pathlib import Path

times = re.findall(r"back at (\d\d:\d\d)", Path("ferries.txt").read_text("utf-8"))
print(f"the last ferry back leaves at {times[-1]}")
if times[-1] < "18:00":
    raise SystemExit("then visitors have to sleep on the island")
