"""Record the two sessions that are kept here: python -m tests.policies.breakers.sessions.record

Runs the real command with the shipped faults against the script beside this file. Values that
differ between machines are normalized, so that the journals do not reveal where they were recorded.
"""

import asyncio
import json
import re
import tempfile
from pathlib import Path

from harness.journal import session_folder
from tests.ui.program import Place, run

HERE = Path(__file__).parent
NAMES = ("grep-dies", "network-gone")
WORKSPACE = "/home/you/project"
PROMPT = "Where is the time-out set, and who uses it?"
FILES = {
    "src/settings.py": "TIMEOUT_S = 30\nretries = 3\n",
    "src/client.py": "from settings import TIMEOUT_S\n\nprint(TIMEOUT_S)\n",
}


async def recorded(name: str, folder: Path) -> str:
    """The journal of a session that plays the script and the faults of this name, as it was written."""
    place = Place(folder / "project")
    for file, text in FILES.items():
        path = place.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    script = str(HERE / f"{name}.toml")
    ended = await run(place, "-p", PROMPT, "--practice", script, "--tool-faults", name, "--yolo")
    if ended.code:
        raise RuntimeError(ended.err)
    (journal,) = session_folder(place.folder.resolve(), place.state).glob("*.jsonl")
    return journal.read_text("utf-8")


def neutral(journal: str, folder: Path) -> str:
    """The journal without a trace of the machine, its moments a second apart."""
    text = journal.replace(str((folder / "project").resolve()), WORKSPACE)
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", text)
    for kind in ("toolu", "msg", "req"):
        for number, id in enumerate(dict.fromkeys(re.findall(rf"\b{kind}_\w+", text)), 1):
            text = text.replace(id, f"{kind}_{number:02}")
    lines = []
    for number, line in enumerate(text.splitlines()):
        record = json.loads(line)
        record["at"] = 1_800_000_000.0 + number
        for key in [key for key in record if key.endswith("duration_s")]:
            record[key] = 0.1
        lines.append(json.dumps(record, ensure_ascii=False))
    return "\n".join(lines) + "\n"


async def main() -> None:
    """Write both journals beside this file."""
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            text = neutral(await recorded(name, Path(folder)), Path(folder))
            (HERE / f"{name}.jsonl").write_text(text, "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
