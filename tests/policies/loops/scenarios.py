"""The streams of `scenarios.jsonl`: loops, and legitimate work that looks like one."""

import json
from pathlib import Path
from typing import Any

from tests.policies.loops.streams import Made, Scenario


def _scenario(data: dict[str, Any]) -> Scenario:
    calls = [
        Made(tool, arguments, result, "failed" not in flags, "mutates" in flags, "poll" in flags)
        for tool, arguments, result, *flags in data["calls"]
    ]
    steps = tuple(tuple(calls[one] for one in (step if isinstance(step, list) else [step])) for step in data["steps"])
    more = {name: data[name] for name in ("latest", "weak", "apart_s") if name in data}
    return Scenario(data["id"], data["name"], steps, prompts=tuple(data.get("prompts", ())), **more)


_LINES = Path(__file__).with_suffix(".jsonl").read_text("utf-8").splitlines()[1:]
_ALL = [(data["half"], _scenario(data)) for data in map(json.loads, _LINES)]
FIXTURE, FIRST, SECOND = (tuple(one for half, one in _ALL if half == name) for name in ("fixture", "first", "second"))
