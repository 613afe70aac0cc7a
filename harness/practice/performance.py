"""Acts on a real connection."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator

from harness.practice import faults
from harness.practice.faults import StreamFault
from harness.practice.player import Act, End, Framing, Player, Send, Wait, acts_before_headers, framing
from harness.practice.sse import Frame
from harness.practice.wire import Connection

Headers = Iterable[tuple[str, str]]


async def perform(connection: Connection, acts: Iterator[Act]) -> None:
    """Do what a player says. Raises Disconnected after an act that closes the connection."""
    for act in acts:
        match act:
            case Send(data):
                await connection.send(data)
            case Wait(seconds):
                await wait(connection, seconds)
            case End.FINISH:
                await connection.finish()
            case End.CUT:
                await connection.cut()
            case End.CLOSE:
                await connection.close()
            case End.RESET:
                await connection.reset()


async def perform_before_headers(connection: Connection, fault: StreamFault | None) -> None:
    """The part of a fault that comes before any byte of the response."""
    await perform(connection, acts_before_headers(fault))


async def perform_stream(
    connection: Connection, headers: Headers, events: AsyncIterator[Frame], fault: StreamFault | None, request_id: str
) -> None:
    """A streamed reply, with its fault."""
    await connection.begin(200, headers, framing(fault))
    player = Player(fault, request_id)
    async for event in events:
        await perform(connection, player.feed(event))
        if player.ended:
            return
    await perform(connection, player.finish())


async def perform_body(connection: Connection, headers: Headers, body: bytes, fault: StreamFault | None) -> None:
    """A reply that is not streamed. Faults of events have no meaning here; those of the connection strike halfway."""
    half = body[: len(body) // 2]
    match fault:
        case faults.Reset() | faults.CutChunk() | faults.ShortLength() | faults.Stall():
            await connection.begin(200, headers, Framing.LENGTH, len(body))
            await connection.send(half)
            await _break_off(connection, fault)
            await connection.send(body[len(half) :])
            await connection.close()
        case faults.CleanEnd() | faults.BadJson():
            await connection.respond(200, headers, half)
        case faults.CloseDelimited():
            await connection.begin(200, headers, Framing.NONE)
            await connection.send(half)
            await connection.close()
        case faults.BadUtf8():
            await connection.respond(200, headers, half + b"\xff\xfe" + body[len(half) :])
        case _:
            await connection.respond(200, headers, body)


async def wait(connection: Connection, seconds: float | None) -> None:
    """Send nothing for so many seconds; None: until the client goes away."""
    if seconds is None:
        await connection.closed.wait()
    else:
        await asyncio.sleep(seconds)


async def _break_off(connection: Connection, fault: StreamFault) -> None:
    match fault:
        case faults.Reset():
            await connection.reset()
        case faults.Stall(seconds=seconds):
            await wait(connection, seconds)
        case _:
            await connection.close()
