"""The practice model and the fault proxy as commands: run until they are cancelled, one line a request.

`harness practice serve` and `harness practice proxy` call these.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from harness.base.errors import HarnessError
from harness.practice.proxy import FaultProxy
from harness.practice.script.entries import USUAL, Chance
from harness.practice.script.script import Script, checked_mix
from harness.practice.script.toml_table import Table
from harness.practice.server import PracticeServer
from harness.practice.wire.listener import Listener
from harness.practice.wire.prepared_reply import Counter
from harness.practice.wire.recorded import RecordedExchange
from harness.practice.wire.replies import ReplyModel


class AddressError(HarnessError):
    """The address to listen at cannot be had."""

    exit_code = 2


async def serve(
    brain: ReplyModel | None,
    out: TextIO,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    script: Path | str | None = None,
    window: int | None = None,
    probability: float | None = None,
    seed: int = 0,
    mix: tuple[str, ...] = USUAL,
    allowed_hosts: Sequence[str] = (),
    tokens: Counter | None = None,
) -> None:
    """Serve the practice model until cancelled. Writes its base URL and one line per request to `out`.

    `window`, in tokens, and `probability` (of a fault, 0 to 1) replace what the script says. `allowed_hosts` are
    further values of the header `Host`, where the server is reached by another name. Raises
    ScriptError for a script or mix that cannot be used, AddressError when the port is taken. Without `tokens`
    the vocabulary is loaded first, which takes a fraction of a second.
    """
    chosen = _chosen(script, probability, seed, mix)
    rules = replace(chosen.rules, window=window) if window is not None else chosen.rules
    counter = tokens or await _vocabulary()
    server = PracticeServer(
        brain,
        script=chosen,
        host=host,
        port=port,
        rules=rules,
        tokens=counter,
        remember=0,
        on_exchange=_printer(out),
        allowed_hosts=allowed_hosts,
    )
    await _run(server, host, port, out, "practice model")


async def proxy(
    upstream: str,
    out: TextIO,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    script: Path | str | None = None,
    probability: float | None = None,
    seed: int = 0,
    mix: tuple[str, ...] = USUAL,
    allowed_hosts: Sequence[str] = (),
) -> None:
    """Put faults into the traffic with `upstream` until cancelled. Writes its base URL and one line per request.

    Raises UpstreamError, ScriptError or AddressError, each one sentence.
    """
    chosen = _chosen(script, probability, seed, mix)
    standing = FaultProxy(
        upstream,
        script=chosen,
        host=host,
        port=port,
        remember=0,
        on_exchange=_printer(out),
        allowed_hosts=allowed_hosts,
    )
    await _run(standing, host, port, out, f"fault proxy before {upstream}")


async def _vocabulary() -> Counter:
    from harness.model.tokens import TokenCounter

    counter = TokenCounter()
    await asyncio.to_thread(counter.load)
    return counter


def _chosen(script: Path | str | None, probability: float | None, seed: int, mix: tuple[str, ...]) -> Script:
    chosen = Script() if script is None else Script.load(script)
    if probability is None:
        return chosen
    flags = Table({"faults": probability}, "command line")
    flags.number("faults", most=1)
    return replace(chosen, chance=Chance(probability, seed, checked_mix(flags, mix)))


def _printer(out: TextIO) -> Callable[[RecordedExchange], None]:
    def write(exchange: RecordedExchange) -> None:
        print(time.strftime("%H:%M:%S"), exchange.line(), file=out, flush=True)

    return write


async def _run(listener: Listener, host: str, port: int, out: TextIO, what: str) -> None:
    try:
        await listener.__aenter__()
    except OSError as error:
        raise AddressError(
            f"cannot listen at {host}:{port} ({error.strerror}); choose another port or host."
        ) from error
    try:
        print(f"{what} at {listener.base_url}", file=out, flush=True)
        await asyncio.Event().wait()
    finally:
        await listener.__aexit__(None, None, None)
