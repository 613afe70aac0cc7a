"""How long it takes until a request goes out, and until `--version` and `--help` are answered."""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.figures import MEGABYTE, Figure
from benchmarks.processes import CommandFailed, Run, clean_environment, measured
from harness.practice.script import Script
from harness.practice.server import PracticeServer

ROUNDS = 9
LIGHT_ROUNDS = 21
ANSWERS = """
[[reply]]
text = "Hello."
times = "forever"
"""
MODEL = "claude-sonnet-4-6"
LLM_VARIABLE = "HARNESS_INTEROP_LLM"
BARE_SDK = f"""
import anthropic
with anthropic.Anthropic(max_retries=0).messages.stream(
    model="{MODEL}", max_tokens=1000, messages=[{{"role": "user", "content": "hi"}}]
) as stream:
    print(stream.get_final_text())
"""
"""The same prompt and answer with the SDK and nothing else."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """A run that sent a request."""

    run: Run
    until_request_s: float
    """From the start of the process to the arrival of its first request at the server."""


async def first_request() -> list[Figure | str]:
    """`harness -p hi` on a loopback server beside the SDK alone, and beside `llm`."""
    bare: list[_Sent] = []
    ours: list[_Sent] = []
    theirs: list[_Sent] = []
    llm = os.environ.get(LLM_VARIABLE) or shutil.which("llm")
    skipped = "" if llm else f"llm: skipped, it is not installed; {LLM_VARIABLE} may name its executable"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        # The first round fills the caches of the disk and of the interpreter; it does not count.
        for number in range(ROUNDS + 1):
            alone = await _sent((sys.executable, "-c", BARE_SDK), folder)
            answered = await _sent(_our_command(), folder)
            if number:
                bare.append(alone)
                ours.append(answered)
            if llm and not skipped:
                try:
                    answered = await _sent((llm, "-m", f"anthropic/{MODEL}", "--no-log", "hi"), folder)
                except CommandFailed as error:
                    skipped = f"llm: skipped, {error}"
                else:
                    theirs += [answered] if number else []
    return [
        Figure(
            "start to first request / the SDK alone",
            median(one.until_request_s for one in ours) * 1000,
            "ms",
            median(one.until_request_s for one in bare) * 1000,
            at_most=0.9,
            note=_span([one.until_request_s for one in ours], [one.until_request_s for one in bare]),
        ),
        *_beside("whole run / the SDK alone", [one.run for one in ours], [one.run for one in bare]),
        *_against_llm(ours, theirs),
        *([skipped] if skipped else []),
    ]


def _our_command() -> tuple[str, ...]:
    return (sys.executable, "-m", "harness", "-p", "hi", "--model", MODEL)


async def _sent(command: Sequence[str], folder: Path) -> _Sent:
    async with PracticeServer(script=Script.parse(ANSWERS, "answers")) as server:
        run = await measured(command, _environment(server.base_url, folder), folder)
        arrivals = [request.at for request in server.requests if request.path.endswith("/messages")]
    if not arrivals:
        raise CommandFailed(f"{command[0]} sent no request")
    return _Sent(run, arrivals[0] - run.began)


def _environment(base_url: str, folder: Path) -> dict[str, str]:
    return clean_environment(
        ANTHROPIC_BASE_URL=base_url,
        ANTHROPIC_API_KEY="not-a-key",
        HARNESS_STATE_DIR=str(folder / "state"),
        LLM_USER_PATH=str(folder / "llm"),
    )


def _against_llm(ours: Sequence[_Sent], theirs: Sequence[_Sent]) -> list[Figure]:
    if not theirs:
        return []
    request = Figure(
        "start to first request / llm",
        median(one.until_request_s for one in ours) * 1000,
        "ms",
        median(one.until_request_s for one in theirs) * 1000,
        note=_span([one.until_request_s for one in ours], [one.until_request_s for one in theirs]),
    )
    return [request, *_beside("whole run / llm", [one.run for one in ours], [one.run for one in theirs])]


def _beside(name: str, ours: Sequence[Run], theirs: Sequence[Run]) -> list[Figure]:
    return [
        Figure(
            f"{name}: processor time",
            median(run.cpu_s for run in ours) * 1000,
            "ms",
            median(run.cpu_s for run in theirs) * 1000,
        ),
        Figure(
            f"{name}: peak memory",
            median(run.peak_bytes for run in ours) / MEGABYTE,
            "MB",
            median(run.peak_bytes for run in theirs) / MEGABYTE,
        ),
    ]


async def light_commands() -> list[Figure | str]:
    """`--version` and `--help` beside an interpreter that does nothing."""
    commands = {
        "bare": (sys.executable, "-c", "pass"),
        "--version": (sys.executable, "-m", "harness", "--version"),
        "--help": (sys.executable, "-m", "harness", "--help"),
    }
    took: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as place:
        for number in range(LIGHT_ROUNDS + 1):
            for name, command in commands.items():
                run = await measured(command, clean_environment(), Path(place))
                took[name] += [run.seconds] if number else []
    bare = took.pop("bare")
    return [
        Figure(
            f"{name} / python -c pass",
            median(seconds) * 1000,
            "ms",
            median(bare) * 1000,
            at_most=3,
            note=_span(seconds, bare),
        )
        for name, seconds in took.items()
    ]


def _span(ours: Sequence[float], other: Sequence[float]) -> str:
    spans = (f"{min(some) * 1000:.0f}–{max(some) * 1000:.0f}" for some in (ours, other))
    return f"({' / '.join(spans)} ms in {len(ours)} runs)"
