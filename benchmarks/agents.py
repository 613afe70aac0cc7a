"""400 agents asked for by one prompt, beside 5: how many work at once, what became of all, time and memory.

    python -m benchmarks.agents

The real command answers one prompt with the practice model, whose requests for agents fail in one case of five. What
happened is read from the events that the command writes: how many worked at any instant, how each ended.
"""

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import MEGABYTE, Figure
from benchmarks.parts import run_parts
from benchmarks.processes import CommandFailed, Run, clean_environment, measured

FEW, MANY = 5, 400
AT_ONCE = 5
SCRIPT = """
[[reply]]
text = "I give this to {count} agents."

[[reply.tools]]
name = "agent"
times = {count}
input = {{ description = "Multiply {{n}} by 17", prompt = "What is {{n}} * 17?" }}

[[reply]]
text = "All of them have ended."

[chance]
probability = {share}
seed = 6
faults = ["overloaded", "server_error", "error_event", "reset", "clean_end", "refused"]
when = {{ lacks = "agent" }}
"""


@dataclass(frozen=True, slots=True)
class Crowd:
    """What the events of one prompt say."""

    run: Run
    created: int
    ends: Counter[str]
    most: int
    """Agents that worked at the same time."""
    results: int
    """Calls of task that the model was given a result for."""
    faults: int
    spans: int
    """Agents that were let in and gave their slot back."""


def crowd_of(events: Sequence[dict[str, object]], run: Run) -> Crowd:
    """Read the events of a run."""
    kinds = Counter(str(event["type"]) for event in events)
    working: set[object] = set()
    most = 0
    for event in events:
        match event:
            case {"type": "work_admitted", "pool": "agents", "key": key}:
                working.add(key)
            case {"type": "work_released", "pool": "agents", "key": key}:
                working.discard(key)
        most = max(most, len(working))
    ends = Counter(str(event["end"]) for event in events if event["type"] == "agent_ended")
    results = sum(event["type"] == "tool_ended" and event["tool"] == "agent" for event in events)
    retried = sum(event["type"] == "agent_moved" and "try again" in str(event["doing"]) for event in events)
    return Crowd(run, kinds["agent_created"], ends, most, results, retried, kinds["work_released"])


async def of_one_prompt(count: int, share: float) -> Crowd:
    """Let `count` agents work, whose requests fail in this share of cases. Raises CommandFailed."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        work = folder / "work"
        work.mkdir()
        script = folder / "crowd.toml"
        script.write_text(SCRIPT.format(count=count, share=share))
        flags = ("--practice", str(script), "--yolo", "--output-format", "stream-json")
        run = await measured(
            (sys.executable, "-m", "harness", "-p", "Let them count.", *flags),
            clean_environment(
                HARNESS_STATE_DIR=str(folder / "state"), HARNESS_FAN_OUT="allow", HARNESS_MAX_SUBAGENTS=str(count)
            ),
            work,
        )
        events = [json.loads(line) for line in run.stdout.splitlines()]
        crowd = crowd_of(events, run)
        if crowd.created != count or sum(crowd.ends.values()) != count or crowd.results != count:
            raise CommandFailed(f"of {count} agents {crowd.created} were asked and {sum(crowd.ends.values())} ended")
        if crowd.most > AT_ONCE or crowd.spans != count:
            raise CommandFailed(f"{crowd.most} agents worked at once, and {crowd.spans} slots were given back")
        return crowd


async def beside_few() -> list[Figure | str]:
    """Time and memory of many beside few."""
    few, many = await of_one_prompt(FEW, 0.2), await of_one_prompt(MANY, 0.2)
    calm = await of_one_prompt(MANY, 0.0)
    more = MANY - FEW
    return [
        *(
            f"{count} agents: at most {crowd.most} at once; {_ends(crowd)}; {crowd.faults} requests tried again"
            for count, crowd in ((FEW, few), (MANY, many))
        ),
        Figure("seconds for 400, one request of five failing", many.run.seconds, "s", few.run.seconds, note="beside 5"),
        Figure("seconds for 400 without faults", calm.run.seconds, "s"),
        Figure("processor for each further agent", (calm.run.cpu_s - few.run.cpu_s) / more * 1000, "ms"),
        Figure(
            "peak memory with 400", many.run.peak_bytes / MEGABYTE, "MB", few.run.peak_bytes / MEGABYTE, note="with 5"
        ),
        Figure("memory for each further agent", (many.run.peak_bytes - few.run.peak_bytes) / more / 1024, "KB"),
    ]


def _ends(crowd: Crowd) -> str:
    return ", ".join(f"{count} {end}" for end, count in crowd.ends.most_common())


PARTS = {"crowd": ("400 agents of one prompt beside 5", beside_few)}

if __name__ == "__main__":
    sys.exit(run_parts("benchmarks.agents", str(__doc__), PARTS))
