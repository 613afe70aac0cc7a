"""The practice model and the fault proxy as commands: run until they are cancelled, one line a request.

`harness practice serve` and `harness practice proxy` call these.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from harness.base.errors import HarnessError
from harness.practice.checks.shapes import request_fields
from harness.practice.proxy import FaultProxy
from harness.practice.script.entries import Chance
from harness.practice.script.script import Script, checked_mix
from harness.practice.server import PracticeServer
from harness.practice.toml_table import Table
from harness.practice.wire.listener import LOOPBACK, Address, Listener
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
    address: Address = LOOPBACK,
    script: Path | str | None = None,
    chance: Chance | None = None,
    window: int | None = None,
    tokens: Counter | None = None,
) -> None:
    """Serve the practice model until cancelled. Writes its base URL and one line per request to `out`.

    `chance` and `window`, in tokens, replace what the script says. Raises ScriptError for a script or mix that cannot
    be used, AddressError when the port is taken. Without `tokens` the vocabulary is loaded first, and so are the types
    that requests are checked by; that takes about a second.
    """
    chosen = _chosen(script, chance)
    if window is not None:
        chosen = replace(chosen, rules=replace(chosen.rules, window=window))
    counter = tokens or await _vocabulary()
    await asyncio.to_thread(request_fields)
    server = PracticeServer(
        brain, script=chosen, address=address, tokens=counter, remember=0, on_exchange=_printer(out)
    )
    await _run(server, address, out, "practice model")


async def proxy(
    upstream: str,
    out: TextIO,
    *,
    address: Address = LOOPBACK,
    script: Path | str | None = None,
    chance: Chance | None = None,
) -> None:
    """Put faults into the traffic with `upstream` until cancelled. Writes its base URL and one line per request.

    Raises UpstreamError, ScriptError or AddressError, each one sentence.
    """
    server = FaultProxy(
        upstream, script=_chosen(script, chance), address=address, remember=0, on_exchange=_printer(out)
    )
    await _run(server, address, out, f"fault proxy before {upstream}")


async def _vocabulary() -> Counter:
    from harness.model.tokens import TokenCounter

    counter = TokenCounter()
    await asyncio.to_thread(counter.load)
    return counter


def _chosen(script: Path | str | None, chance: Chance | None) -> Script:
    chosen = Script() if script is None else Script.load(script)
    if chance is None:
        return chosen
    flags = Table({"faults": chance.probability}, "command line")
    flags.number("faults", most=1)
    return replace(chosen, chance=replace(chance, mix=checked_mix(flags, chance.mix)))


def _printer(out: TextIO) -> Callable[[RecordedExchange], None]:
    def write(exchange: RecordedExchange) -> None:
        print(time.strftime("%H:%M:%S"), exchange.line(), file=out, flush=True)

    return write


async def _run(listener: Listener, address: Address, out: TextIO, what: str) -> None:
    try:
        await listener.__aenter__()
    except OSError as error:
        raise AddressError(
            f"cannot listen at {address.host}:{address.port} ({error.strerror}); choose another port or host."
        ) from error
    try:
        print(f"{what} at {listener.base_url}", file=out, flush=True)
        await asyncio.Event().wait()
    finally:
        await listener.__aexit__(None, None, None)
