"""The app from its first paint to the line that says how to go on.

Whatever happens, the terminal is given back first, and what there is to say is said after that.
"""

import asyncio
import io
import logging
from argparse import Namespace
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from harness.base.threads import in_thread
from harness.ui.app.app import HarnessApp
from harness.ui.app.terminal_driver import give_up

if TYPE_CHECKING:
    from harness.settings import Loaded, Settings
    from harness.ui.app.controller import Controller


class PlainWanted(Exception):  # noqa: N818 (no error: another front end is asked for)
    """A settings file asks for lines only."""


def converse(options: Namespace, flags: Mapping[str, object], err: TextIO) -> int:
    """Run the app as the command line asks for; returns the exit code. Raises HarnessError, or PlainWanted."""
    app = HarnessApp(partial(_begin, options, flags))
    return asyncio.run(_run(app, err))


async def _run(app: HarnessApp, err: TextIO) -> int:
    try:
        code = await app.run_to_end()
    finally:
        controller = app.controller
        if controller is not None:
            await controller.aclose()
    if controller is not None and controller.worth_resuming:
        _say(f"resume with: harness --resume {controller.worth_resuming}", err)
    return code


def _say(text: str, err: TextIO) -> None:
    try:
        print(text, file=err)
    except OSError:  # the terminal went away after the app had drawn the last time
        give_up(err)


async def _begin(options: Namespace, flags: Mapping[str, object], app: HarnessApp) -> "Controller":
    """Import what is heavy, read the settings, open the session."""
    loaded, reread, log, said = await in_thread(partial(_prepared, options, flags))
    from harness.session import Opening
    from harness.ui.app.controller import Controller

    controller = Controller(app, loaded, reread, log)
    app.controller = controller
    resume = "latest" if options.go_on else options.resume
    await controller.begin(Opening(resume or None, options.fork_session), choose=resume == "", said=said)
    if options.prompt:
        controller.submit(options.prompt)
    return controller


def _prepared(
    options: Namespace, flags: Mapping[str, object]
) -> "tuple[Loaded, Callable[[], Settings], logging.Logger, str]":
    """Everything that takes its time and needs no screen. Runs in a thread, behind the first paint."""
    import os

    from harness.settings import current_folder, load
    from harness.settings.logs import open_log
    from harness.ui.app import controller  # noqa: F401 (imported here, so that it costs the loop nothing)

    here = current_folder()
    loaded = load(flags, os.environ, here).require_answer()
    if loaded.settings.plain:
        raise PlainWanted
    said = io.StringIO()
    log = open_log(loaded.settings, said)
    return loaded, partial(_settings, flags, here), log, said.getvalue()


def _settings(flags: Mapping[str, object], here: Path) -> "Settings":
    import os

    from harness.settings import load

    return load(flags, os.environ, here).settings
