"""From the flags to a running front end."""

import asyncio
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from harness.errors import SettingsError
from harness.logs import open_log
from harness.settings import Loaded, Settings, current_folder, load
from harness.ui.standard_input import prompt_from


def start(options: Namespace, flags: Mapping[str, object]) -> int:
    """Run the agent as the command line asks for; returns the exit code. Raises HarnessError."""
    if options.version:
        from harness import __version__

        print("harness", __version__)
        return 0
    _check(options)
    here = current_folder()
    loaded = load(flags, os.environ, here)
    log = open_log(loaded.settings, sys.stderr)
    reread = partial(_settings, flags, here)
    if options.print is None:
        return _in_the_terminal(options, loaded, reread, log)
    return _headless(options, loaded, reread, log)


def _settings(flags: Mapping[str, object], here: Path) -> Settings:
    return load(flags, os.environ, here).settings


def _check(options: Namespace) -> None:
    """Raise SettingsError for flags that do not go together."""
    if options.print is None and options.output_format is not None:
        raise SettingsError("--output-format needs -p; without it the answers are shown in the terminal.")
    if options.print and options.prompt:
        raise SettingsError("There are two prompts, one after -p and one more; give one, in quotes.")
    if options.go_on and options.resume:
        raise SettingsError("--continue and --resume ID are two sessions; give one of them.")
    if options.fork_session and not options.go_on and options.resume is None:
        raise SettingsError("--fork-session needs a session to copy; add --continue or --resume ID.")
    if options.print is not None and options.resume == "":
        raise SettingsError("--resume needs the id of a session with -p; `harness sessions` lists them.")


def _headless(options: Namespace, loaded: Loaded, reread: partial[Settings], log: logging.Logger) -> int:
    prompt = prompt_from(options.print or options.prompt or "", sys.stdin, sys.stderr)
    from harness.session import Opening
    from harness.ui.headless import Form, headless

    opening = Opening("latest" if options.go_on else options.resume, options.fork_session)
    form = Form(options.output_format or "text")
    return asyncio.run(headless(loaded, prompt, opening, form, sys.stdout, sys.stderr, reread=reread, log=log))


def _in_the_terminal(options: Namespace, loaded: Loaded, reread: partial[Settings], log: logging.Logger) -> int:
    """The one place that chooses what a person sees; today that is always the plain REPL."""
    from harness.session import Opening
    from harness.ui.repl import repl

    opening = Opening("latest" if options.go_on else options.resume, options.fork_session)
    return repl(loaded, opening, options.prompt, sys.stdin, sys.stdout, reread=reread, log=log)
