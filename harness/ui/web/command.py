"""`harness serve`."""

import asyncio
from collections.abc import Sequence
from typing import TextIO

from harness.base.errors import HarnessError, SettingsError
from harness.ui.signals import handle_signals

_PACKAGES = frozenset({"aiohttp", "textual_serve"})


class PortError(HarnessError):
    """The port cannot be used."""

    exit_code = 2


async def serve(flags: Sequence[str], port: int, out: TextIO, err: TextIO) -> None:
    """Serve the app with these flags on 127.0.0.1 until a signal arrives; port 0: any free one.

    Prints the link for one browser to `out`, and to `err` how to resume a conversation whose page was closed.
    Raises SettingsError if a package is missing, PortError if the port is taken.
    """
    try:
        from harness.ui.web.served_app import app_command
        from harness.ui.web.server import WebServer
    except ModuleNotFoundError as error:
        if error.name not in _PACKAGES:
            raise
        raise SettingsError(
            "The app in a browser needs a further package; install it with `pip install 'textual-serve>=1.1.3,<2'`."
        ) from error

    def report(words: str) -> None:
        print("A page was closed;", words.strip(), file=err, flush=True)

    with handle_signals() as signalled:
        try:
            async with WebServer(app_command(flags), port, report=report) as server:
                print(server.link, file=out, flush=True)
                await asyncio.Event().wait()
        except OSError as error:
            raise PortError(f"cannot listen at 127.0.0.1:{port} ({error.strerror}); choose another --port.") from error
        except asyncio.CancelledError:
            if not signalled.number:
                raise
