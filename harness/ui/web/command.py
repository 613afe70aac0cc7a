"""The command `harness serve`, from its flags to the end by a signal."""

import asyncio
from collections.abc import Sequence
from typing import TextIO

from harness.base.errors import HarnessError, SettingsError
from harness.ui.signals import heeding

_PACKAGES = frozenset({"aiohttp", "textual_serve"})


class PortError(HarnessError):
    """The port cannot be had."""

    exit_code = 2


async def serve(flags: Sequence[str], port: int, out: TextIO) -> None:
    """Serve the app with these flags of `harness` on 127.0.0.1 until a signal comes; 0: any free port.

    Writes one line to `out`, the link that lets one browser in. When it returns, every app has ended.
    Raises SettingsError without the extra, PortError when the port is taken.
    """
    try:
        from harness.ui.web.app_process import app_command
        from harness.ui.web.server import WebServer
    except ModuleNotFoundError as error:
        if error.name not in _PACKAGES:
            raise
        raise SettingsError(
            "The app in a browser needs one package more; install it with `pip install 'textual-serve>=1.1.3,<2'`."
        ) from error
    with heeding() as signalled:
        try:
            async with WebServer(app_command(flags), port) as server:
                print(server.link, file=out, flush=True)
                await asyncio.Event().wait()
        except OSError as error:
            raise PortError(f"cannot listen at 127.0.0.1:{port} ({error.strerror}); choose another --port.") from error
        except asyncio.CancelledError:
            if not signalled.number:
                raise
