"""Runs the app, from the first paint to the command that resumes the session.

The terminal is always restored before anything is printed.
"""

import asyncio
import io
import logging
from argparse import Namespace
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from harness.base.collector import imports_kept
from harness.base.concurrency import in_thread
from harness.ui.app.app import HarnessApp
from harness.ui.app.terminal_driver import discard_output

if TYPE_CHECKING:
    from harness.settings import LoadedSettings, Settings
    from harness.ui.app.controller import Controller


class PlainRequested(Exception):  # noqa: N818 (not an error)
    """The settings ask for the plain front end."""


def converse(
    options: Namespace, flags: Mapping[str, object], err: TextIO, app_type: type[HarnessApp] = HarnessApp
) -> int:
    """Run an app as the command line asks for; returns the exit code. Raises HarnessError, or PlainRequested."""
    app = app_type(partial(_open, options, flags))
    return asyncio.run(_run(app, err))


async def _run(app: HarnessApp, err: TextIO) -> int:
    try:
        code = await app.run_to_end()
    finally:
        controller = app.controller
        if controller is not None:
            await controller.aclose()
    for line in controller.left if controller is not None else ():
        _print(line, err)
    if controller is not None and controller.worth_resuming:
        _print(f"resume with: harness --resume {controller.worth_resuming}", err)
    return code


def _print(text: str, err: TextIO) -> None:
    try:
        print(text, file=err)
    except OSError:  # the terminal has gone
        discard_output(err)


async def _open(options: Namespace, flags: Mapping[str, object], app: HarnessApp) -> "Controller":
    """Load settings and agent, and open the session."""
    loaded, reread, log, text = await in_thread(partial(_load, options, flags))
    from harness.session import Opening
    from harness.ui.app.controller import Controller

    controller = Controller(app, loaded, reread, log)
    resume = "latest" if options.go_on else options.resume
    try:
        opening = Opening(resume or None, options.fork_session, worktree=options.worktree, carry=options.carry_changes)
        await controller.start(opening, choose=resume == "", text=text)
    except BaseException:
        await controller.aclose()
        raise
    app.controller = controller  # with its session open: a key that comes earlier has nothing to act on
    if options.prompt:
        controller.submit(options.prompt)
    return controller


def _load(
    options: Namespace, flags: Mapping[str, object]
) -> "tuple[LoadedSettings, Callable[[], Settings], logging.Logger, str]":
    """Load everything that needs no screen. Runs in a thread after the first paint."""
    import os

    with imports_kept():
        from harness.settings import current_folder, load
        from harness.settings.logs import open_log
        from harness.ui.app import controller  # noqa: F401 (imported in this thread)

    here = current_folder()
    loaded = load(flags, os.environ, here).require_answer()
    if loaded.settings.plain:
        raise PlainRequested
    notices = io.StringIO()
    log = open_log(loaded.settings, notices)
    return loaded, partial(_settings, flags, here), log, notices.getvalue()


def _settings(flags: Mapping[str, object], here: Path) -> "Settings":
    import os

    from harness.settings import load

    return load(flags, os.environ, here).settings
